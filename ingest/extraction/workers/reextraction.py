"""Extracts old turns again with the current prompt and model. The log keeps both results, the cards the newer one."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from uuid import UUID

from events.health.heartbeat import reports
from events.platform.database import Connection, rows_of, statement
from events.platform.linger import pause
from events.platform.modes import modes_of
from events.platform.settings import Settings
from events.store import log
from events.types.envelope import PARTITIONS, Event, NewEvent, partition_of
from events.types.extraction import CardsWithdrawn, ExtractionFailed, TurnsExtracted
from events.types.turns import TurnRecorded
from ingest.extraction import erased_turns
from ingest.extraction.circuit_breaker import backoff
from ingest.extraction.conversation import mode_contexts, preceding, recorded
from ingest.extraction.erased_turns import TurnsErasedError
from ingest.extraction.event_linking import relinked
from ingest.extraction.extraction_events import caused_by, events_of
from ingest.extraction.extractor_port import Extractor, ExtractorUnavailableError, SessionBatch
from ingest.extraction.known_memory import KnownMemory
from ingest.extraction.workers.bounded_executor import BoundedExecutor
from ingest.extraction.workers.rules_worker import PROCESSOR
from ingest.extraction.workers.session_batcher import SessionBatcher

_TRIES = 6
_KNOWN_CARDS = 20_000
"""Card events of one user that are read back. An old turn needs older cards than a new one."""


class ReextractionBusyError(RuntimeError):
    """Another reextraction is running on this database."""


@dataclass(frozen=True, slots=True)
class ReextractionFilter:
    """Chooses extractions. Without ``prompt_version``: those of other versions, of the rules fallback, and failures.

    With ``given_up``, only failures are chosen.
    """

    user_id: str | None = None
    since: datetime | None = None
    prompt_version: str | None = None
    given_up: bool = False

    def wants(self, reading: Event, extractor: Extractor) -> bool:
        """True when ``extractor`` should repeat ``reading``."""
        if self.since is not None and reading.recorded_at < self.since:
            return False
        made: TurnsExtracted | ExtractionFailed = reading.payload
        if self.given_up and not isinstance(made, ExtractionFailed):
            return False
        if self.prompt_version is not None:
            return made.prompt_version == self.prompt_version
        return (
            isinstance(made, ExtractionFailed)
            or made.rules_fallback
            or (made.extractor, made.model, made.prompt_version)
            != (extractor.name, extractor.model, extractor.prompt_version)
        )


@dataclass(slots=True)
class ReextractionSummary:
    """The result of a reextraction. ``left`` turns could not be extracted and keep their old extraction.

    ``away`` says why the extractor became unavailable and the reextraction ended early, or is None.
    """

    readings: int = 0
    turns: int = 0
    calls: int = 0
    tokens: int = 0
    cost_usd: float | None = 0.0
    cards: int = 0
    withdrawn: int = 0
    left: int = 0
    reasons: list[str] = field(default_factory=list)
    away: str | None = None


@dataclass(slots=True, eq=False)
class _Job:
    """Neighbouring extractions of one session, the session batches of their turns, and the new events by batch."""

    readings: list[Event]
    batches: list[SessionBatch]
    done: dict[int, list[NewEvent]] = field(default_factory=dict)
    failed: str | None = None

    @property
    def user_id(self) -> str:
        return self.readings[0].user_id

    @property
    def whole(self) -> bool:
        """True when every batch is extracted or has failed."""
        return len(self.done) == len(self.batches)


def past_extractions(
    connection: Connection, choice: ReextractionFilter, extractor: Extractor
) -> Iterator[Event]:
    """Yields the events of the extractions and failures that ``choice`` wants, by partition.

    The latest extraction of a turn counts.
    """
    partitions = range(PARTITIONS) if choice.user_id is None else [partition_of(choice.user_id)]
    for partition in partitions:
        rows = rows_of(
            connection,
            statement("ingest.extraction.workers", "past_extractions"),
            {"partition": partition, "user_id": choice.user_id},
        )
        last: dict[int, Event] = {}
        for reading in log.events_of(rows):
            last.update(dict.fromkeys(reading.payload.turn_positions, reading))
        for reading in {each.position: each for each in last.values()}.values():
            if choice.wants(reading, extractor):
                yield reading


def model_in_use(connection: Connection) -> str | None:
    """Returns what is known of the model that extracts the turns here; None when the rules do.

    The extractors that run now decide. If none runs, the latest extraction in the log decides.
    """
    running = [each for each in reports(connection) if each.stage == PROCESSOR.name and each.alive]
    if running:
        return next((each.detail for each in running if each.detail), None)
    rows = rows_of(connection, statement("ingest.extraction.workers", "latest_extraction"), {})
    for made in (event.payload for event in log.events_of(rows)):
        if isinstance(made, TurnsExtracted | ExtractionFailed) and made.model:
            return made.model
        if isinstance(made, TurnsExtracted) and made.rules_fallback:
            return "the rules stood in for it"
    return None


class Reextraction:
    """Repeats extractions, several at once. Finished extractions stay, so a stopped reextraction continues next time.

    The new events and the withdrawal of the old cards are appended together or not at all. Turns that the extractor
    cannot read keep their old extraction. The reextraction ends when the extractor stays away. ``backoff`` gives the
    seconds to wait after the n-th failure of the same turns.
    """

    def __init__(
        self,
        settings: Settings,
        extractor: Extractor,
        stopping: Callable[[], bool],
        backoff: Callable[[int], float] = backoff,
    ) -> None:
        self._settings = settings
        self._extractor = extractor
        self._stopping = stopping
        self._backoff = backoff
        self._memory = KnownMemory(depth=_KNOWN_CARDS)

    def plan(self, connection: Connection, readings: Iterable[Event]) -> Iterator[SessionBatch]:
        """Yields the session batches that :meth:`run` would extract."""
        for job in self._jobs(connection, readings):
            yield from job.batches

    def run(
        self, connection: Connection, readings: Iterable[Event], progress: Callable[[int], None]
    ) -> ReextractionSummary:
        """Repeats ``readings`` and returns the result, also after an early end.

        ``progress`` gets the number of turns done so far. Raises :class:`ReextractionBusyError` when another
        reextraction is running.
        """
        row = connection.execute(statement("ingest.extraction.workers", "reextraction_lock")).fetchone()
        if row is None or not row[0]:
            raise ReextractionBusyError(
                "another cardlog reextract is running on this database: wait until it ends"
            )
        tally = ReextractionSummary()
        calls: BoundedExecutor[tuple[int, int], list[NewEvent]] = BoundedExecutor(
            self._settings.extract_concurrency
        )
        jobs = self._jobs(connection, readings)
        at_work: dict[int, _Job] = {}
        waiting: deque[tuple[int, int]] = deque()
        number, exhausted = 0, False

        def ending() -> bool:
            return tally.away is not None or self._stopping()

        try:
            while True:
                while calls.available > len(waiting) and not exhausted and not ending():
                    job = next(jobs, None)
                    if job is None:
                        exhausted = True
                        break
                    at_work[number] = job
                    waiting.extend((number, place) for place in range(len(job.batches)))
                    number += 1
                # A started job is always finished. Otherwise paid results of half a job would be lost.
                while waiting and calls.available:
                    key = waiting.popleft()
                    calls.submit(key, self._call(at_work[key[0]].batches[key[1]], ending))
                if not calls.under_way:
                    break
                for ended in calls.completed(0.2):
                    job = at_work[ended.key[0]]
                    if isinstance(ended.error, ExtractorUnavailableError):
                        tally.away = str(ended.error)
                        waiting.clear()
                        continue
                    if ended.result is None:
                        job.failed = str(ended.error)
                    job.done[ended.key[1]] = ended.result or []
                for leaving in list(_leaving(at_work)):
                    self._write(connection, at_work.pop(leaving), tally)
                    progress(tally.turns + tally.left)
        finally:
            calls.close()
        return tally

    def _jobs(self, connection: Connection, readings: Iterable[Event]) -> Iterator[_Job]:
        """Yields the extractions by user and turn, with the session batches that their turns make now.

        The current limits of session batches apply. One partition is in memory at a time.
        """
        for partition, those in groupby(readings, key=lambda reading: reading.partition):
            sessions: dict[tuple[str, str], list[Event]] = {}
            for reading in those:
                sessions.setdefault((reading.user_id, reading.stream), []).append(reading)
            most = self._settings.session_batch_turns
            jobs = [together for several in sessions.values() for together in _together(several, most)]
            # A later turn may replace an event of an earlier one, so the earlier turn is extracted again before it.
            for together in sorted(jobs, key=lambda one: (one[0].user_id, _first_turn(one[0]))):
                turns = self._turns(connection, partition, together)
                if turns:
                    yield _Job(together, self._bursts(connection, turns))

    def _turns(self, connection: Connection, partition: int, readings: Sequence[Event]) -> list[Event]:
        wanted = sorted({position for reading in readings for position in reading.payload.turn_positions})
        found = erased_turns.turns_at(connection, partition, wanted)
        return [event for event in found if isinstance(event.payload, TurnRecorded)]

    def _bursts(self, connection: Connection, turns: Sequence[Event]) -> list[SessionBatch]:
        batcher = SessionBatcher(self._settings)
        groups = [group for turn in turns for group in batcher.add(turn, 0.0)]
        groups = [group for group in (*groups, batcher.close()) if group]
        before = preceding(connection, [group[0] for group in groups])
        modes = mode_contexts(connection, [group[0] for group in groups], modes_of(self._settings))
        # Cards of these turns do not count, because the new ones replace them.
        partition = turns[0].partition
        known = self._memory.of(connection, partition, tuple(map(recorded, turns)), before=True)
        return [
            SessionBatch(said, earlier, known, chosen, self._memory.ongoing(partition, said))
            for group, earlier, chosen in zip(groups, before, modes, strict=True)
            for said in [tuple(recorded(turn) for turn in group)]
        ]

    def _call(self, batch: SessionBatch, ending: Callable[[], bool]) -> Callable[[], list[NewEvent]]:
        knowledge = self._settings.knowledge_extraction

        def call() -> list[NewEvent]:
            tries = 0
            while True:
                try:
                    extraction = self._extractor.extract(batch)
                    return events_of(batch, extraction, self._extractor, knowledge=knowledge, link=False)
                except ExtractorUnavailableError as error:
                    tries += 1
                    if tries >= _TRIES or ending():
                        raise
                    pause(max(self._backoff(tries), error.retry_after or 0.0), ending)

        return call

    def _write(self, connection: Connection, job: _Job, tally: ReextractionSummary) -> None:
        turns = sum(len(batch.turns) for batch in job.batches)
        if job.failed is not None:
            tally.left += turns
            tally.reasons.append(job.failed)
            return
        old = tuple(reading.event_id for reading in job.readings)
        fresh = [_replacing(event, old) for event in self._linked(connection, job)]
        withdrawal = self._withdrawal(connection, job, fresh[0])
        try:
            with connection.transaction():
                erased_turns.append(connection, [fresh[0], *withdrawal, *fresh[1:]])
        except TurnsErasedError as error:
            tally.left += turns
            tally.reasons.append(str(error))
            return
        log.announce(connection)
        tally.readings += len(job.readings)
        tally.turns += turns
        tally.withdrawn += sum(len(event.payload.event_ids) for event in withdrawal)
        for event in fresh:
            if isinstance(event.payload, TurnsExtracted):
                usage = event.payload.usage
                tally.calls += usage.calls
                tally.tokens += usage.tokens
                tally.cards += event.payload.cards
                known = tally.cost_usd is not None and usage.cost_usd is not None
                tally.cost_usd = (tally.cost_usd or 0.0) + (usage.cost_usd or 0.0) if known else None

    def _linked(self, connection: Connection, job: _Job) -> list[NewEvent]:
        """Returns the new events of a job with the earlier cards that they replace or go on with.

        Jobs of the same user that are written already count with their new cards.
        """
        turns = tuple(turn for batch in job.batches for turn in batch.turns)
        now = self._memory.of(connection, job.readings[0].partition, turns, before=True)
        fresh: list[NewEvent] = []
        for place, batch in enumerate(job.batches):
            known = now.with_events(fresh, batch.turns[-1].turn.said_at)
            fresh += relinked(job.done[place], batch.known, known)
        return fresh

    def _withdrawal(self, connection: Connection, job: _Job, leader: NewEvent) -> list[NewEvent]:
        """Returns the event that withdraws the old cards, or nothing when there are none."""
        rows = connection.execute(
            statement("ingest.extraction.workers", "cards_of_extractions"),
            {
                "partition": job.readings[0].partition,
                "positions": [reading.position for reading in job.readings],
                "events": [reading.event_id for reading in job.readings],
                # One more event: a reextraction has its withdrawal between itself and its cards.
                "cards": [getattr(reading.payload, "cards", 0) + 1 for reading in job.readings],
            },
        ).fetchall()
        if not rows:
            return []
        reason = f"the turns were read again by {self._extractor.name} ({self._extractor.prompt_version})"
        ids, positions = zip(*rows, strict=True)
        withdrawn = CardsWithdrawn(event_ids=ids, positions=positions, reason=reason)
        return [caused_by(leader, withdrawn, leader.occurred_at)]


def _leaving(at_work: dict[int, _Job]) -> Iterator[int]:
    """Yields the jobs that may be written: they and all jobs before them of their user are whole."""
    held: set[str] = set()
    for number, job in at_work.items():
        if job.whole and job.user_id not in held:
            yield number
        else:
            held.add(job.user_id)


def _together(readings: Sequence[Event], most_turns: int) -> Iterator[list[Event]]:
    """Yields neighbouring extractions that fit into one session batch. Short ones then need one call of a model.

    A failed extraction stays alone, because its replacement is found by its id.
    """
    together: list[Event] = []
    for reading in sorted(readings, key=_first_turn):
        both = (*together, reading)
        alone = any(isinstance(one.payload, ExtractionFailed) for one in both)
        if together and (alone or sum(len(one.payload.turn_positions) for one in both) > most_turns):
            yield together
            together = []
        together.append(reading)
    if together:
        yield together


def _first_turn(reading: Event) -> int:
    return min(reading.payload.turn_positions, default=0)


def _replacing(event: NewEvent, old: tuple[UUID, ...]) -> NewEvent:
    """Returns the event with the ids of the replaced extractions. Its key lets it be appended once for these."""
    if not isinstance(event.payload, TurnsExtracted):
        return event
    key = f"reading/{old[0]}/{event.dedupe_key}"
    return replace(event, payload=replace(event.payload, replaces=old), dedupe_key=key)
