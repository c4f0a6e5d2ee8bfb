"""The model worker: runs many calls of a model at once, outside any transaction."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from events.health.log_worker import LogWorker
from events.platform.database import Connection
from events.platform.failures import in_a_line
from events.platform.isolation import isolate
from events.platform.modes import modes_of
from events.platform.settings import Settings
from events.store.batches import RoundResult
from events.store.feed import Feed, LogFeed
from events.types.envelope import Event, NewEvent
from events.types.extraction import ExtractionFailed, TurnsExtracted, Usage
from ingest.extraction import erased_turns
from ingest.extraction.choosing import describe
from ingest.extraction.circuit_breaker import CircuitBreaker, backoff
from ingest.extraction.conversation import mode_contexts, preceding, recorded
from ingest.extraction.erased_turns import TurnsErasedError
from ingest.extraction.extraction_events import counted, events_of, given_up, unreadable_turn
from ingest.extraction.extractor_port import (
    Extractor,
    ExtractorUnavailableError,
    RemoteExtractor,
    SessionBatch,
    TurnsUnreadableError,
)
from ingest.extraction.known_memory import KnownMemory, with_targets
from ingest.extraction.token_budget import TokenBudget
from ingest.extraction.workers.bounded_executor import BoundedExecutor, CompletedCall, Slots
from ingest.extraction.workers.partition_assignment import PartitionAssignment
from ingest.extraction.workers.partition_window import ExtractionTask
from ingest.extraction.workers.rules_worker import PROCESSOR, TURN

logger = logging.getLogger(__name__)
_TELL_AGAIN_S = 60.0

_LOOK_EVERY_S = 0.05
_RULES_FALLBACKS_AT_ONCE = 64
_CALL_TOKENS = 4_000  # of the first call (docs/cost.md); after it the largest call so far counts
_KEPT_S = 60.0

_Key = tuple[int, tuple[int, ...]]  # The partition and the positions of the turns.


class ModelWorker(LogWorker):
    """Extracts turns with a model until ``stopping`` is true.

    Every turn is extracted once, also after a kill at any moment. The events of a session batch are appended in the
    order of the session. The checkpoint moves in the same transaction, but never past an open turn. The next worker
    recognises events above the checkpoint. A partition belongs to one worker at a time, by a lock of the connection
    that appends. A worker without the lock therefore cannot append.

    Turns wait while the extractor is away, unless the rules fallback is allowed. A turn becomes an ``ExtractionFailed``
    when the extractor cannot read it while it reads others, and when the database refuses its events. No user has
    more than a quarter of the calls. Users whose calls fail have at most half of the calls together.
    """

    def __init__(
        self,
        settings: Settings,
        extractor: RemoteExtractor,
        rules_fallback: Extractor,
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
            idle_in_transaction_timeout_ms=settings.idle_in_transaction_timeout_ms,
        )
        self._modes = modes_of(settings)
        self._extractor = extractor
        self._rules_fallback = rules_fallback
        self._described = describe(settings)
        self._assignment = PartitionAssignment(
            settings, self._feed, lambda event, payload: unreadable_turn(event, payload, self._extractor)
        )
        self._calls: BoundedExecutor[_Key, tuple[list[NewEvent], bool]] = BoundedExecutor(
            settings.extract_concurrency
        )
        self._breaker = CircuitBreaker(settings.breaker_failures)
        self._away_since: float | None = None
        self._tell_at = 0.0
        self._budget = TokenBudget(settings.budget_tokens_per_user_day)
        self._call_tokens = _CALL_TOKENS
        self._unwritten: dict[_Key, ExtractionTask] = {}  # were asked, and their cost is not in the log yet
        self._memory = KnownMemory()
        self._waiting: list[ExtractionTask] = []
        self._slots = Slots(self._calls.limit)
        self._flights: dict[_Key, ExtractionTask] = {}
        # Calls that are paid for and whose partition was lost meanwhile: the running calls, and the results.
        self._coming: set[_Key] = set()
        self._kept: dict[_Key, list[NewEvent]] = {}
        self._kept_until = 0.0
        self._next_look = 0.0

    def run(self) -> None:
        """Extracts until ``stopping``. Running calls then get ``extract_grace_s``, and their results are written."""
        try:
            super().run()
        finally:
            self._calls.close()
            self._extractor.close()

    def prepare(self, connection: Connection) -> bool:
        PROCESSOR.open(connection)
        name, version = self._extractor.name, self._extractor.prompt_version
        logger.info("extracting with %s %s (%s)", name, self._extractor.model, version)
        return True

    def release(self) -> None:
        """Gives up all partitions, because their locks ended with the connection.

        Results that are paid for are kept until the partitions are back.
        """
        for task in self._assignment.forget():
            self._kept[_key(task)] = task.outcome or []
        self._kept_until = time.monotonic() + _KEPT_S
        self._coming.update(self._flights)
        self._flights.clear()
        self._unwritten.clear()
        self._waiting.clear()
        self._slots.forget()
        self._budget.forget()
        self._memory.forget()
        self._next_look = 0.0

    def handle(self, connection: Connection) -> RoundResult:
        """Reads on in the log, starts calls, and writes the results of completed calls."""
        now = time.monotonic()
        if now >= self._next_look:
            ready, more = self._assignment.look(connection, now)
            self._waiting += ready
            # Known events make the next look due at once.
            self._next_look = 0.0 if more else now + _LOOK_EVERY_S
        self._launch(connection, now)
        passed = self._write_completed(connection)
        result = replace(self._status(), passed=passed)
        if self._calls.under_way:
            return replace(result, more=True)
        if now > self._kept_until:
            self._kept.clear()
        if not self._assignment:
            self._next_look = 0.0
            return result
        if self._nothing_to_write() and self._next_look > time.monotonic():
            # Only time or new events can start the next task.
            return replace(result, wait_s=_LOOK_EVERY_S)
        return replace(result, more=True)

    def drain(self, connection: Connection) -> None:
        deadline = time.monotonic() + self._settings.extract_grace_s
        while self._calls.under_way and time.monotonic() < deadline:
            self._assignment.keep(connection)
            self._heartbeat.passed(self._write_completed(connection))
        if self._calls.under_way:
            logger.warning(
                "%d running calls are abandoned; the next worker repeats them", self._calls.under_way
            )

    def _write_completed(self, connection: Connection) -> int:
        """Waits a moment for running calls, then writes every result. Returns the number of events passed."""
        for done in self._calls.completed(_LOOK_EVERY_S if self._nothing_to_write() else 0.0):
            self._settle(done)
        return self._write(connection)

    def _nothing_to_write(self) -> bool:
        return next(self._assignment.finished(), None) is None

    def _write(self, connection: Connection) -> int:
        self._link(connection)
        written, passed, culprits = self._assignment.write(connection)
        for task in written:
            self._heartbeat.count(counted(task.outcome or ()))
            self._unwritten.pop(_key(task), None)
            self._budget.spend(task.user_id, _usage_of(task))
        for culprit in culprits:
            culprit.item.spent = _usage_of(culprit.item)
            if isinstance(culprit.error, TurnsErasedError) and not culprit.item.reread:
                self._read_again(connection, culprit.item)
            else:
                self._fail(culprit.item, culprit.error)
        return passed

    def _read_again(self, connection: Connection, task: ExtractionTask) -> None:
        """Extracts the turns of a task again that were not erased with others of them meanwhile."""
        self._unwritten.pop(_key(task), None)
        self._assignment.keep_remaining(task, erased_turns.remaining(connection, task.turns))
        task.reread = True
        if task.outcome is None:
            self._waiting.append(task)

    def _link(self, connection: Connection) -> None:
        """Finds the earlier events that finished tasks replace.

        This happens when a task is written. What was written since its call counts, and so do the tasks that are
        written with it.
        """
        before: dict[str, list[NewEvent]] = {}
        for task in self._assignment.finished():
            earlier = before.setdefault(task.user_id, [])
            task.outcome = with_targets(connection, self._memory, task.turns, task.outcome or (), earlier)
            earlier += task.outcome

    def _launch(self, connection: Connection, now: float) -> None:
        """Starts the calls that may start now, and extracts other tasks with the rules where these are allowed.

        The first call of every user comes before the second call of any user.
        """
        asked: list[ExtractionTask] = []
        fell_back: list[ExtractionTask] = []
        for task in self._slots.in_order(self._waiting, self._flights.values()):
            if len(asked) == self._calls.available and not self._settings.rules_fallback:
                break
            if self._kept and (kept := self._kept.pop(_key(task), None)) is not None:
                task.outcome = kept
            elif self._coming and _key(task) in self._coming:
                continue
            elif self._budget.exhausted(connection, task.user_id):
                if len(fell_back) < _RULES_FALLBACKS_AT_ONCE:
                    fell_back.append(task)
            elif self._budget.exhausted(connection, task.user_id, self._coming_cost(task.user_id)):
                continue  # the calls under way may spend the rest
            elif (
                task.not_before <= now
                and self._slots.admit(task.user_id, self._calls.available - len(asked))
                and self._breaker.allows_call(
                    now, newcomer=task.tries == 0 and not self._slots.troubled(task.user_id)
                )
            ):
                asked.append(task)
                self._unwritten[_key(task)] = task
                self._slots.take(task.user_id)
            elif (
                self._settings.rules_fallback
                and self._breaker.state(now) != "closed"
                and len(fell_back) < _RULES_FALLBACKS_AT_ONCE
            ):
                fell_back.append(task)
        self._fill(connection, [*asked, *fell_back])
        for task in asked:
            if task.batch is not None:
                self._flights[_key(task)] = task
                # A thread runs it: it asks the model and builds the events, without the database.
                call = partial(self._extract, task.batch, task.spent, self._extractor)
                self._calls.submit(_key(task), call)
            else:
                self._unwritten.pop(_key(task), None)
                self._breaker.record_no_verdict()
        for task in fell_back:
            if task.batch is not None:
                self._extract_with_rules(task)
        begun = {id(task) for task in (*asked, *fell_back)}
        self._waiting = [task for task in self._waiting if task.outcome is None and id(task) not in begun]

    def _coming_cost(self, user_id: str) -> int:
        """Returns the tokens of the user's calls that the log does not count yet. A call under way has an estimate."""
        return sum(
            self._call_tokens if task.outcome is None else _usage_of(task).tokens
            for task in self._unwritten.values()
            if task.user_id == user_id
        )

    def _fill(self, connection: Connection, tasks: Sequence[ExtractionTask]) -> None:
        """Builds the session batch of each task: its turns, the turns before them, and the known cards of the user.

        A task whose context cannot be read fails alone.
        """

        def attempt(some: Sequence[ExtractionTask]) -> None:
            earlier = preceding(connection, [task.turns[0] for task in some])
            modes = mode_contexts(connection, [task.turns[0] for task in some], self._modes)
            for task, before, chosen in zip(some, earlier, modes, strict=True):
                turns = tuple(recorded(turn) for turn in task.turns)
                partition = task.turns[0].partition
                known = self._memory.of(connection, partition, turns)
                task.batch = SessionBatch(
                    turns, before, known, chosen, self._memory.ongoing(partition, turns)
                )

        fresh = [task for task in tasks if task.batch is None]
        for culprit in isolate(fresh, attempt):
            culprit.item.batch = None
            self._fail(culprit.item, culprit.error)

    def _extract_with_rules(self, task: ExtractionTask) -> None:
        assert task.batch is not None
        try:
            task.outcome, _ = self._extract(task.batch, task.spent, self._rules_fallback, rules_fallback=True)
        except Exception as error:
            self._give_up(task, error)

    def _extract(
        self, batch: SessionBatch, spent: Usage, extractor: Extractor, *, rules_fallback: bool = False
    ) -> tuple[list[NewEvent], bool]:
        """Returns the events of the batch with the usage of all its calls, and True when a model was asked."""
        extraction = extractor.extract(batch)
        total = replace(extraction, usage=spent + extraction.usage)
        knowledge = self._settings.knowledge_extraction
        marks = {"knowledge": knowledge, "rules_fallback": rules_fallback, "link": False}
        return events_of(batch, total, extractor, **marks), extraction.usage.calls > 0

    def _settle(self, done: CompletedCall[_Key, tuple[list[NewEvent], bool]]) -> None:
        """Passes the result of one call to breaker, slots and task."""
        now = time.monotonic()
        error = done.error
        task = self._flights.pop(done.key, None)
        user = task.user_id if task is not None else ""
        if isinstance(error, ExtractorUnavailableError):
            self._breaker.record_failure(now, str(error), error.retry_after, user)
            self._tell_failure(now, str(error))
            self._heartbeat.failed(str(error))
            self._slots.failed(user)
        elif isinstance(error, TurnsUnreadableError) or (done.result is not None and done.result[1]):
            self._breaker.record_success(now, user)
            if self._away_since is not None:
                logger.info("the model answers again after %.0f s", now - self._away_since)
                self._away_since = None
            self._slots.succeeded(user)
        else:
            self._breaker.record_no_verdict()
        if task is None:
            self._coming.discard(done.key)
            if done.result is not None:
                self._kept[done.key] = done.result[0]
        elif done.result is not None:
            task.outcome = done.result[0]
            self._call_tokens = max(self._call_tokens, _usage_of(task).tokens)
        elif isinstance(error, ExtractorUnavailableError):
            self._try_again(task, error, now)
        else:
            assert error is not None
            self._give_up(task, error)

    def _tell_failure(self, now: float, why: str) -> None:
        """Logs once a minute that calls are held back, and why."""
        if self._breaker.state(now) == "closed" or (self._away_since is not None and now < self._tell_at):
            return
        self._away_since = now if self._away_since is None else self._away_since
        self._tell_at = now + _TELL_AGAIN_S
        follows = "the rules extract meanwhile" if self._settings.rules_fallback else "turns wait"
        logger.warning("the model does not answer, %s: %s", follows, in_a_line(why))

    def _try_again(self, task: ExtractionTask, error: ExtractorUnavailableError, now: float) -> None:
        """Schedules another try. Gives up when these turns fail repeatedly while other turns succeed."""
        task.spent += error.usage
        task.tries += 1
        if error.suspect and task.tries > 1 and self._breaker.successes > task.successes_seen:
            task.held_against += 1
        task.successes_seen = self._breaker.successes
        if task.held_against > self._settings.extract_retries:
            self._give_up(task, error)
            return
        task.not_before = now + max(backoff(task.tries), error.retry_after or 0.0)
        self._unwritten.pop(_key(task), None)
        self._waiting.append(task)

    def _give_up(self, task: ExtractionTask, error: Exception) -> None:
        """Splits several turns into halves, so that only the culprit fails. A single turn fails."""
        if isinstance(error, TurnsUnreadableError):
            task.spent += error.usage
        if len(task.turns) > 1:
            logger.info("%d turns cannot be extracted together, trying halves: %s", len(task.turns), error)
            self._unwritten.pop(_key(task), None)
            self._waiting += self._assignment.split(task)
            return
        self._fail(task, error)

    def _fail(self, task: ExtractionTask, error: Exception) -> None:
        """Makes a failure of every turn of the task. The first failure carries the usage of all calls."""
        outcome = [self._failure(event, task, error) for event in task.turns]
        task.spent = Usage()
        task.outcome = outcome

    def _failure(self, event: Event, task: ExtractionTask, error: Exception) -> NewEvent:
        attempts = task.tries + (error.attempts if isinstance(error, TurnsUnreadableError) else 0)
        usage = task.spent if event is task.turns[0] else Usage()
        failure, remark = given_up(event, error, self._extractor, attempts=max(1, attempts), usage=usage)
        self._heartbeat.failed(remark)
        return failure

    def _status(self) -> RoundResult:
        """Returns the remark for the operator: why turns wait, or why the rules read instead of the model."""
        now = time.monotonic()
        if (
            self._breaker.is_disturbed
            and not self._settings.rules_fallback
            and (self._waiting or self._flights)
            and not self._succeeding(now)
        ):
            return RoundResult(stalled=f"turns wait: {self._breaker.reason}")
        if self._breaker.state(now) != "closed" and self._settings.rules_fallback:
            return RoundResult(note=f"the rules stand in for the model: {self._breaker.reason}")
        if self._budget.reached:
            return RoundResult(
                note=f"the rules stand in: {self._budget.reached} users have reached today's budget of "
                f"{self._settings.budget_tokens_per_user_day} tokens"
            )
        return RoundResult(note=self._feed.note or self._described)

    def _succeeding(self, now: float) -> bool:
        """True when the breaker is closed and a first try is running."""
        fresh = any(task.tries == 0 for task in self._flights.values())
        return self._breaker.state(now) == "closed" and fresh


def _usage_of(task: ExtractionTask) -> Usage:
    payloads = [event.payload for event in task.outcome or ()]
    return sum((one.usage for one in payloads if isinstance(one, TurnsExtracted | ExtractionFailed)), Usage())


def _key(task: ExtractionTask) -> _Key:
    return task.turns[0].partition, tuple(turn.position for turn in task.turns)
