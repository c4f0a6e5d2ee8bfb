"""The loop of a worker: each batch counts once, failures are waited out, and the worker stops on request."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable

import pytest

from events.health.heartbeat import reports
from events.health.log_worker import LogWorker
from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from events.store.batches import Batches, RoundResult, handle_batch
from events.store.checkpoints import Processor
from events.store.feed import LogFeed
from tests.support.projectors.folding import noted

PROCESSOR = Processor("copying")

Hook = Callable[["Copying", Connection], object]


class BlockedError(RuntimeError):
    """An error that brings its own reason."""


def nothing(_copying: Copying, _connection: Connection) -> None:
    pass


class Copying(LogWorker):
    """Copies the id of every event into a table of its own, and stops after the last event."""

    def __init__(self, database: str, *, events: int = 100) -> None:
        self.feed = LogFeed()
        super().__init__(
            Settings(database_url=database), lambda: self.stop, PROCESSOR.name, "one", self.feed,
            blocked=(BlockedError,), longest_backoff_s=0.5,
        )  # fmt: skip
        self.events = events
        self.stop = False
        self.calls: list[str] = []
        self.pauses: list[float] = []
        self.before: Hook = nothing
        """Runs at the start of every round."""
        self.within: Hook = nothing
        """Runs in the transaction of the batch, behind the copies."""
        self.paused: Callable[[Copying], object] = lambda _copying: None

    def prepare(self, connection: Connection) -> bool:
        self.calls.append("prepare")
        PROCESSOR.open(connection)
        connection.execute("CREATE TABLE IF NOT EXISTS copies (event_id uuid PRIMARY KEY)")
        return not self.stop

    def handle(self, connection: Connection) -> RoundResult:
        self.before(self, connection)

        def copy(batches: Batches) -> None:
            with connection.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO copies VALUES (%s)",
                    [(event.event_id,) for page in batches for event in page.events],
                )
            self.within(self, connection)

        with connection.transaction():
            result = handle_batch(connection, PROCESSOR, self.feed, copy, events=self.events, partitions=1)
        self.stop |= not result.passed
        return result

    def drain(self, connection: Connection) -> None:
        self.calls.append("drain")

    def release(self) -> None:
        self.calls.append("release")

    def pause(self, seconds: float) -> None:
        """Records the pauses that the worker would make."""
        self.pauses.append(seconds)
        self.paused(self)


def fill(connection: Connection, count: int, *, users: int = 3) -> None:
    log.append(connection, [noted(f"note {number}", f"user {number % users}") for number in range(count)])


def in_log(connection: Connection) -> list[object]:
    return [row[0] for row in connection.execute("SELECT event_id FROM log.events ORDER BY 1")]


def copied(connection: Connection) -> list[object]:
    return [row[0] for row in connection.execute("SELECT event_id FROM copies ORDER BY 1")]


def raising(*errors: Exception) -> Hook:
    """Each round raises the next error; later rounds raise none."""
    left = iter(errors)

    def hook(_copying: Copying, _connection: Connection) -> None:
        for error in left:
            raise error

    return hook


@pytest.fixture
def copying(database: str) -> Copying:
    return Copying(database)


def test_every_event_is_handled_once_and_the_worker_stops(copying: Copying, connection: Connection) -> None:
    fill(connection, 50)
    copying.events = 7
    copying.run()
    assert copied(connection) == in_log(connection)
    assert copying.calls == ["prepare", "drain", "release"]
    [report] = [each for each in reports(connection) if each.stage == PROCESSOR.name]
    assert (report.state, report.done, report.error) == ("stopped", 50, None)


def test_a_batch_that_raises_counts_for_nothing_and_runs_again(
    copying: Copying, connection: Connection
) -> None:
    fill(connection, 20)
    copying.within = raising(ValueError("late"))
    copying.run()
    assert copied(connection) == in_log(connection)
    assert copying.calls == ["prepare", "release", "prepare", "drain", "release"]


def test_the_backoff_doubles_to_its_limit_and_a_round_that_passes_events_resets_it(
    copying: Copying, connection: Connection
) -> None:
    fill(connection, 4, users=4)
    rounds = itertools.count(1)

    def hook(_copying: Copying, _connection: Connection) -> None:
        # The sixth round passes events.
        if (number := next(rounds)) != 6 and number < 9:
            raise ValueError(f"round {number}")

    copying.before = hook
    copying.run()
    assert copying.pauses == [0.1, 0.2, 0.4, 0.5, 0.5, 0.1, 0.2]
    assert copied(connection) == in_log(connection)


def test_an_error_that_says_why_is_reported_in_its_own_words(
    copying: Copying, connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    copying.before = raising(BlockedError("build the model first"), ValueError("unknown"))
    with caplog.at_level(logging.WARNING):
        copying.run()
    blocked, unknown = [record for record in caplog.records if "trying again in" in record.getMessage()]
    assert blocked.getMessage() == "copying is blocked, trying again in 0.1 s: build the model first"
    assert (blocked.levelno, blocked.exc_info) == (logging.WARNING, None)
    assert unknown.getMessage() == "copying is blocked, trying again in 0.2 s: ValueError: unknown"
    assert (unknown.levelno, bool(unknown.exc_info)) == (logging.ERROR, True)
    [report] = [each for each in reports(connection) if each.stage == PROCESSOR.name]
    assert report.error == "ValueError: unknown"


def test_a_connection_that_dies_in_a_batch_is_replaced_without_a_growing_pause(
    copying: Copying, connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    fill(connection, 20)
    killed = itertools.count()

    def kill(_copying: Copying, own: Connection) -> None:
        if next(killed) < 3:
            connection.execute("SELECT pg_terminate_backend(%s)", (own.info.backend_pid,))

    copying.within = kill
    with caplog.at_level(logging.WARNING):
        copying.run()
    assert copied(connection) == in_log(connection)
    assert copying.pauses == [0.1, 0.1, 0.1]
    assert copying.calls == [*["prepare", "release"] * 3, "prepare", "drain", "release"]
    assert not [record for record in caplog.records if record.exc_info]
    [report] = [each for each in reports(connection) if each.stage == PROCESSOR.name]
    assert (report.error or "").startswith("postgres went away: ")


def test_a_checkpoint_that_another_worker_moved_is_no_failure(
    copying: Copying, connection: Connection
) -> None:
    fill(connection, 6)
    moved = itertools.count()

    def move(_copying: Copying, own: Connection) -> None:
        if next(moved) < 3:
            own.execute("UPDATE log.checkpoints SET position = position + 1 WHERE processor = 'copying'")

    copying.within = move
    copying.run()
    assert copied(connection) == in_log(connection)
    assert copying.pauses == [0.1, 0.1, 0.1]
    [report] = [each for each in reports(connection) if each.stage == PROCESSOR.name]
    assert report.error is None


def test_a_stop_in_a_pause_ends_the_worker(copying: Copying, connection: Connection) -> None:
    fill(connection, 2)
    copying.before = raising(*(ValueError(str(number)) for number in range(9)))
    copying.paused = lambda one: setattr(one, "stop", len(one.pauses) == 2)
    copying.run()
    assert len(copying.pauses) == 2
    assert copying.calls == ["prepare", "release"] * 2


def test_a_stop_in_prepare_runs_no_round(copying: Copying, connection: Connection) -> None:
    fill(connection, 2)
    PROCESSOR.open(connection)
    stop = copying.prepare

    def prepare(own: Connection) -> bool:
        copying.stop = True
        return stop(own)

    copying.prepare = prepare  # type: ignore[method-assign, assignment]
    copying.run()
    assert copying.calls == ["prepare", "release"]
    assert copied(connection) == []


def test_a_connection_that_dies_while_draining_is_released_and_the_worker_ends(
    copying: Copying, connection: Connection
) -> None:
    def die(own: Connection) -> None:
        connection.execute("SELECT pg_terminate_backend(%s)", (own.info.backend_pid,))
        own.execute("SELECT 1")

    copying.drain = die  # type: ignore[method-assign, assignment]
    copying.run()
    assert copying.calls == ["prepare", "release"]


def test_the_server_ends_a_silent_session(database: str, connection: Connection) -> None:
    seen: list[str] = []

    class Looking(LogWorker):
        def handle(self, connection: Connection) -> RoundResult:
            for name in ("idle_session_timeout", "idle_in_transaction_session_timeout"):
                row = connection.execute("SELECT current_setting(%s)", (name,)).fetchone()
                assert row is not None
                seen.append(row[0])
            return RoundResult(more=True)

    Looking(
        Settings(database_url=database), lambda: bool(seen), "looking", "one", LogFeed(),
        idle_session_timeout_ms=15_000, idle_in_transaction_timeout_ms=7_000,
    ).run()  # fmt: skip
    assert seen == ["15s", "7s"]


class TestOneBatch:
    def test_the_caller_who_rolls_back_moves_no_checkpoint(
        self, copying: Copying, connection: Connection
    ) -> None:
        fill(connection, 5)
        PROCESSOR.open(connection)
        with pytest.raises(ZeroDivisionError), connection.transaction():
            handle_batch(connection, PROCESSOR, copying.feed, lambda _batches: 1 // 0, events=10)
        assert sum(PROCESSOR.positions(connection).values()) == 0

    def test_what_is_left_is_named(self, copying: Copying, connection: Connection) -> None:
        fill(connection, 5, users=1)
        PROCESSOR.open(connection)
        results = []
        for _ in range(3):
            with connection.transaction():
                results.append(handle_batch(connection, PROCESSOR, copying.feed, len, events=3))
        assert results == [RoundResult(passed=3, more=True), RoundResult(passed=2), RoundResult()]

    def test_claims_that_are_not_admitted_stay(self, copying: Copying, connection: Connection) -> None:
        fill(connection, 5)
        PROCESSOR.open(connection)
        with connection.transaction():
            result = handle_batch(
                connection, PROCESSOR, copying.feed, len, events=10, admit=lambda claims: claims[:1]
            )
        assert len([each for each in PROCESSOR.positions(connection).values() if each]) == 1
        assert result.passed < 5

    @pytest.mark.parametrize(("between", "passed"), [(0, 3), (1, 1)])
    def test_what_the_work_appended_is_passed_if_nothing_stands_between(
        self, copying: Copying, connection: Connection, between: int, passed: int
    ) -> None:
        fill(connection, 1 + between, users=1)
        PROCESSOR.open(connection)
        own: dict[int, set[int]] = {}

        def work(_batches: Batches) -> None:
            for each in log.append(connection, [noted(f"made {number}", "user 0") for number in range(2)]):
                own.setdefault(each.partition, set()).add(each.position)

        with connection.transaction():
            result = handle_batch(connection, PROCESSOR, copying.feed, work, events=1, own=own)
        assert (result.passed, sum(PROCESSOR.positions(connection).values())) == (passed, passed)
