"""The part of the log an extractor has in hand: turns above the checkpoint, some read, some being read, some not.

Pure bookkeeping: no database, no clock, no model.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from events.types.envelope import Event, NewEvent
from events.types.extraction import Usage
from ingest.extraction.conversation import Session
from ingest.extraction.extractor_port import SessionBatch
from ingest.extraction.workers.session_batcher import SessionBatcher, SessionBatchLimits


@dataclass(slots=True, eq=False)
class ExtractionTask:
    """A burst on its way to events. ``outcome`` is set when it got there."""

    turns: tuple[Event, ...]
    burst: SessionBatch | None = None
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
class PartitionWindow:
    """One partition, from its checkpoint to as far as it was looked at.

    Turns are closed into readings in the order of their session, and readings of a session leave in that order,
    too. :meth:`mark` is the low water: everything at or below it is done for good.

    Of a user with a long backlog only so many turns are in hand. The others are set aside: their positions are kept,
    their words are not, so that the partition is read on for everybody else. They come back in their order.
    """

    partition: int
    checkpoint: int
    limits: SessionBatchLimits
    seen: int
    done_before: frozenset[int] = frozenset()
    _pending: dict[int, None] = field(default_factory=dict)
    _gathering: dict[Session, SessionBatcher] = field(default_factory=dict)
    _queues: dict[Session, deque[ExtractionTask]] = field(default_factory=dict)
    _of_user: Counter[str] = field(default_factory=Counter)
    _aside: dict[str, deque[int]] = field(default_factory=dict)

    def see(self, event: Event, now: float, most: int | None = None) -> list[ExtractionTask]:
        """Take a turn of the partition; gives the readings it closes. It is set aside where ``most`` turns of its
        user are in hand, or others of them are aside."""
        return self._taken(event, now) if self._is_new(event, most) else []

    def see_failed(self, event: Event, outcome: NewEvent, most: int | None = None) -> list[ExtractionTask]:
        """Take a turn that nobody can read, with what there is to say of it; it waits for its turn like any other."""
        return self._failed(event, outcome) if self._is_new(event, most) else []

    def _is_new(self, event: Event, most: int | None) -> bool:
        """Whether the turn is to be taken in hand now; notes it in any case."""
        if event.position in self.done_before:
            return False
        self._pending[event.position] = None
        user_id = event.user_id
        if user_id in self._aside or (most is not None and self._of_user[user_id] >= most):
            self._aside.setdefault(user_id, deque()).append(event.position)
            return False
        self._of_user[user_id] += 1
        return True

    def resumable(self, most: int) -> list[int]:
        """The positions of turns set aside whose users have room for them again; some at a time, not one by one."""
        found: list[int] = []
        for user_id, positions in self._aside.items():
            if self._of_user[user_id] <= most * 3 // 4:
                found += islice(positions, most - self._of_user[user_id])
        return sorted(found)

    def resume(self, event: Event, now: float, outcome: NewEvent | None = None) -> list[ExtractionTask]:
        """Take a turn of :meth:`resumable` in hand, read anew from the log; each user's in their order. ``outcome`` is
        what there is to say of a turn that nobody can read."""
        positions = self._aside[event.user_id]
        assert positions[0] == event.position
        positions.popleft()
        if not positions:
            del self._aside[event.user_id]
        self._of_user[event.user_id] += 1
        return self._taken(event, now) if outcome is None else self._failed(event, outcome)

    def _taken(self, event: Event, now: float) -> list[ExtractionTask]:
        session = (event.user_id, event.stream)
        gathering = self._gathering.setdefault(session, SessionBatcher(self.limits))
        return [self._queued(turns) for turns in gathering.add(event, now)]

    def _failed(self, event: Event, outcome: NewEvent) -> list[ExtractionTask]:
        gathering = self._gathering.get((event.user_id, event.stream))
        before = [self._queued(gathering.close())] if gathering is not None and gathering.turns else []
        self._queued((event,)).outcome = [outcome]
        return before

    def due(self, now: float) -> list[ExtractionTask]:
        """The readings closed because nothing came for long enough."""
        ready = [one for one in self._gathering.values() if one.due(now)]
        return [self._queued(one.close()) for one in ready]

    def _queued(self, turns: tuple[Event, ...]) -> ExtractionTask:
        task = ExtractionTask(turns)
        self._queues.setdefault(task.session, deque()).append(task)
        return task

    def split(self, task: ExtractionTask) -> tuple[ExtractionTask, ExtractionTask]:
        """Put two halves in the place of a reading of several turns; what it cost stays with the first."""
        middle = len(task.turns) // 2
        first, second = ExtractionTask(task.turns[:middle]), ExtractionTask(task.turns[middle:])
        first.spent = task.spent
        queue = self._queues[task.session]
        place = queue.index(task)
        queue[place] = first
        queue.insert(place + 1, second)
        return first, second

    def finished(self) -> Iterator[ExtractionTask]:
        """The readings that may be written: done, and everything before them in their session is, too."""
        for queue in self._queues.values():
            for task in queue:
                if task.outcome is None:
                    break
                yield task

    def done(self) -> Iterator[ExtractionTask]:
        """The readings that got to events, whether or not they may be written yet."""
        for queue in self._queues.values():
            yield from (task for task in queue if task.outcome is not None)

    def written(self, tasks: list[ExtractionTask], *, mark: int, seen: int) -> None:
        """``readings`` (of :meth:`finished`) were committed, together with the checkpoint at ``mark``."""
        for task in tasks:
            queue = self._queues[task.session]
            queue.remove(task)
            if not queue:
                del self._queues[task.session]
            for turn in task.turns:
                if turn.position in self._pending:
                    del self._pending[turn.position]
                    self._of_user[turn.user_id] -= 1
            if not self._of_user[task.user_id]:
                del self._of_user[task.user_id]
        self.checkpoint, self.seen = mark, seen
        for session in [key for key, one in self._gathering.items() if not one.turns]:
            del self._gathering[session]

    def mark(self, *, without: list[ExtractionTask], seen: int) -> int:
        """Where the checkpoint may stand once ``without`` are written and the log is looked at up to ``seen``."""
        leaving = {turn.position for task in without for turn in task.turns}
        for position in self._pending:
            if position not in leaving:
                return position - 1
        return seen

    @property
    def turns(self) -> int:
        """How many turns are in hand."""
        return self._of_user.total()

    @property
    def aside(self) -> int:
        """How many turns are set aside."""
        return len(self._pending) - self._of_user.total()

    @property
    def drained(self) -> bool:
        """Whether everything looked at is done and written."""
        return not self._pending and self.checkpoint == self.seen
