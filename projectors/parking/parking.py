"""Parking: a live projection goes on past an event it cannot take, and that event's user waits for help.

A parked event was passed by the checkpoint and is in none of the generation's tables. The user's later
events are parked behind it without being folded, so nobody's history is ever folded out of order.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row

from events.platform.isolation import is_the_datas_fault, isolate
from events.platform.sql import statement
from events.store.checkpoints import CheckpointMovedError, LogHoleError, Processor
from events.store.log import Connection, Unreadable, event_if_readable, reason_of
from events.store.rows import rows_of
from events.types.envelope import Event, partition_of
from events.types.erasure import Erased
from projectors.generations.generations import (
    Generation,
    Projector,
    ProjectorBlockedError,
    hold_live,
    use_schema,
)
from projectors.parking.forgetting import fold_tombstones

logger = logging.getLogger(__name__)

_PACKAGE = "projectors.parking"
_PAGE = 500

_NOT_ITS_FAULT = (CheckpointMovedError, LogHoleError, ProjectorBlockedError)


def is_the_events_fault(error: Exception) -> bool:
    """Whether folding the same events again elsewhere would fail the same way.

    True for data a table or the fold refuses, also for a value that is too large for an index. False for a database
    that is away, full or broken, for a projector that cannot work at all, and for another runner being quicker:
    those pass without parking anyone.
    """
    return is_the_datas_fault(error) and not isinstance(error, _NOT_ITS_FAULT)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Events of one user that were not folded, in order: the first because of ``reason``, the others behind it."""

    events: tuple[Event, ...]
    reason: str


def fold(
    connection: Connection,
    generation: Generation,
    projector: Projector,
    events: Sequence[Event],
    schema: str | None = None,
) -> list[Refusal]:
    """Fold ``events``, and park what cannot be; both in the caller's transaction.

    ``events`` are whole, in order, and right behind the checkpoints of ``generation``, whose schema is first
    on the search path: ``schema``, by default that of the live generation. Guarantees that each of them is
    afterwards either folded, parked, or one that was dropped by decision. Raises what is not the fault of an event;
    then nothing of the batch counts.
    """
    if not events:
        return []
    fold_tombstones(connection, generation, projector, schema or generation.projection, events)
    row = connection.execute(
        statement(_PACKAGE, "set_aside"),
        {
            "processor": generation.projection,
            "generation": generation.number,
            "users": list({event.user_id for event in events}),
            "partitions": list({event.partition for event in events}),
        },
    ).fetchone()
    assert row is not None
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
        # What could not be read stands behind what could not be folded: one queue a user.
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
    """Fold together; where that fails, halve the users until the one is found, and then its event."""
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
    """Fold one user's events one by one up to the first that cannot be; None where each can, alone."""
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
    """Fold inside a savepoint: what raises comes to nothing."""
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
    """One user waiting for one projection: the event in front with its reason, and how many wait ``behind``."""

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


def queues(
    connection: Connection, processor: str | None = None, user_id: str | None = None
) -> list[ParkedQueue]:
    """Who waits for the live generations, and why."""
    with connection.cursor(row_factory=class_row(ParkedQueue)) as cursor:
        return cursor.execute(
            statement(_PACKAGE, "parked_queues"), {"processor": processor, "user_id": user_id}
        ).fetchall()


def waiting(connection: Connection, queue: ParkedQueue) -> Iterator[Event]:
    """Every event of ``queue`` in order, a page at a time; unreadable ones too."""
    names = {"processor": queue.processor, "generation": queue.generation, "user_id": queue.user_id}
    after = 0
    while page := _page(connection, names, after):
        yield from page
        after = page[-1].position


@dataclass(frozen=True, slots=True)
class RetryResult:
    """What became of a queue: events folded and dropped, and the reason the rest still waits, if any does."""

    folded: int
    dropped: int
    reason: str | None


def retry(connection: Connection, projector: Projector, user_id: str) -> RetryResult:
    """Fold what is parked of ``user_id``, in order, as far as it goes; one transaction.

    Exactly once: what was folded leaves the queue in the same transaction. What fails again stays in
    front with the new reason and one attempt more. Raises what is not the fault of an event.
    """
    return _go_on(connection, projector, user_id, None, whole=False)


def drop(
    connection: Connection, projector: Projector, user_id: str, because: str, *, whole: bool = False
) -> RetryResult:
    """Go without the event in front (``whole``: without all of them), then fold what is behind it.

    The decision is kept in ``log.dropped`` with its reason and holds for every generation to come.
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
        # The runner claims with SKIP LOCKED: it leaves this partition alone until we are done.
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
    """The one queue of one user: fold what can be read, stop where it cannot."""
    readable = next((i for i, event in enumerate(page) if isinstance(event.payload, Unreadable)), len(page))
    for refusal in _fold(connection, projector, page[:readable]):
        return Refusal((*refusal.events, *page[readable:]), refusal.reason)
    return _unreadable(page[readable:]) if readable < len(page) else None
