"""The worker of an extractor that waits for answers: many calls at once, and no transaction open meanwhile."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from events import log
from events.checkpoints import CheckpointMovedError, Connection
from events.database import connect_patiently
from events.envelope import Event, NewEvent
from events.failures import is_away
from events.feed import Feed, LogFeed
from events.isolation import isolate
from events.settings import Settings
from events.sql import statement
from events.stages import Pulse
from events.types.extraction import ExtractionFailed, TurnsExtracted, Usage
from ingest.calls import Calls, Done
from ingest.claude.breaker import Breaker, backoff
from ingest.claude.budget import Budget
from ingest.conversation import preceding, recorded
from ingest.extraction import (
    Burst,
    Extractor,
    ExtractorUnavailableError,
    RemoteExtractor,
    TurnsUnreadableError,
)
from ingest.extraction_events import counted, events_of, failure_of, stream_of, unreadable_turn
from ingest.extractor import PROCESSOR, TURN
from ingest.holdings import Holdings
from ingest.known_concepts import KnownConcepts
from ingest.slots import Slots
from ingest.window import Reading

logger = logging.getLogger(__name__)

_PATIENCE_S = 0.1
_LOOK_EVERY_S = 0.05
_STAND_INS_AT_ONCE = 64
_KEPT_S = 60.0
_LEASH_MS = 15_000

_Key = tuple[int, tuple[int, ...]]  # partition, positions of the turns


class ModelWorker:
    """Follows the log with a window of turns in hand, until told to stop.

    Every turn is read once, whatever is killed when: the events of a burst are appended when it is done, in the
    order of its session, and the checkpoint moves in the same transaction, but never past a turn that is not
    done. What was appended above it is recognised by whoever comes next. A partition belongs to one worker at a
    time, by a lock of the very connection that appends: whoever lost the one cannot use the other.

    Turns wait while the extractor is away, unless the stand-in may read them. A turn the extractor cannot
    read while it reads others becomes an ``ExtractionFailed``, and so does one whose events the database does not take.
    No user has more than a quarter of the calls, and those in trouble no more than half of them together.
    """

    def __init__(
        self,
        settings: Settings,
        extractor: RemoteExtractor,
        stand_in: Extractor,
        stopping: Callable[[], bool],
        worker: str = "1",
        feed: Feed | None = None,
    ) -> None:
        self._settings = settings
        self._extractor = extractor
        self._stand_in = stand_in
        self._stopping = stopping
        self._pulse = Pulse(settings.database_url, PROCESSOR.name, worker)
        self._feed = feed or LogFeed(settings.database_url, PROCESSOR.name, stopping, {TURN})
        self._holdings = Holdings(
            settings, self._feed, lambda event, payload: unreadable_turn(event, payload, self._extractor)
        )
        self._calls: Calls[_Key, tuple[list[NewEvent], bool]] = Calls(settings.extract_concurrency)
        self._breaker = Breaker(settings.breaker_failures)
        self._budget = Budget(settings.budget_tokens_per_user_day)
        self._concepts = KnownConcepts()
        self._waiting: list[Reading] = []
        self._slots = Slots(self._calls.limit)
        self._flights: dict[_Key, Reading] = {}
        # Answers that were paid for and whose partition was lost meanwhile: some coming, some there.
        self._coming: set[_Key] = set()
        self._kept: dict[_Key, list[NewEvent]] = {}
        self._kept_until = 0.0
        self._next_look = 0.0

    def run(self) -> None:
        """Extract until ``stopping``; answers under way get a moment to arrive, and what arrived is written."""
        with self._pulse:
            try:
                self._follow()
            finally:
                self._calls.close()
                self._extractor.close()

    def _follow(self) -> None:
        while not self._stopping():
            connection = connect_patiently(
                self._settings.database_url,
                application="extractor",
                stopping=self._stopping,
                lease_ms=self._settings.lease_ms,
            )
            if connection is None or not self._feed.open():
                break
            try:
                connection.execute(statement("ingest", "short_leash"), {"idle_ms": _LEASH_MS})
                PROCESSOR.open(connection)
                name, version = self._extractor.name, self._extractor.prompt_version
                logger.info("extracting with %s %s (%s)", name, self._extractor.model, version)
                self._serve(connection)
            except CheckpointMovedError as error:
                logger.warning("standing by: %s", error)
                time.sleep(_PATIENCE_S)
            except Exception as error:
                if is_away(error):
                    logger.warning("postgres went away while extracting, trying again: %s", error)
                    self._pulse.waiting(f"postgres went away: {log.reason_of(error)}")
                    time.sleep(_PATIENCE_S)
                else:
                    logger.exception("extracting stands still, trying again")
                    self._pulse.waiting(log.reason_of(error))
                    time.sleep(_PATIENCE_S * 10)
            finally:
                self._let_go()
                connection.close()
                self._feed.close()
        logger.info("extractor stopped")

    def _let_go(self) -> None:
        """The connection is lost and the partitions with it; what was paid for is kept for when they are back."""
        for reading in self._holdings.forget():
            self._kept[_key(reading)] = reading.outcome or []
        self._kept_until = time.monotonic() + _KEPT_S
        self._coming.update(self._flights)
        self._flights.clear()
        self._waiting.clear()
        self._slots.forget()
        self._budget.forget()
        self._concepts = KnownConcepts()
        self._next_look = 0.0

    def _serve(self, connection: Connection) -> None:
        deadline: float | None = None
        while True:
            now = time.monotonic()
            if self._stopping():
                deadline = deadline or now + self._settings.extract_grace_s
                if not self._calls.under_way or now >= deadline:
                    break
            elif now >= self._next_look:
                ready, more = self._holdings.look(connection, now)
                self._waiting += ready
                # Where there is more right behind, there is no reason to wait for the next look.
                self._next_look = 0.0 if more else now + _LOOK_EVERY_S
            if deadline is None:
                self._launch(connection, now)
            for done in self._calls.ended(_LOOK_EVERY_S if self._nothing_to_write() else 0.0):
                self._settle(done)
            self._write(connection)
            self._report()
            if self._calls.under_way or deadline is not None:
                continue
            if now > self._kept_until:
                self._kept.clear()
            if not self._holdings:
                self._feed.wait()
                self._next_look = 0.0
            elif self._nothing_to_write() and self._next_look > time.monotonic():
                # Only time, or news, can bring anything on.
                self._feed.wait(_LOOK_EVERY_S)
        if self._calls.under_way:
            logger.warning(
                "%d answers under way are abandoned; they are asked for again", self._calls.under_way
            )

    def _nothing_to_write(self) -> bool:
        return next(self._holdings.finished(), None) is None

    def _write(self, connection: Connection) -> None:
        written, passed, culprits = self._holdings.write(connection)
        self._pulse.passed(passed)
        for reading in written:
            self._pulse.count(counted(reading.outcome or ()))
            for event in reading.outcome or ():
                if isinstance(event.payload, TurnsExtracted | ExtractionFailed):
                    self._budget.spend(event.user_id, event.payload.usage)
            self._concepts.learn(reading.turns[0].partition, reading.outcome or ())
        for culprit in culprits:
            spent = [event.payload.usage for event in culprit.item.outcome or () if _is_reading(event)]
            culprit.item.spent = sum(spent, Usage())
            self._fail(culprit.item, culprit.error)

    def _launch(self, connection: Connection, now: float) -> None:
        """Begin the calls that may begin, every user's first before anybody's second; let others be stood in for."""
        asked: list[Reading] = []
        stood_in: list[Reading] = []
        for reading in self._slots.in_order(self._waiting, self._flights.values()):
            if len(asked) == self._calls.free and not self._settings.stand_in:
                break
            if self._kept and (kept := self._kept.pop(_key(reading), None)) is not None:
                reading.outcome = kept
            elif reading.not_before > now or (self._coming and _key(reading) in self._coming):
                continue
            elif self._budget.exhausted(connection, reading.user_id):
                if len(stood_in) < _STAND_INS_AT_ONCE:
                    stood_in.append(reading)
            elif (
                len(asked) < self._calls.free
                and self._slots.admit(reading.user_id)
                and self._breaker.permits(now)
            ):
                asked.append(reading)
                self._slots.take(reading.user_id)
            elif (
                self._settings.stand_in
                and self._breaker.state(now) != "closed"
                and len(stood_in) < _STAND_INS_AT_ONCE
            ):
                stood_in.append(reading)
        self._fill(connection, [*asked, *stood_in])
        for reading in asked:
            if reading.burst is not None:
                self._flights[_key(reading)] = reading
                self._calls.begin(_key(reading), self._call(reading))
            else:
                self._breaker.abstained()
        for reading in stood_in:
            if reading.burst is not None:
                self._read_instead(reading)
        begun = {id(reading) for reading in (*asked, *stood_in)}
        self._waiting = [
            reading for reading in self._waiting if reading.outcome is None and id(reading) not in begun
        ]

    def _fill(self, connection: Connection, readings: Sequence[Reading]) -> None:
        """Give each burst its context: what was said before, and what is known of the user. A reading whose context
        cannot be had fails by itself."""

        def attempt(some: Sequence[Reading]) -> None:
            earlier = preceding(connection, [reading.turns[0] for reading in some])
            for reading, before in zip(some, earlier, strict=True):
                partition = reading.turns[0].partition
                known = self._concepts.of(connection, partition, reading.user_id)
                reading.burst = Burst(tuple(recorded(turn) for turn in reading.turns), before, known)

        fresh = [reading for reading in readings if reading.burst is None]
        for culprit in isolate(fresh, attempt):
            culprit.item.burst = None
            self._fail(culprit.item, culprit.error)

    def _call(self, reading: Reading) -> Callable[[], tuple[list[NewEvent], bool]]:
        """What is done in a thread: everything from the question to the events, and nothing with the database."""
        burst, spent = reading.burst, reading.spent
        assert burst is not None

        def call() -> tuple[list[NewEvent], bool]:
            extraction = self._extractor.extract(burst)
            asked = extraction.usage.calls > 0
            extraction = replace(extraction, usage=spent + extraction.usage)
            knowledge = self._settings.knowledge_extraction
            return events_of(burst, extraction, self._extractor, knowledge=knowledge), asked

        return call

    def _read_instead(self, reading: Reading) -> None:
        assert reading.burst is not None
        try:
            extraction = self._stand_in.extract(reading.burst)
            extraction = replace(extraction, usage=reading.spent + extraction.usage)
            knowledge = self._settings.knowledge_extraction
            reading.outcome = events_of(
                reading.burst, extraction, self._stand_in, knowledge=knowledge, stand_in=True
            )
        except Exception as error:
            self._give_up(reading, error)

    def _settle(self, done: Done[_Key, tuple[list[NewEvent], bool]]) -> None:
        """Draw the conclusions from one call."""
        now = time.monotonic()
        error = done.error
        reading = self._flights.pop(done.key, None)
        user = reading.user_id if reading is not None else ""
        if isinstance(error, ExtractorUnavailableError):
            self._breaker.failed(now, str(error), error.retry_after, user)
            self._pulse.failed(str(error))
            self._slots.failed(user)
        elif isinstance(error, TurnsUnreadableError) or (done.result is not None and done.result[1]):
            self._breaker.succeeded(now, user)
            self._slots.succeeded(user)
        else:
            self._breaker.abstained()
        if reading is None:
            self._coming.discard(done.key)
            if done.result is not None:
                self._kept[done.key] = done.result[0]
        elif done.result is not None:
            reading.outcome = done.result[0]
        elif isinstance(error, ExtractorUnavailableError):
            self._try_again(reading, error, now)
        else:
            assert error is not None
            self._give_up(reading, error)

    def _try_again(self, reading: Reading, error: ExtractorUnavailableError, now: float) -> None:
        """Later; unless these turns fail again and again while others are read in between."""
        reading.spent += error.usage
        reading.tries += 1
        if error.suspect and reading.tries > 1 and self._breaker.successes > reading.successes_seen:
            reading.held_against += 1
        reading.successes_seen = self._breaker.successes
        if reading.held_against > self._settings.extract_retries:
            self._give_up(reading, error)
            return
        reading.not_before = now + max(backoff(reading.tries), error.retry_after or 0.0)
        self._waiting.append(reading)

    def _give_up(self, reading: Reading, error: Exception) -> None:
        """Several turns are tried in halves, so that only the culprit fails; one turn has failed."""
        if isinstance(error, TurnsUnreadableError):
            reading.spent += error.usage
        if len(reading.turns) > 1:
            logger.info("%d turns cannot be read together, trying halves: %s", len(reading.turns), error)
            self._waiting += self._holdings.split(reading)
            return
        self._fail(reading, error)

    def _fail(self, reading: Reading, error: Exception) -> None:
        """Every turn of the reading becomes a failure in the log; what it all cost stands with the first."""
        outcome = [self._failure(event, reading, error) for event in reading.turns]
        reading.spent = Usage()
        reading.outcome = outcome

    def _failure(self, event: Event, reading: Reading, error: Exception) -> NewEvent:
        turn = event.payload
        known = isinstance(error, TurnsUnreadableError | ExtractorUnavailableError)
        reason = str(error) if known else log.reason_of(error)
        logger.warning(
            "turn %s (%d/%d) cannot be extracted: %s",
            turn.turn_id, event.partition, event.position, reason,
            exc_info=None if known else error,
            extra={
                "stage": PROCESSOR.name, "turn_id": turn.turn_id,
                "partition": event.partition, "position": event.position,
            },
        )  # fmt: skip
        self._pulse.failed(f"turn {turn.turn_id} cannot be extracted: {reason}")
        attempts = reading.tries + (error.attempts if isinstance(error, TurnsUnreadableError) else 0)
        return failure_of(
            event.user_id,
            event.position,
            turn.turn_id,
            stream_of(turn),
            turn.said_at,
            reason,
            self._extractor,
            attempts=max(1, attempts),
            usage=reading.spent if event is reading.turns[0] else Usage(),
        )

    def _report(self) -> None:
        """Say how it stands: waiting where nothing can go on, and who reads instead where somebody does."""
        now = time.monotonic()
        if (
            self._breaker.troubled
            and not self._settings.stand_in
            and (self._waiting or self._flights)
            and not self._succeeding(now)
        ):
            self._pulse.waiting(f"turns wait: {self._breaker.reason}")
        elif self._breaker.state(now) != "closed" and self._settings.stand_in:
            self._pulse.running(f"the rules stand in for the model: {self._breaker.reason}")
        elif self._budget.reached:
            self._pulse.running(
                f"the rules stand in: {self._budget.reached} users have reached today's budget of "
                f"{self._settings.budget_tokens_per_user_day} tokens"
            )
        else:
            self._pulse.running(self._feed.note)

    def _succeeding(self, now: float) -> bool:
        """Whether calls are under way that nothing speaks against yet."""
        fresh = any(reading.tries == 0 for reading in self._flights.values())
        return self._breaker.state(now) == "closed" and fresh


def _is_reading(event: NewEvent) -> bool:
    return isinstance(event.payload, TurnsExtracted | ExtractionFailed)


def _key(reading: Reading) -> _Key:
    return reading.turns[0].partition, tuple(turn.position for turn in reading.turns)
