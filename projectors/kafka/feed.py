"""The feed that hears from Kafka which events are new. This module does not use Kafka itself."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from events.platform.database import Connection
from events.store.checkpoints import Processor

logger = logging.getLogger(__name__)

_CAPACITY = 4_096
_PATIENCE_S = 0.5

R = TypeVar("R")


class StreamFeed(Generic[R]):
    """Tells a processor of new events. Each offered message has a receipt, which is released after the event passed.

    A message only says that the log has an event: the event is read from the log. Messages at or below a checkpoint are
    released, and so are messages of another log that are beyond the end of this one. Every ``look_every_s`` seconds the
    feed looks into the log. Events that already waited at the look before are then due, so no event waits for a lost
    message or for a broker that is away. All methods may be called from any thread. Only one processor has the feed.
    """

    def __init__(self, *, look_every_s: float, capacity: int = _CAPACITY) -> None:
        self._look_every_s = look_every_s
        self._capacity = capacity
        self._lock = threading.Condition()
        # The positions and receipts of each partition, in order of arrival.
        self._offers: dict[int, deque[tuple[int, R]]] = {}
        self._count = 0
        self._news = False
        self._assigned: frozenset[int] = frozenset()
        self._release: Callable[[list[R]], object] | None = None
        self._look_at = time.monotonic() + look_every_s
        self._heads: dict[int, int] = {}
        self._overdue: dict[int, int] = {}
        self._note: str | None = None
        self._suspect: set[int] = set()

    # The listener of Kafka calls these methods.

    def attach(self, release: Callable[[list[R]], object]) -> None:
        """Releases receipts to ``release`` from now on, in the thread of the processor."""
        with self._lock:
            self._release = release

    def detach(self) -> None:
        """Drops all messages, because the listener ended. Kafka repeats these messages."""
        with self._lock:
            self._release = None
            self._forget(list(self._offers))

    def assigned(self, partitions: Iterable[int]) -> None:
        """Sets the partitions of this worker. Messages of other partitions are dropped and go to other workers."""
        with self._lock:
            self._assigned = frozenset(partitions)
            self._forget([partition for partition in self._offers if partition not in self._assigned])

    def revoked(self, partitions: Iterable[int]) -> None:
        """Takes partitions from this worker and drops their messages. Kafka repeats the unacknowledged messages."""
        with self._lock:
            gone = set(partitions)
            self._assigned -= gone
            self._forget([partition for partition in self._offers if partition in gone])

    def offer(self, partition: int, position: int, receipt: R) -> None:
        """Takes the news of an event."""
        with self._lock:
            self._offers.setdefault(partition, deque()).append((position, receipt))
            self._count += 1
            self._news = True
            self._lock.notify_all()

    @property
    def full(self) -> bool:
        """True when the listener should wait until receipts are released."""
        with self._lock:
            return self._count >= self._capacity

    def set_note(self, note: str | None) -> None:
        """Sets the remark about Kafka for operators. None removes it."""
        with self._lock:
            self._note = note

    # The subscription calls these methods: see events.store.feed.Feed.

    def open(self, connection: Connection) -> None:
        pass

    @property
    def note(self) -> str | None:
        with self._lock:
            return self._note and f"{self._note}; the log is read every {self._look_every_s:g} s instead"

    def wait(self, patience: float | None = None) -> None:
        with self._lock:
            if not self._news:
                self._lock.wait(_PATIENCE_S if patience is None else patience)
            self._news = False

    def sought(self, connection: Connection, processor: Processor) -> Sequence[int]:
        """Releases the passed messages. Returns the partitions with a message behind the checkpoint or overdue."""
        now = time.monotonic()
        with self._lock:
            # The heads are read afterwards. Positions above these heads are therefore not in the log.
            tops = {each: max(position for position, _ in offers) for each, offers in self._offers.items()}
        if not tops and not self._overdue and now < self._look_at:
            return []
        progress = processor.progress(connection)
        self._relinquish(tops, progress)
        self._overdue = {
            partition: head
            for partition, head in self._overdue.items()
            if partition in progress and progress[partition][0] < head
        }
        if now >= self._look_at:
            self._look(progress)
            self._look_at = now + self._look_every_s
        behind = {partition for partition, (position, head) in progress.items() if head > position}
        return sorted((behind & tops.keys()) | self._overdue.keys())

    def _look(self, progress: Mapping[int, tuple[int, int]]) -> None:
        """Marks events as overdue that the log held at the last look and that are not passed yet."""
        with self._lock:
            own = self._assigned or progress.keys()
        self._overdue |= {
            partition: head
            for partition, head in self._heads.items()
            if partition in own and partition in progress and progress[partition][0] < head
        }
        self._heads = {partition: head for partition, (_, head) in progress.items()}

    def _relinquish(self, tops: Mapping[int, int], progress: Mapping[int, tuple[int, int]]) -> None:
        receipts: list[R] = []
        suspect = []
        with self._lock:
            for partition, top in tops.items():
                offers = self._offers.get(partition)
                if offers is None:
                    continue
                passed, head = progress.get(partition, (0, 0))
                if top > head:
                    suspect.append(partition)
                # A message that arrived after the heads were read may be of a newer event. ``top`` is of before.
                while offers and (offers[0][0] <= passed or head < offers[0][0] <= top):
                    receipts.append(offers.popleft()[1])
                if not offers:
                    del self._offers[partition]
            self._count -= len(receipts)
            release = self._release
        for partition in suspect:
            self._warn(partition)
        if receipts and release is not None:
            release(receipts)

    def _warn(self, partition: int) -> None:
        if partition not in self._suspect:
            self._suspect.add(partition)
            logger.warning(
                "a message of partition %d on Kafka is beyond the end of the log. Does another Cardlog publish to the "
                "same topic, or was this one restored to an earlier day?",
                partition,
                extra={"partition": partition},
            )

    def _forget(self, partitions: Iterable[int]) -> None:
        for partition in partitions:
            self._count -= len(self._offers.pop(partition))
