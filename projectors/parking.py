"""Parking: a live projection continues after an event that it cannot fold, and the event's user waits for an operator.

The checkpoint passes a parked event, and no table of the generation holds anything of it. The later events of the user
are parked behind it without being folded, so every history is folded in order.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row

from events.platform.database import Connection, one_row, rows_of, statement
from events.platform.isolation import is_the_datas_fault, isolate
from events.store.checkpoints import CheckpointMovedError, LogHoleError, Processor
from events.store.log import Unreadable, event_if_readable, reason_of
from events.types.envelope import Event, partition_of
from events.types.tombstones import Erased
from projectors.forgetting import fold_tombstones
from projectors.generations.generations import Generation, hold_live, use_schema
from projectors.generations.projector import Projector, ProjectorBlockedError

logger = logging.getLogger(__name__)

_PACKAGE = "projectors"
_PAGE = 500

_NOT_ITS_FAULT = (CheckpointMovedError, LogHoleError, ProjectorBlockedError)


def is_the_events_fault(error: Exception) -> bool:
    """True when the same events would fail in the same way anywhere.

    These are data that a table or the fold refuses, also a value that is too large for an index. False for a database
    that is away, full or broken, for a projector that is blocked, and when another runner was quicker. No user is
    parked then.
    """
    return is_the_datas_fault(error) and not isinstance(error, _NOT_ITS_FAULT)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Events of one user that were not folded, in order. ``reason`` is about the first; the others wait behind it."""

    events: tuple[Event, ...]
    reason: str


def fold(
    connection: Connection,
    generation: Generation,
    projector: Projector,
    events: Sequence[Event],
    schema: str | None = None,
) -> list[Refusal]:
    """Folds ``events`` and parks those that cannot be folded, in the caller's transaction.

    Afterwards each event is folded, parked, or was dropped by an operator. ``events`` are in order, without a gap, and
    follow the checkpoints of ``generation``. ``schema`` holds its tables and is first on the search path; None means
    the schema of the live generation. Raises an error that is not the fault of an event. The batch then has no effect.
    """
    if not events:
        return []
    fold_tombstones(connection, generation, projector, schema or generation.projection, events)
    row = one_row(
        connection,
        statement(_PACKAGE, "set_aside"),
        {
            "processor": generation.projection,
            "generation": generation.number,
            "users": list({event.user_id for event in events}),
            "partitions": list({event.partition for event in events}),
        },
    )
    waiting, dropped = set(row[0]), set(row[1])
    behind: list[Event] = []
    good: list[Event] = []
    unreadable: dict[str, list[Event]] = {}
    for event in events:
        if event.event_id in dropped or isinstance(event.payload, Erased):
            continue
        if event.user_id in waiting:
            behind.append(event)
        elif event.user_id in unreadable or isinstance(event.payload, Unreadable):
            unreadable.setdefault(event.user_id, []).append(event)
        else:
            good.append(event)
    refusals = [_unreadable(rest) for rest in unreadable.values()]
    for refusal in _fold(connection, projector, good):
        # A user has one queue. Unreadable events wait behind an event that could not be folded.
        rest = unreadable.get(refusal.events[0].user_id, [])
        refusals = [r for r in refusals if r.events[0].user_id != refusal.events[0].user_id]
        refusals.append(Refusal((*refusal.events, *rest), refusal.reason))
    _park(connection, generation.processor, behind, refusals)
    return refusals


def _unreadable(events: Sequence[Event]) -> Refusal:
    payload = events[0].payload
    assert isinstance(payload, Unreadable)
    return Refusal(tuple(events), payload.reason)


def _fold(connection: Connection, projector: Projector, events: list[Event]) -> list[Refusal]:
    """Folds all events together. After a failure it halves the users to find the user, and then the event, at fault."""
    histories: dict[str, list[Event]] = {}
    for event in events:
        histories.setdefault(event.user_id, []).append(event)

    def attempt(users: Sequence[str]) -> None:
        chosen = set(users)
        _attempt(connection, projector, [event for event in events if event.user_id in chosen])

    culprits = isolate(list(histories), attempt, blames=is_the_events_fault)
    refusals = (_refusal(connection, projector, histories[each.item], each.error) for each in culprits)
    return [refusal for refusal in refusals if refusal is not None]


def _refusal(
    connection: Connection, projector: Projector, events: list[Event], error: Exception
) -> Refusal | None:
    """Folds the events of one user one by one up to the first that fails. Returns None when none fails alone."""
    if len(events) == 1:
        return Refusal(tuple(events), reason_of(error))
    for index, event in enumerate(events):
        try:
            _attempt(connection, projector, [event])
        except Exception as single:
            if not is_the_events_fault(single):
                raise
            return Refusal(tuple(events[index:]), reason_of(single))
    return None


def _attempt(connection: Connection, projector: Projector, events: list[Event]) -> None:
    """Folds inside a savepoint, so a failed fold has no effect."""
    try:
        with connection.transaction():
            projector.project(connection, events)
    except Exception:
        logger.debug("%s refused %d events", projector.name, len(events), exc_info=True)
        raise


