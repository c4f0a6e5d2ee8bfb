"""The partitions that a model worker owns now, with the open turns of each."""

from collections.abc import Callable, Iterator, Sequence

from events.platform.database import Connection, statement
from events.platform.isolation import Culprit, is_the_datas_fault, isolate
from events.platform.settings import Settings
from events.store import log
from events.store.checkpoints import CheckpointMovedError, Claim, past, read_claimed
from events.store.feed import Feed
from events.store.log import Unreadable
from events.types.envelope import Event, NewEvent
from events.types.turns import TurnRecorded
from ingest.extraction import erased_turns
from ingest.extraction.workers.partition_window import ExtractionTask, PartitionWindow
from ingest.extraction.workers.rules_worker import PROCESSOR, TURN, read_ahead

# The open turns of all users, and the open turns that one user may have below that number: at first eight session
# batches, and one batch when many users have many turns.
_USER_LIMITS = ((1_024, 128), (2_048, 24), (4_096, 12))
_OPEN_TURNS = 2_048
_DEFERRED_TURNS = 32_768  # Positions of one partition, about 100 bytes each.
_PARTITIONS = 64
_IDLE_SESSION_TIMEOUT_MS = 15_000


class PartitionAssignment:
    """Holds a window for every owned partition. An advisory lock of the connection owns a partition.

    The server ends the session of a process that is stopped while it owns a partition, and so frees the partition.
    All methods need that same connection. A lost lock means a lost connection, and then nothing can be written. The
    assignment keeps at most about 4,000 turns in memory and leaves room for every user.
    """

    def __init__(
        self, settings: Settings, feed: Feed, unreadable: Callable[[Event, Unreadable], NewEvent]
    ) -> None:
        self._feed = feed
        self._settings = settings
        self._unreadable = unreadable
        self._windows: dict[int, PartitionWindow] = {}

    def __bool__(self) -> bool:
        return bool(self._windows)

    def forget(self) -> list[ExtractionTask]:
        """Drops all windows after the connection is lost. Returns the finished tasks that are not written."""
        done = [task for window in self._windows.values() for task in window.done()]
        self._windows.clear()
        return done

    def keep(self, connection: Connection) -> None:
        """Says to the server that this process lives. A worker that reads no more says nothing else for a while."""
        if self._windows:
            connection.execute(
                statement("events.store", "set_idle_session_timeout"), {"idle_ms": _IDLE_SESSION_TIMEOUT_MS}
            )

    def finished(self) -> Iterator[ExtractionTask]:
        """Yields the tasks that may be written now."""
        for window in self._windows.values():
            yield from window.finished()

    def split(self, task: ExtractionTask) -> tuple[ExtractionTask, ExtractionTask]:
        """Replaces a task of several turns by two halves and returns them."""
        return self._windows[task.turns[0].partition].split(task)

    def keep_remaining(self, task: ExtractionTask, turns: Sequence[Event]) -> None:
        """Takes the turns of a task that were erased out of it. ``turns`` are the others."""
        self._windows[task.turns[0].partition].keep_remaining(task, turns)

    def look(self, connection: Connection, now: float) -> tuple[list[ExtractionTask], bool]:
        """Takes partitions with news and reads on in every owned partition. Releases partitions without open turns.

        Returns the new tasks, and True when the log holds more events. ``now`` is in seconds, monotonic.
        """
        ready: list[ExtractionTask] = []
        open_turns = sum(window.turns for window in self._windows.values())
        if open_turns < _OPEN_TURNS:
            self._take(connection)
        if not self._windows:
            return ready, False
        more = False
        heads = log.heads(connection)
        claims = []
        room = _user_limit(open_turns) > 0
        for partition, window in list(self._windows.items()):
            if heads[partition] > window.seen:
                if room and window.aside < _DEFERRED_TURNS:
                    claims.append(Claim(partition, window.seen, heads[partition]))
            elif window.drained:
                self._give_back(connection, partition)
        ready += self._resume(connection, now, open_turns)
        if claims:
            for page in read_claimed(connection, claims, limit=self._settings.batch_events, types={TURN}):
                window = self._windows[page.claim.partition]
                most = _user_limit(sum(each.turns for each in self._windows.values()))
                for event in page.events:
                    unreadable = event.type == TURN and isinstance(event.payload, Unreadable)
                    if unreadable or isinstance(event.payload, TurnRecorded):
                        outcome = self._unreadable(event, event.payload) if unreadable else None
                        ready += window.see(event, now, most, outcome)
                window.seen = page.last
                more |= window.seen < page.claim.head
        for window in self._windows.values():
            ready += window.due(now)
        return ready, more

    def _resume(self, connection: Connection, now: float, open_turns: int) -> list[ExtractionTask]:
        """Reads deferred turns from the log again, as far as their users have room. Returns the new tasks."""
        ready: list[ExtractionTask] = []
        for window in self._windows.values():
            positions = window.resumable(_user_limit(open_turns)) if window.aside else []
            if not positions:
                continue
            for event in erased_turns.turns_at(connection, window.partition, positions):
                unreadable = isinstance(event.payload, Unreadable)
                outcome = self._unreadable(event, event.payload) if unreadable else None
                ready += window.resume(event, now, outcome)
            open_turns = sum(each.turns for each in self._windows.values())
        return ready

    def _take(self, connection: Connection) -> None:
        sought = self._feed.sought(connection, PROCESSOR)
        if sought is not None and not sought:
            return
        taken = [
            row[0]
            for row in connection.execute(
                statement("ingest.extraction.workers", "acquire_partitions"),
                {
                    "processor": PROCESSOR.name,
                    "generation": PROCESSOR.generation,
                    "partitions": None if sought is None else list(sought),
                    "held": list(self._windows),
                    "limit": _PARTITIONS,
                    "idle_ms": _IDLE_SESSION_TIMEOUT_MS,
                },
            )
        ]
        if not taken:
            return
        # The checkpoints are read after the lock, so no other worker can move them.
        positions = PROCESSOR.positions(connection)
        ahead = read_ahead(connection, {partition: positions[partition] for partition in taken})
        for partition in taken:
            at = positions[partition]
            self._windows[partition] = PartitionWindow(partition, at, self._settings, at, ahead[partition])

    def _give_back(self, connection: Connection, partition: int) -> None:
        del self._windows[partition]
        connection.execute(
            statement("ingest.extraction.workers", "release_partitions"),
            {"partitions": [partition], "idle_ms": _IDLE_SESSION_TIMEOUT_MS if self._windows else 0},
        )

    def write(
        self, connection: Connection
    ) -> tuple[list[ExtractionTask], int, list[Culprit[ExtractionTask]]]:
        """Appends the events of finished tasks and moves the checkpoints as far as possible, in one transaction.

        Returns the written tasks, the number of passed events, and the tasks whose events the database refuses. The
        refused tasks stay open, and the caller must give them another outcome. Raises
        :class:`events.store.checkpoints.CheckpointMovedError` when another worker moved a checkpoint.
        """
        leaving = list(self.finished())
        written: list[ExtractionTask] = []
        passed = 0

        def attempt(tasks: Sequence[ExtractionTask]) -> None:
            nonlocal passed
            passed += self._commit(connection, tasks)
            written.extend(tasks)

        culprits = isolate(leaving, attempt, blames=_blames)
        if not leaving:
            attempt(())
        return written, passed, culprits

    def _commit(self, connection: Connection, tasks: Sequence[ExtractionTask]) -> int:
        """Writes finished ``tasks`` in one transaction. Returns the number of passed events."""
        leaving: dict[int, list[ExtractionTask]] = {partition: [] for partition in self._windows}
        for task in tasks:
            leaving[task.turns[0].partition].append(task)
        moved = [
            window
            for partition, window in self._windows.items()
            if leaving[partition] or window.mark(without=[], seen=window.seen) != window.checkpoint
        ]
        if not moved:
            return 0
        batch = [event for task in tasks for event in task.outcome or ()]
        marks: dict[int, tuple[int, int]] = {}
        with connection.transaction():
            places: dict[int, set[int]] = {}
            for one in erased_turns.append(connection, batch):
                if not one.duplicate:
                    places.setdefault(one.partition, set()).add(one.position)
            for window in moved:
                seen = past(window.seen, places.get(window.partition, ()))
                marks[window.partition] = window.mark(without=leaving[window.partition], seen=seen), seen
            PROCESSOR.advance(
                connection,
                [(Claim(w.partition, w.checkpoint, w.seen), marks[w.partition][0]) for w in moved],
            )
        passed = 0
        for window in moved:
            mark, seen = marks[window.partition]
            passed += mark - window.checkpoint
            window.written(leaving[window.partition], mark=mark, seen=seen)
        if batch:
            log.announce(connection, batch)
        return passed


def _blames(error: Exception) -> bool:
    return is_the_datas_fault(error) and not isinstance(error, CheckpointMovedError)


def _user_limit(open_turns: int) -> int:
    """Returns the open turns that one user may have when all users together have ``open_turns``."""
    return next((most for limit, most in _USER_LIMITS if open_turns < limit), 0)
