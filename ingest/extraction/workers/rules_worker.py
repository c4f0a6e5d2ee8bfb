"""The rules worker: extracts turns in the order of the log, inside the transaction of the batch.

Extractors that wait for a model have a worker of their own: :mod:`ingest.extraction.workers.model_worker`.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from events.health.log_worker import LogWorker
from events.platform.database import Connection, statement
from events.platform.isolation import is_the_datas_fault, isolate
from events.platform.modes import modes_of
from events.platform.settings import Settings
from events.store import log
from events.store.batches import (
    Batches,
    BatchLimit,
    RoundResult,
    handle_batch,
)
from events.store.checkpoints import Claim, Processor, past
from events.store.feed import Feed, LogFeed
from events.store.log import Unreadable
from events.types.envelope import Event, NewEvent
from events.types.turns import TurnRecorded
from ingest.extraction import erased_turns
from ingest.extraction.conversation import (
    CONTEXT_TURNS,
    RecentTurns,
    mode_contexts,
    preceding,
    recorded,
)
from ingest.extraction.erased_turns import TurnsErasedError
from ingest.extraction.extraction_events import (
    STAGE,
    UNREADABLE,
    counted,
    events_of,
    failure_of,
    given_up,
    unreadable_turn,
)
from ingest.extraction.extractor_port import Extractor, ExtractorUnavailableError, RecordedTurn, SessionBatch
from ingest.extraction.known_memory import KnownMemory, with_targets
from ingest.extraction.turn_modes import NO_MODES, ModeContext

logger = logging.getLogger(__name__)

PROCESSOR = Processor(STAGE)
TURN = TurnRecorded.__name__


@dataclass(frozen=True, slots=True)
class TurnResult:
    """The result for turns of one session.

    ``events`` are appended all or none. ``before`` are the turns before these turns, and ``modes`` the modes of their
    project. ``failed`` is True when the events are failures.
    """

    turns: tuple[Event, ...]
    events: tuple[NewEvent, ...]
    before: tuple[RecordedTurn, ...] = ()
    failed: bool = False
    modes: ModeContext = NO_MODES


class ExtractorWorker(LogWorker):
    """Extracts turns with rules until ``stopping`` is true.

    The events and the checkpoints commit together. Every turn is therefore extracted exactly once, also after a kill at
    any moment. Several workers share the partitions. A turn becomes an ``ExtractionFailed`` with the reason when this
    build cannot read it, when the extractor fails on it, or when the log refuses its events. Other turns are not
    affected. Events come from ``feed``, or from the log when ``feed`` is None.
    """

    def __init__(
        self,
        settings: Settings,
        extractor: Extractor,
        stopping: Callable[[], bool],
        worker: str = "1",
        feed: Feed | None = None,
    ) -> None:
        super().__init__(
            settings,
            stopping,
            PROCESSOR.name,
            worker,
            feed or LogFeed({TURN}),
            linger_s=settings.linger_ms / 1000,
            blocked=(ExtractorUnavailableError,),
            idle_in_transaction_timeout_ms=settings.idle_in_transaction_timeout_ms,
        )
        self._modes = modes_of(settings)
        self._extractor = extractor
        # The position where this worker left each partition, and the turns above it that are extracted already.
        self._memory = KnownMemory()
        self._recent = RecentTurns()
        self._limit = BatchLimit()
        self._left: dict[int, int] = {}
        self._read_before: dict[int, frozenset[int]] = {}

    def prepare(self, connection: Connection) -> bool:
        PROCESSOR.open(connection)
        connection.execute(statement("ingest.extraction.workers", "keep_plans"))
        logger.info("extracting with %s (%s)", self._extractor.name, self._extractor.prompt_version)
        return True

    def handle(self, connection: Connection) -> RoundResult:
        """Extracts one batch in one transaction."""
        appended: list[NewEvent] = []
        own: dict[int, set[int]] = {}
        left: dict[int, int] = {}

        def extract(batches: Batches) -> None:
            events = [
                event
                for page in batches
                for event in page.events
                if event.type == TURN and event.position not in self._read_before.get(event.partition, ())
            ]
            appended.extend(self._appended(connection, list(self._results(connection, events)), own))
            left.update(
                (page.claim.partition, past(page.last, own.get(page.claim.partition, ()))) for page in batches
            )

        try:
            with self._limit as partitions, connection.transaction():
                result = handle_batch(
                    connection,
                    PROCESSOR,
                    self._feed,
                    extract,
                    events=self._settings.batch_events,
                    types={TURN},
                    partitions=partitions,
                    admit=lambda claims: self._owned(connection, claims),
                    own=own,
                )
        except BaseException:
            # The memory may hold events of the transaction that is rolled back.
            self._memory.forget()
            raise
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
        unknown = [claim for claim in claims if self._left.get(claim.partition) != claim.position]
        if unknown:
            self._read_before.update(read_ahead(connection, {c.partition: c.position for c in unknown}))
        return claims

    def _results(self, connection: Connection, events: Sequence[Event]) -> Iterable[TurnResult]:
        """Yields a result for every turn of ``events``. The turns of a session are extracted together."""
        sessions: dict[tuple[str, str], list[Event]] = {}
        for event in events:
            if isinstance(event.payload, Unreadable):
                failure = unreadable_turn(event, event.payload, self._extractor)
                yield TurnResult((event,), (failure,), failed=True)
            elif isinstance(event.payload, TurnRecorded):
                sessions.setdefault((event.user_id, event.stream), []).append(event)
        contexts: dict[tuple[str, str], tuple[tuple[RecordedTurn, ...], ModeContext]] = {}

        def read_context(wanted: Sequence[tuple[str, str]]) -> None:
            firsts = [sessions[session][0] for session in wanted]
            with connection.transaction():
                found = preceding(connection, firsts, self._recent)
                modes = mode_contexts(connection, firsts, self._modes)
            contexts.update(zip(wanted, zip(found, modes, strict=True), strict=True))

        for culprit in isolate(list(sessions), read_context):
            for event in sessions.pop(culprit.item):
                yield self._given_up(event, culprit.error)
        made: dict[str, list[NewEvent]] = {}
        for session, turns in sessions.items():
            self._recent.keep(contexts[session][0], turns)
            for result in self._extract(turns, *contexts[session]):
                found = self._linked(connection, result, made.get(session[0], ()))
                made.setdefault(session[0], []).extend(found.events)
                yield found

    def _linked(self, connection: Connection, result: TurnResult, earlier: Sequence[NewEvent]) -> TurnResult:
        """Returns the result with the earlier events that its events replace. ``earlier`` are not appended yet."""
        events = with_targets(connection, self._memory, result.turns, result.events, earlier)
        return replace(result, events=tuple(events))

    def _extract(
        self, turns: Sequence[Event], before: tuple[RecordedTurn, ...], modes: ModeContext
    ) -> Iterable[TurnResult]:
        """Extracts turns of one session together. After a failure, extracts them one by one to find the culprit."""
        try:
            batch = SessionBatch(tuple(map(recorded, turns)), before, modes=modes)
            extraction = self._extractor.extract(batch)
            made = events_of(
                batch,
                extraction,
                self._extractor,
                knowledge=self._settings.knowledge_extraction,
                link=False,
            )
        except ExtractorUnavailableError:
            raise
        except Exception as error:
            if len(turns) > 1:
                yield from self._one_by_one(turns, before, modes)
            else:
                yield self._given_up(turns[0], error)
        else:
            yield TurnResult(tuple(turns), tuple(made), before, modes=modes)

    def _one_by_one(
        self, turns: Sequence[Event], before: tuple[RecordedTurn, ...], modes: ModeContext
    ) -> Iterable[TurnResult]:
        session = (*before, *map(recorded, turns))
        for index, turn in enumerate(turns, len(before)):
            yield from self._extract([turn], session[max(0, index - CONTEXT_TURNS) : index], modes)

    def _given_up(self, turn: Event, error: Exception) -> TurnResult:
        """Returns the failure of one turn, which this extractor can never extract."""
        failure, remark = given_up(turn, error, self._extractor)
        self._heartbeat.failed(remark)
        return TurnResult((turn,), (failure,), failed=True)

    def _appended(
        self,
        connection: Connection,
        results: Sequence[TurnResult],
        own: dict[int, set[int]],
        *,
        reread: bool = False,
    ) -> list[NewEvent]:
        """Appends the events of ``results`` in the transaction of the caller and returns them.

        ``own`` gets their positions by partition. A turn whose events the log refuses becomes a failure. Other turns
        are not affected. After an erasure, what remains is read from the log again, unless it was already ``reread``.
        """
        done: list[NewEvent] = []

        def attempt(several: Sequence[TurnResult]) -> None:
            events = [event for result in several for event in result.events]
            with connection.transaction():
                places = erased_turns.append(connection, events)
            done.extend(events)
            for each in places:
                if not each.duplicate:
                    own.setdefault(each.partition, set()).add(each.position)

        for culprit in isolate(results, attempt):
            result = culprit.item
            if isinstance(culprit.error, TurnsErasedError) and not reread:
                found = self._results(connection, erased_turns.remaining(connection, result.turns))
                done += self._appended(connection, list(found), own, reread=True)
            elif result.failed:
                done += self._noted(connection, result.turns[0], culprit.error)
            elif len(result.turns) > 1:
                singly = self._one_by_one(result.turns, result.before, result.modes)
                linked = [self._linked(connection, one, done) for one in singly]
                done += self._appended(connection, linked, own)
            else:
                done += self._appended(connection, [self._given_up(result.turns[0], culprit.error)], own)
        return done

    def _noted(self, connection: Connection, turn: Event, error: Exception) -> list[NewEvent]:
        """Appends a failure without any name of the turn, because the log refuses these names. Returns the events."""
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
                "the turn at %d/%d is skipped: the log refuses its failure, too",
                turn.partition,
                turn.position,
            )
            self._heartbeat.failed(f"the turn at {turn.partition}/{turn.position} is skipped: {reason}")
            return []
        return [failure]


def read_ahead(connection: Connection, checkpoints: dict[int, int]) -> dict[int, frozenset[int]]:
    """Returns the positions of the turns above each checkpoint that are extracted already, by partition.

    ``checkpoints`` maps partitions to positions. The result is reliable only for the owner of these partitions.
    """
    rows = connection.execute(
        statement("ingest.extraction.workers", "extracted_above"),
        {"partitions": list(checkpoints), "positions": list(checkpoints.values())},
    ).fetchall()
    found: dict[int, set[int]] = {partition: set() for partition in checkpoints}
    for partition, position in rows:
        found[partition].add(position)
    return {partition: frozenset(positions) for partition, positions in found.items()}