def _park(
    connection: Connection, processor: Processor, behind: Sequence[Event], refusals: Sequence[Refusal]
) -> None:
    reasons = {refusal.events[0].event_id: refusal.reason for refusal in refusals}
    events = [*behind, *(event for refusal in refusals for event in refusal.events)]
    if not events:
        return
    connection.execute(
        statement(_PACKAGE, "park"),
        {
            "processor": processor.name,
            "generation": processor.generation,
            "partitions": [event.partition for event in events],
            "users": [event.user_id for event in events],
            "positions": [event.position for event in events],
            "events": [event.event_id for event in events],
            "reasons": [reasons.get(event.event_id) for event in events],
        },
    )
    for refusal in refusals:
        first = refusal.events[0]
        logger.warning(
            "%s parked user %s at event %s (%s, %d/%d): %s",
            processor.name, first.user_id, first.event_id, first.type, first.partition, first.position, refusal.reason,
            extra={
                "stage": processor.name, "event_id": first.event_id,
                "partition": first.partition, "position": first.position,
            },
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ParkedQueue:
    """A user who waits for a projection: the first event with its reason, and the number of events ``behind`` it."""

    processor: str
    generation: int
    user_id: str
    partition: int
    position: int
    event_id: UUID
    type: str | None
    reason: str | None
    attempts: int
    parked_at: datetime
    behind: int


def queues_wanted(
    processor: str | None = None, user_id: str | None = None, **more: object
) -> dict[str, object]:
    """Returns the parameters of the statement ``parked_queues``. ``more`` are ``users``, ``tenant`` and ``limit``."""
    users = None if user_id is None else [user_id]
    return {"processor": processor, "users": users, "tenant": None, "limit": None} | more


def queues(
    connection: Connection, processor: str | None = None, user_id: str | None = None
) -> list[ParkedQueue]:
    """Returns the users who wait for the live generations, with the reasons."""
    with connection.cursor(row_factory=class_row(ParkedQueue)) as cursor:
        return cursor.execute(
            statement(_PACKAGE, "parked_queues"), queues_wanted(processor, user_id)
        ).fetchall()


def waiting(connection: Connection, queue: ParkedQueue) -> Iterator[Event]:
    """Yields every event of ``queue`` in order, also unreadable events. One page is in memory at a time."""
    names = {"processor": queue.processor, "generation": queue.generation, "user_id": queue.user_id}
    after = 0
    while page := _page(connection, names, after):
        yield from page
        after = page[-1].position


@dataclass(frozen=True, slots=True)
class RetryResult:
    """The numbers of folded and dropped events of a queue, and the reason why the rest still waits, or None."""

    folded: int
    dropped: int
    reason: str | None


def retry(connection: Connection, projector: Projector, user_id: str) -> RetryResult:
    """Folds the parked events of ``user_id`` in order, up to the first that fails, in one transaction.

    Exactly once: a folded event leaves the queue in the same transaction. An event that fails again stays first, with
    the new reason and one attempt more. Raises an error that is not the fault of an event.
    """
    return _go_on(connection, projector, user_id, None, whole=False)


def drop(
    connection: Connection, projector: Projector, user_id: str, because: str, *, whole: bool = False
) -> RetryResult:
    """Drops the first event of the queue, or with ``whole`` every event, and folds the rest.

    ``log.dropped`` keeps the decision with its reason. It applies to every later generation.
    """
    return _go_on(connection, projector, user_id, because, whole=whole)


def _go_on(
    connection: Connection, projector: Projector, user_id: str, because: str | None, *, whole: bool
) -> RetryResult:
    with connection.transaction():
        generation = hold_live(connection, projector.name)
        if generation is None:
            return RetryResult(0, 0, None)
        names = {
            "processor": generation.projection,
            "generation": generation.number,
            "partition": partition_of(user_id),
            "user_id": user_id,
        }
        # A runner claims with SKIP LOCKED, so it leaves this partition alone until the transaction ends.
        connection.execute(statement(_PACKAGE, "lock_checkpoint"), names)
        dropped = []
        if because is not None:
            dropped = connection.execute(
                statement(_PACKAGE, "drop_parked"), {**names, "because": because, "whole": whole}
            ).fetchall()
        use_schema(connection, projector.name)
        folded, reason = 0, None
        while reason is None and (page := _page(connection, names)):
            refusal = _first_refusal(connection, projector, page)
            passed = page if refusal is None else page[: len(page) - len(refusal.events)]
            folded += len(passed)
            if passed:
                connection.execute(statement(_PACKAGE, "unpark"), {**names, "position": passed[-1].position})
            if refusal is not None:
                reason = refusal.reason
                connection.execute(
                    statement(_PACKAGE, "failed_again"),
                    {**names, "position": refusal.events[0].position, "reason": reason},
                )
    for partition, position, event_id, why in dropped:
        logger.warning(
            "%s dropped event %s of user %s (%d/%d), because: %s; it was parked for: %s",
            projector.name, event_id, user_id, partition, position, because, why or "waiting behind another",
        )  # fmt: skip
    return RetryResult(folded, len(dropped), reason)


def _page(connection: Connection, names: Mapping[str, object], after: int = 0) -> list[Event]:
    rows = rows_of(
        connection, statement(_PACKAGE, "parked_events"), {**names, "after": after, "limit": _PAGE}
    )
    return [event_if_readable(row) for row in rows]


def _first_refusal(connection: Connection, projector: Projector, page: list[Event]) -> Refusal | None:
    """Folds a page of one user's queue up to the first event that fails or is unreadable. Returns None at its end."""
    readable = next((i for i, event in enumerate(page) if isinstance(event.payload, Unreadable)), len(page))
    for refusal in _fold(connection, projector, page[:readable]):
        return Refusal((*refusal.events, *page[readable:]), refusal.reason)
    return _unreadable(page[readable:]) if readable < len(page) else None
