"""The part of the log an extractor has in hand: turns above the checkpoint, some read, some being read, some not.

Pure bookkeeping: no database, no clock, no model.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from events.envelope import Event, NewEvent
from events.types.extraction import Usage
from ingest.bursts import Gathering, Limits
from ingest.conversation import Session
from ingest.extraction import Burst


@dataclass(slots=True, eq=False)
class Reading:
    """A burst on its way to events. ``outcome`` is set when it got there."""

    turns: tuple[Event, ...]
    burst: Burst | None = None
    outcome: list[NewEvent] | None = None
    not_before: float = 0.0
    tries: int = 0
    held_against: int = 0
    successes_seen: int = 0
    spent: Usage = field(default_factory=Usage)

    @property
    def user_id(self) -> str:
        return self.turns[0].user_id

    @property
    def session(self) -> Session:
        return self.turns[0].user_id, self.turns[0].stream


@dataclass(slots=True)
class Window:
    """One partition, from its checkpoint to as far as it was looked at.

    Turns are closed into readings in the order of their session, and readings of a session leave in that order,
    too. :meth:`mark` is the low water: everything at or below it is done for good.
    """

    partition: int
    checkpoint: int
    limits: Limits
    seen: int
    done_before: frozenset[int] = frozenset()
    _pending: dict[int, None] = field(default_factory=dict)
    _gathering: dict[Session, Gathering] = field(default_factory=dict)
    _queues: dict[Session, deque[Reading]] = field(default_factory=dict)

    def see(self, event: Event, now: float) -> list[Reading]:
        """Take a turn of the partition; gives the readings it closes."""
        if event.position in self.done_before:
            return []
        self._pending[event.position] = None
        session = (event.user_id, event.stream)
        gathering = self._gathering.setdefault(session, Gathering(self.limits))
        return [self._queued(turns) for turns in gathering.add(event, now)]

    def see_failed(self, event: Event, outcome: NewEvent) -> list[Reading]:
        """Take a turn that nobody can read, with what there is to say of it; it waits for its turn like any other."""
        if event.position in self.done_before:
            return []
        self._pending[event.position] = None
        gathering = self._gathering.get((event.user_id, event.stream))
        before = [self._queued(gathering.close())] if gathering is not None and gathering.turns else []
        self._queued((event,)).outcome = [outcome]
        return before

    def due(self, now: float) -> list[Reading]:
        """The readings closed because nothing came for long enough."""
        ready = [one for one in self._gathering.values() if one.due(now)]
        return [self._queued(one.close()) for one in ready]

    def _queued(self, turns: tuple[Event, ...]) -> Reading:
        reading = Reading(turns)
        self._queues.setdefault(reading.session, deque()).append(reading)
        return reading

    def split(self, reading: Reading) -> tuple[Reading, Reading]:
        """Put two halves in the place of a reading of several turns; what it cost stays with the first."""
        middle = len(reading.turns) // 2
        first, second = Reading(reading.turns[:middle]), Reading(reading.turns[middle:])
        first.spent = reading.spent
        queue = self._queues[reading.session]
        place = queue.index(reading)
        queue[place] = first
        queue.insert(place + 1, second)
        return first, second

    def finished(self) -> Iterator[Reading]:
        """The readings that may be written: done, and everything before them in their session is, too."""
        for queue in self._queues.values():
            for reading in queue:
                if reading.outcome is None:
                    break
                yield reading

    def done(self) -> Iterator[Reading]:
        """The readings that got to events, whether or not they may be written yet."""
        for queue in self._queues.values():
            yield from (reading for reading in queue if reading.outcome is not None)

    def written(self, readings: list[Reading], *, mark: int, seen: int) -> None:
        """``readings`` (of :meth:`finished`) were committed, together with the checkpoint at ``mark``."""
        for reading in readings:
            queue = self._queues[reading.session]
            queue.remove(reading)
            if not queue:
                del self._queues[reading.session]
            for turn in reading.turns:
                self._pending.pop(turn.position, None)
        self.checkpoint, self.seen = mark, seen
        for session in [key for key, one in self._gathering.items() if not one.turns]:
            del self._gathering[session]

    def mark(self, *, without: list[Reading], seen: int) -> int:
        """Where the checkpoint may stand once ``without`` are written and the log is looked at up to ``seen``."""
        leaving = {turn.position for reading in without for turn in reading.turns}
        for position in self._pending:
            if position not in leaving:
                return position - 1
        return seen

    @property
    def turns(self) -> int:
        """How many turns are in hand."""
        return len(self._pending)

    @property
    def drained(self) -> bool:
        """Whether everything looked at is done and written."""
        return not self._pending and self.checkpoint == self.seen
