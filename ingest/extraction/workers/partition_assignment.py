"""The partitions an extractor owns at the moment, and what it has in hand of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from events.platform.isolation import Culprit, is_the_datas_fault, isolate
from events.platform.settings import Settings
from events.platform.sql import statement
from events.store import log
from events.store.checkpoints import CheckpointMovedError, Claim, Connection
from events.store.feed import Feed
from events.store.log import Unreadable
from events.store.rows import rows_of
from events.types.envelope import Event, NewEvent
from events.types.turns import TurnRecorded
from ingest.extraction.workers.partition_window import ExtractionTask, PartitionWindow
from ingest.extraction.workers.rules_worker import PROCESSOR, TURN, read_ahead
from ingest.extraction.workers.session_batcher import SessionBatchLimits

# The turns of one user in hand, by how many there are of all: eight bursts at first; where many users have much to
# say, still one burst of whoever comes next.
_OF_ONE = ((1_024, 128), (2_048, 24), (4_096, 12))
_TURNS_IN_HAND = 2_048
_TURNS_ASIDE = 32_768  # of one partition: positions, about 100 bytes each
_PARTITIONS = 64


class PartitionAssignment:
    """Windows on partitions, each locked for as long as the connection lives that took it.

    All methods must be given that one connection: whoever lost the lock has lost the connection with it, and can
    write nothing. Memory holds at most about 4,000 turns, and of no user so many that others find no room.
    """

    def __init__(
        self, settings: Settings, feed: Feed, unreadable: Callable[[Event, Unreadable], NewEvent]
    ) -> None:
        self._feed = feed
        self._limits = SessionBatchLimits.of(settings)
        self._page = settings.batch_events
        self._unreadable = unreadable
        self._windows: dict[int, PartitionWindow] = {}

    def __bool__(self) -> bool:
        return bool(self._windows)

    def forget(self) -> list[ExtractionTask]:
        """The connection is lost, and the partitions with it; gives what was done and is not written."""
        done = [task for window in self._windows.values() for task in window.done()]
        self._windows.clear()
        return done

    def finished(self) -> Iterator[ExtractionTask]:
        """What may be written."""
        for window in self._windows.values():
            yield from window.finished()

    def split(self, task: ExtractionTask) -> tuple[ExtractionTask, ExtractionTask]:
        """Halves in the place of a reading of several turns."""
        return self._windows[task.turns[0].partition].split(task)

    def look(self, connection: Connection, now: float) -> tuple[list[ExtractionTask], bool]:
        """Take partitions with news and read on in all there are; gives what is to be read, and whether there is more.

        Partitions where nothing is left to do are given back.
        """
        ready: list[ExtractionTask] = []
        in_hand = sum(window.turns for window in self._windows.values())
        if in_hand < _TURNS_IN_HAND:
            self._take(connection)
        if not self._windows:
            return ready, False
        more = False
        heads = log.heads(connection)
        claims = []
        room = _of_one(in_hand) > 0
        for partition, window in list(self._windows.items()):
            if heads[partition] > window.seen:
                if room and window.aside < _TURNS_ASIDE:
                    claims.append(Claim(partition, window.seen, heads[partition]))
            elif window.drained:
                self._give_back(connection, partition)
        ready += self._resume(connection, now, in_hand)
        if claims:
            for claim, page in self._feed.read(connection, claims, limit=self._page):
                window = self._windows[claim.partition]
                most = _of_one(sum(each.turns for each in self._windows.values()))
                for event in page:
                    if isinstance(event.payload, TurnRecorded):
                        ready += window.see(event, now, most)
                    elif event.type == TURN and isinstance(event.payload, Unreadable):
                        ready += window.see_failed(event, self._unreadable(event, event.payload), most)
                window.seen = page[-1].position
                more |= window.seen < claim.head
        for window in self._windows.values():
            ready += window.due(now)
        return ready, more

    def _resume(self, connection: Connection, now: float, in_hand: int) -> list[ExtractionTask]:
        """Take turns in hand again that were set aside, as far as their users have room."""
        ready: list[ExtractionTask] = []
        for window in self._windows.values():
            positions = window.resumable(_of_one(in_hand)) if window.aside else []
            if not positions:
                continue
            rows = rows_of(
                connection,
                statement("ingest.extraction.workers", "turns_at"),
                {"partition": window.partition, "positions": positions},
            )
            for event in map(log.event_if_readable, rows):
                unreadable = isinstance(event.payload, Unreadable)
                outcome = self._unreadable(event, event.payload) if unreadable else None
                ready += window.resume(event, now, outcome)
            in_hand = sum(each.turns for each in self._windows.values())
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
                },
            )
        ]
        if not taken:
            return
        # Asked only now that nobody else can move them.
        positions = PROCESSOR.positions(connection)
        ahead = read_ahead(connection, {partition: positions[partition] for partition in taken})
        for partition in taken:
            at = positions[partition]
            self._windows[partition] = PartitionWindow(partition, at, self._limits, at, ahead[partition])

    def _give_back(self, connection: Connection, partition: int) -> None:
        del self._windows[partition]
        connection.execute(
            statement("ingest.extraction.workers", "release_partitions"), {"partitions": [partition]}
        )

    def write(
        self, connection: Connection
    ) -> tuple[list[ExtractionTask], int, list[Culprit[ExtractionTask]]]:
        """Append what is done and move the checkpoints as far as they may go, together.

        Gives the readings that were written, how many events of the log were passed for good, and the readings whose
        events the database does not take: those are still here, and what they came to must be put another way.
        Raises :class:`events.store.checkpoints.CheckpointMovedError` where somebody else moved a checkpoint.
        """
        leaving = list(self.finished())
        written: list[ExtractionTask] = []
        passed = 0

        def attempt(some: Sequence[ExtractionTask]) -> None:
            nonlocal passed
            passed += self._commit(connection, some)
            written.extend(some)

        culprits = isolate(leaving, attempt, blames=_blames)
        if not leaving:
            attempt(())
        return written, passed, culprits

    def _commit(self, connection: Connection, some: Sequence[ExtractionTask]) -> int:
        """Write ``some`` of what is finished in one transaction; gives how many events were passed for good."""
        leaving: dict[int, list[ExtractionTask]] = {partition: [] for partition in self._windows}
        for task in some:
            leaving[task.turns[0].partition].append(task)
        moved = [
            window
            for partition, window in self._windows.items()
            if leaving[partition] or window.mark(without=[], seen=window.seen) != window.checkpoint
        ]
        if not moved:
            return 0
        batch = [event for task in some for event in task.outcome or ()]
        marks: dict[int, tuple[int, int]] = {}
        with connection.transaction():
            places: dict[int, list[int]] = {}
            for one in log.append(connection, batch):
                if not one.duplicate:
                    places.setdefault(one.partition, []).append(one.position)
            for window in moved:
                seen = _seen_with(window.seen, places.get(window.partition, []))
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


def _of_one(in_hand: int) -> int:
    """How many turns of one user may be in hand where there are ``in_hand`` of all."""
    return next((most for limit, most in _OF_ONE if in_hand < limit), 0)


def _seen_with(seen: int, appended: Sequence[int]) -> int:
    """How far the partition is known, when what was just appended follows on what was looked at already."""
    for position in appended:
        if position != seen + 1:
            break
        seen = position
    return seen
