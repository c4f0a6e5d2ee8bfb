"""The open turns of one partition above its checkpoint: waiting, in extraction, or finished.

This module keeps records only. It has no database, no clock and no model.
"""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from events.platform.settings import Settings
from events.types.envelope import Event, NewEvent
from events.types.extraction import Usage
from events.types.tombstones import Erased
from ingest.extraction.conversation import Session
from ingest.extraction.extractor_port import SessionBatch
from ingest.extraction.workers.session_batcher import SessionBatcher


@dataclass(slots=True, eq=False)
class ExtractionTask:
    """A session batch in extraction. ``outcome`` holds its events when it is finished.

    ``not_before`` is the earliest time of the next try, in seconds (monotonic). ``held_against`` counts failures while
    other calls succeeded. ``spent`` is the usage of the earlier tries. ``reread`` is True after an erasure of turns.
    """

    turns: tuple[Event, ...]
    batch: SessionBatch | None = None
    outcome: list[NewEvent] | None = None
    not_before: float = 0.0
    tries: int = 0
    held_against: int = 0
    successes_seen: int = 0
    spent: Usage = field(default_factory=Usage)
    reread: bool = False

    @property
    def user_id(self) -> str:
        return self.turns[0].user_id

    @property
    def session(self) -> Session:
        return self.turns[0].user_id, self.turns[0].stream


@dataclass(slots=True)
class PartitionWindow:
    """One partition from its checkpoint to ``seen``, the last position read.

    Turns become tasks in the order of their session, and the tasks of a session are written in that order.
    :meth:`mark` is the low-water mark: every turn at or below it is done.

    A user has a limited number of open turns. The other turns of the user are deferred: the window keeps their
    positions and not their text. The partition can therefore be read on for all other users. Deferred turns come back
    in their order.
    """

    partition: int
    checkpoint: int
    settings: Settings
    seen: int
    done_before: frozenset[int] = frozenset()
    _pending: dict[int, None] = field(default_factory=dict)
    _batchers: dict[Session, SessionBatcher] = field(default_factory=dict)
    _queues: dict[Session, deque[ExtractionTask]] = field(default_factory=dict)
    _of_user: Counter[str] = field(default_factory=Counter)
    _aside: dict[str, deque[int]] = field(default_factory=dict)

    def see(
        self, event: Event, now: float, most: int | None = None, outcome: NewEvent | None = None
    ) -> list[ExtractionTask]:
        """Takes a turn of the partition and returns the tasks that it completes.

        The turn is deferred when its user has ``most`` open turns, or deferred turns already. ``outcome`` is the
        failure of an unreadable turn. It is written in the order of the session.
        """
        if event.position in self.done_before:
            return []
        self._pending[event.position] = None
        user_id = event.user_id
        if user_id in self._aside or (most is not None and self._of_user[user_id] >= most):
            self._aside.setdefault(user_id, deque()).append(event.position)
            return []
        return self._opened(event, now, outcome)

    def resumable(self, most: int) -> list[int]:
        """Returns the positions of deferred turns whose users have room again, several for each user."""
        found: list[int] = []
        for user_id, positions in self._aside.items():
            if self._of_user[user_id] <= most * 3 // 4:
                found += islice(positions, most - self._of_user[user_id])
        return sorted(found)

    def resume(self, event: Event, now: float, outcome: NewEvent | None = None) -> list[ExtractionTask]:
        """Opens a turn of :meth:`resumable`, in the order of its user, and returns the tasks that it completes.

        ``outcome`` as in :meth:`see`. A turn that was erased meanwhile is done.
        """
        positions = self._aside[event.user_id]
        assert positions[0] == event.position
        positions.popleft()
        if not positions:
            del self._aside[event.user_id]
        if isinstance(event.payload, Erased):
            del self._pending[event.position]
            return []
        return self._opened(event, now, outcome)

    def _opened(self, event: Event, now: float, outcome: NewEvent | None) -> list[ExtractionTask]:
        self._of_user[event.user_id] += 1
        session = (event.user_id, event.stream)
        batcher = self._batchers.setdefault(session, SessionBatcher(self.settings))
        if outcome is None:
            return [self._queued(turns) for turns in batcher.add(event, now)]
        before = [self._queued(batcher.close())] if batcher.turns else []
        self._queued((event,)).outcome = [outcome]
        return before

    def due(self, now: float) -> list[ExtractionTask]:
        """Returns the tasks of sessions whose turns have waited long enough for more turns."""
        ready = [one for one in self._batchers.values() if one.due(now)]
        return [self._queued(one.close()) for one in ready]

    def _queued(self, turns: tuple[Event, ...]) -> ExtractionTask:
        task = ExtractionTask(turns)
        self._queues.setdefault(task.session, deque()).append(task)
        return task

    def split(self, task: ExtractionTask) -> tuple[ExtractionTask, ExtractionTask]:
        """Replaces a task of several turns by two halves. The first half keeps the usage."""
        middle = len(task.turns) // 2
        first, second = ExtractionTask(task.turns[:middle]), ExtractionTask(task.turns[middle:])
        first.spent = task.spent
        queue = self._queues[task.session]
        place = queue.index(task)
        queue[place] = first
        queue.insert(place + 1, second)
        return first, second

    def keep_remaining(self, task: ExtractionTask, turns: Sequence[Event]) -> None:
        """Takes the turns of a task that were erased out of it: they are done. ``turns`` are the others, if any.

        A task without turns is finished, and its last turn stays in it for the order of the session.
        """
        kept = {turn.position for turn in turns or task.turns[-1:]}
        for gone in task.turns:
            if gone.position not in kept:
                del self._pending[gone.position]
                self._of_user[gone.user_id] -= 1
        task.turns = tuple(turns) or task.turns[-1:]
        task.batch, task.outcome = None, None if turns else []

    def finished(self) -> Iterator[ExtractionTask]:
        """Yields the tasks that may be written: they and all tasks before them in their session are finished."""
        for queue in self._queues.values():
            for task in queue:
                if task.outcome is None:
                    break
                yield task

    def done(self) -> Iterator[ExtractionTask]:
        """Yields every task with an outcome, also those that may not be written yet."""
        for queue in self._queues.values():
            yield from (task for task in queue if task.outcome is not None)

    def written(self, tasks: list[ExtractionTask], *, mark: int, seen: int) -> None:
        """Removes ``tasks`` (of :meth:`finished`) after their commit with the checkpoint at ``mark``."""
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
        for session in [key for key, one in self._batchers.items() if not one.turns]:
            del self._batchers[session]

    def mark(self, *, without: list[ExtractionTask], seen: int) -> int:
        """Returns the checkpoint after ``without`` are written and the log is read up to ``seen``."""
        leaving = {turn.position for task in without for turn in task.turns}
        for position in self._pending:
            if position not in leaving:
                return position - 1
        return seen

    @property
    def turns(self) -> int:
        """The number of open turns."""
        return self._of_user.total()

    @property
    def aside(self) -> int:
        """The number of deferred turns."""
        return len(self._pending) - self._of_user.total()

    @property
    def drained(self) -> bool:
        """True when every turn that was read is extracted and written."""
        return not self._pending and self.checkpoint == self.seen
