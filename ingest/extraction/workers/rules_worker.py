"""The extractor of pure rules: reads recorded turns from the log in order and appends what it understood.

Extractors that wait for somebody else's answers have a worker of their own
(:mod:`ingest.extraction.workers.model_worker`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from events.health.heartbeat import Heartbeat
from events.platform.isolation import is_the_datas_fault, isolate
from events.platform.settings import Settings
from events.platform.sql import statement
from events.store import log
from events.store.checkpoints import Claim, Connection, Processor
from events.store.feed import Feed, LogFeed
from events.store.log import Unreadable
from events.store.subscription import (
    Batches,
    Handler,
    RoundResult,
    Subscription,
    SubscriptionOptions,
    handle_batch,
)
from events.types.envelope import Event, NewEvent
from events.types.turns import TurnRecorded
from ingest.extraction.conversation import CONTEXT_TURNS, preceding, recorded
from ingest.extraction.extraction_events import (
    STAGE,
    UNREADABLE,
    beside,
    counted,
    events_of,
    failure_of,
    unreadable_turn,
)
from ingest.extraction.extractor_port import Extractor, ExtractorUnavailableError, RecordedTurn, SessionBatch

logger = logging.getLogger(__name__)

PROCESSOR = Processor(STAGE)
TURN = TurnRecorded.__name__


@dataclass(frozen=True, slots=True)
class Reading:
    """What turns of one session came to: ``events`` to append, all or none. ``failed``: that they are given up."""

    turns: tuple[Event, ...]
    events: tuple[NewEvent, ...]
    before: tuple[RecordedTurn, ...] = ()
    failed: bool = False


class ExtractorWorker(Handler):
    """Follows the log until told to stop.

    The appended events and the moved checkpoint commit together, so every turn is read exactly once,
    whatever is killed when. Several workers share the partitions. A turn that cannot be read, that the extractor
    fails on, or of which the log does not take what was understood, becomes an ``ExtractionFailed`` with the reason,
    and the others go on.
    Events come from ``feed``, from the log itself where none is given.
    """

    def __init__(
        self,
        settings: Settings,
        extractor: Extractor,
        stopping: Callable[[], bool],
        worker: str = "1",
        feed: Feed | None = None,
    ) -> None:
        self._settings = settings
        self._extractor = extractor
        self._feed = feed or LogFeed(settings.database_url, PROCESSOR.name, stopping, {TURN})
        self._heartbeat = Heartbeat(settings.database_url, PROCESSOR.name, worker)
        # The position where this worker left each partition, and the turns above it that are extracted already.
        self._left: dict[int, int] = {}
        self._read_before: dict[int, frozenset[int]] = {}
        self._subscription = Subscription(
            settings,
            self,
            self._feed,
            self._heartbeat,
            stopping,
            SubscriptionOptions(
                name=PROCESSOR.name,
                linger_s=settings.linger_ms / 1000,
                blocked=(ExtractorUnavailableError,),
                idle_in_transaction_timeout_ms=settings.idle_in_transaction_timeout_ms,
            ),
        )

    def run(self) -> None:
        """Extracts until ``stopping``. Waits while Postgres or the extractor is away."""
        self._subscription.run()

    def prepare(self, connection: Connection) -> bool:
        PROCESSOR.open(connection)
        logger.info("extracting with %s (%s)", self._extractor.name, self._extractor.prompt_version)
        return True

    def handle(self, connection: Connection) -> RoundResult:
        """Extracts one batch in one transaction."""
        appended: list[NewEvent] = []
        left: dict[int, int] = {}

        def extract(batches: Batches) -> None:
            events = [
                event
                for claim, page in batches
                for event in page
                if event.type == TURN and event.position not in self._read_before.get(claim.partition, ())
            ]
            appended.extend(self._appended(connection, list(self._readings(connection, events))))
            left.update((claim.partition, page[-1].position) for claim, page in batches)

        with connection.transaction():
            result = handle_batch(
                connection,
                PROCESSOR,
                self._feed,
                extract,
                events=self._settings.batch_events,
                admit=lambda claims: self._owned(connection, claims),
            )
        self._left.update(left)
        if appended:
            log.announce(connection, appended)
            self._heartbeat.count(counted(appended))
        return result

    def _owned(self, connection: Connection, claims: list[Claim]) -> list[Claim]:
        """Returns the claims on partitions that no other extractor owns.

        Another extractor may have read ahead in a partition since this worker left it. The turns that it extracted
        are looked up then.
        """
        owned = {
            row[0]
            for row in connection.execute(
                statement("ingest.extraction.workers", "try_lock_partitions"),
                {"partitions": [claim.partition for claim in claims]},
            )
        }
        claims = [claim for claim in claims if claim.partition in owned]
        strange = [claim for claim in claims if self._left.get(claim.partition) != claim.position]
        if strange:
            self._read_before.update(read_ahead(connection, {c.partition: c.position for c in strange}))
        return claims

    def _readings(self, connection: Connection, events: Sequence[Event]) -> Iterable[Reading]:
        """What each of the turns ``events`` comes to, those of a session read together."""
        sessions: dict[tuple[str, str], list[Event]] = {}
        for event in events:
            if isinstance(event.payload, Unreadable):
                failure = unreadable_turn(event, event.payload, self._extractor)
                yield Reading((event,), (failure,), failed=True)
            elif isinstance(event.payload, TurnRecorded):
                sessions.setdefault((event.user_id, event.stream), []).append(event)
        contexts: dict[tuple[str, str], tuple[RecordedTurn, ...]] = {}

        def look(wanted: Sequence[tuple[str, str]]) -> None:
            with connection.transaction():
                found = preceding(connection, [sessions[session][0] for session in wanted])
            contexts.update(zip(wanted, found, strict=True))

        for culprit in isolate(list(sessions), look):
            for event in sessions.pop(culprit.item):
                yield self._given_up(event, culprit.error)
        for session, turns in sessions.items():
            yield from self._read(turns, contexts[session])

    def _read(self, turns: Sequence[Event], before: tuple[RecordedTurn, ...]) -> Iterable[Reading]:
        """The reading of turns of one session; where together fails, one by one, so that only the culprit does."""
        try:
            burst = SessionBatch(tuple(map(recorded, turns)), before)
            extraction = self._extractor.extract(burst)
            made = events_of(
                burst, extraction, self._extractor, knowledge=self._settings.knowledge_extraction
            )
        except ExtractorUnavailableError:
            raise
        except Exception as error:
            if len(turns) > 1:
                yield from self._one_by_one(turns, before)
            else:
                yield self._given_up(turns[0], error)
        else:
            yield Reading(tuple(turns), tuple(made), before)

    def _one_by_one(self, turns: Sequence[Event], before: tuple[RecordedTurn, ...]) -> Iterable[Reading]:
        said = (*before, *map(recorded, turns))
        for index, turn in enumerate(turns, len(before)):
            yield from self._read([turn], said[max(0, index - CONTEXT_TURNS) : index])

    def _given_up(self, turn: Event, error: Exception) -> Reading:
        """One turn is not understood, and never will be by this extractor."""
        assert isinstance(turn.payload, TurnRecorded)
        turn_id, reason = turn.payload.turn_id, log.reason_of(error)
        logger.warning(
            "turn %s (%d/%d) cannot be extracted: %s",
            turn_id, turn.partition, turn.position, reason,
            exc_info=error,
            extra={
                "stage": STAGE, "turn_id": turn_id, "partition": turn.partition, "position": turn.position,
            },
        )  # fmt: skip
        self._heartbeat.failed(f"turn {turn_id} cannot be extracted: {reason}")
        failure = failure_of(
            turn.user_id,
            turn.position,
            turn_id,
            beside(turn.stream),
            turn.occurred_at,
            reason,
            self._extractor,
        )
        return Reading((turn,), (failure,), failed=True)

    def _appended(self, connection: Connection, readings: Sequence[Reading]) -> list[NewEvent]:
        """Append what was read, in the caller's transaction; what the log does not take is given up, and nothing else.

        Gives what was appended.
        """
        done: list[NewEvent] = []

        def attempt(several: Sequence[Reading]) -> None:
            events = [event for reading in several for event in reading.events]
            with connection.transaction():
                log.append(connection, events)
            done.extend(events)

        for culprit in isolate(readings, attempt):
            reading = culprit.item
            if reading.failed:
                done += self._noted(connection, reading.turns[0], culprit.error)
            elif len(reading.turns) > 1:
                done += self._appended(connection, list(self._one_by_one(reading.turns, reading.before)))
            else:
                done += self._appended(connection, [self._given_up(reading.turns[0], culprit.error)])
        return done

    def _noted(self, connection: Connection, turn: Event, error: Exception) -> list[NewEvent]:
        """The failure of a turn in words of our own only, for its own names are what the log does not take."""
        reason = log.reason_of(error)
        failure = failure_of(
            turn.user_id,
            turn.position,
            str(turn.event_id),
            UNREADABLE,
            turn.occurred_at,
            reason,
            self._extractor,
        )
        try:
            with connection.transaction():
                log.append(connection, [failure])
        except Exception as unable:
            if not is_the_datas_fault(unable):
                raise
            logger.exception(
                "the turn at %d/%d is passed over: not even its failure can be kept",
                turn.partition,
                turn.position,
            )
            self._heartbeat.failed(f"the turn at {turn.partition}/{turn.position} is passed over: {reason}")
            return []
        return [failure]


def read_ahead(connection: Connection, checkpoints: dict[int, int]) -> dict[int, frozenset[int]]:
    """The turns above each checkpoint that an extractor dealt with before it stopped, by partition.

    Only whoever owns these partitions may rely on the answer.
    """
    rows = connection.execute(
        statement("ingest.extraction.workers", "extracted_above"),
        {"partitions": list(checkpoints), "positions": list(checkpoints.values())},
    ).fetchall()
    found: dict[int, set[int]] = {partition: set() for partition in checkpoints}
    for partition, position in rows:
        found[partition].add(position)
    return {partition: frozenset(positions) for partition, positions in found.items()}
