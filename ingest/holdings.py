"""The partitions an extractor owns at the moment, and what it has in hand of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from events import log
from events.checkpoints import Claim, Connection
from events.envelope import Event, NewEvent
from events.feed import Feed
from events.log import Unreadable
from events.settings import Settings
from events.sql import statement
from events.types.turns import TurnRecorded
from ingest.bursts import Limits
from ingest.extractor import PROCESSOR, TURN, read_ahead
from ingest.window import Reading, Window

_TURNS_IN_HAND = 2_048
_TURNS_IN_HAND_OF_ONE = 512
_PARTITIONS = 64


class Holdings:
    """Windows on partitions, each locked for as long as the connection lives that took it.

    All methods must be given that one connection: whoever lost the lock has lost the connection with it, and can
    write nothing. Memory holds at most about 2,000 turns.
    """

    def __init__(
        self, settings: Settings, feed: Feed, unreadable: Callable[[Event, Unreadable], NewEvent]
    ) -> None:
        self._feed = feed
        self._limits = Limits.of(settings)
        self._page = settings.batch_events
        self._unreadable = unreadable
        self._windows: dict[int, Window] = {}

    def __bool__(self) -> bool:
        return bool(self._windows)

    def forget(self) -> list[Reading]:
        """The connection is lost, and the partitions with it; gives what was done and is not written."""
        done = [reading for window in self._windows.values() for reading in window.done()]
        self._windows.clear()
        return done

    def finished(self) -> Iterator[Reading]:
        """What may be written."""
        for window in self._windows.values():
            yield from window.finished()

    def split(self, reading: Reading) -> tuple[Reading, Reading]:
        """Halves in the place of a reading of several turns."""
        return self._windows[reading.turns[0].partition].split(reading)

    def look(self, connection: Connection, now: float) -> tuple[list[Reading], bool]:
        """Take partitions with news and read on in all there are; gives what is to be read, and whether there is more.

        Partitions where nothing is left to do are given back.
        """
        ready: list[Reading] = []
        in_hand = sum(window.turns for window in self._windows.values())
        if in_hand < _TURNS_IN_HAND:
            self._take(connection)
        if not self._windows:
            return ready, False
        more = False
        heads = log.heads(connection)
        claims = []
        for partition, window in list(self._windows.items()):
            if heads[partition] > window.seen:
                if in_hand < _TURNS_IN_HAND and window.turns < _TURNS_IN_HAND_OF_ONE:
                    claims.append(Claim(partition, window.seen, heads[partition]))
            elif window.drained:
                self._give_back(connection, partition)
        if claims:
            for claim, page in self._feed.read(connection, claims, limit=self._page):
                window = self._windows[claim.partition]
                for event in page:
                    if isinstance(event.payload, TurnRecorded):
                        ready += window.see(event, now)
                    elif event.type == TURN and isinstance(event.payload, Unreadable):
                        outcome = self._unreadable(event, event.payload)
                        ready += window.see_failed(event, outcome)
                window.seen = page[-1].position
                more |= window.seen < claim.head
        for window in self._windows.values():
            ready += window.due(now)
        return ready, more

    def _take(self, connection: Connection) -> None:
        sought = self._feed.sought(connection, PROCESSOR)
        if sought is not None and not sought:
            return
        taken = [
            row[0]
            for row in connection.execute(
                statement("ingest", "take_partitions"),
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
            self._windows[partition] = Window(partition, at, self._limits, at, ahead[partition])

    def _give_back(self, connection: Connection, partition: int) -> None:
        del self._windows[partition]
        connection.execute(statement("ingest", "give_back_partitions"), {"partitions": [partition]})

    def write(self, connection: Connection) -> tuple[list[Reading], int]:
        """Append what is done and move the checkpoints as far as they may go, in one transaction.

        Gives the readings that were written and how many events of the log were passed for good. Raises
        :class:`events.checkpoints.CheckpointMovedError` where somebody else moved one; nothing counts then.
        """
        leaving = {partition: list(window.finished()) for partition, window in self._windows.items()}
        moved = [
            window
            for partition, window in self._windows.items()
            if leaving[partition] or window.mark(without=[], seen=window.seen) != window.checkpoint
        ]
        if not moved:
            return [], 0
        batch = [
            event
            for window in moved
            for reading in leaving[window.partition]
            for event in reading.outcome or ()
        ]
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
        return [reading for readings in leaving.values() for reading in readings], passed


def _seen_with(seen: int, appended: Sequence[int]) -> int:
    """How far the partition is known, when what was just appended follows on what was looked at already."""
    for position in appended:
        if position != seen + 1:
            break
        seen = position
    return seen
