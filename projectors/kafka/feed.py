"""The feed that holds messages of Kafka for one processor. This module does not use Kafka itself."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Generic, TypeVar

from events.platform.chains import SEED
from events.platform.database import Connection, statement
from events.store.checkpoints import Claim, Processor, read_claimed
from events.store.event_line import EventLine, EventLineError, parse_line, with_keys
from events.types.envelope import Event

logger = logging.getLogger(__name__)

_PACKAGE = "projectors.kafka"
_CAPACITY = 4_096
_PATIENCE_S = 0.5

R = TypeVar("R")


@dataclass(slots=True)
class _PartitionBuffer(Generic[R]):
    """The messages of one partition: the offers in order of arrival, and the line of each position.

    A position with two different lines has None. The event of such a position is read from the log.
    """

    offers: deque[tuple[int, R]] = field(default_factory=deque)
    lines: dict[int, bytes | None] = field(default_factory=dict)

    def offer(self, position: int, line: bytes, receipt: R) -> None:
        if self.lines.setdefault(position, line or None) != line:
            self.lines[position] = None
        self.offers.append((position, receipt))

    def remove(self, until: int, head: int | None) -> list[R]:
        """Removes the oldest offers while their positions are at most ``until`` or above ``head``.

        Returns the receipts of these offers. None for ``head`` means no upper bound.
        """
        removed = []
        while self.offers:
            position, _ = self.offers[0]
            if position > until and (head is None or position <= head):
                break
            removed.append(self.offers.popleft()[1])
            self.lines.pop(position, None)
        return removed

    def behind(self, claim: Claim, limit: int) -> list[bytes]:
        """Returns at most ``limit`` lines right behind ``claim``, without a gap."""
        lines = []
        for position in range(claim.position + 1, min(claim.head, claim.position + limit) + 1):
            line = self.lines.get(position)
            if line is None:
                break
            lines.append(line)
        return lines


class StreamFeed(Generic[R]):
    """Feeds a processor from offered messages. Each message has a receipt, which is released after the event passed.

    Postgres decides which events count. Messages at or below a checkpoint are released. A gap is filled from the log.
    A batch counts only if its chain of digests leads to the digest in the log. Messages of another log, or of a log
    that was restored to an earlier day, are therefore released. Every ``look_every_s`` seconds the feed looks into the
    log. Events that already waited at the look before are then read from the log, so no event waits for a lost message
    or for a broker that is away. All methods may be called from any thread. Only one processor reads the feed.
    """

    def __init__(self, *, look_every_s: float, capacity: int = _CAPACITY) -> None:
        self._look_every_s = look_every_s
        self._capacity = capacity
        self._lock = threading.Condition()
        self._buffers: dict[int, _PartitionBuffer[R]] = {}
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
            self._forget(list(self._buffers))

    def assigned(self, partitions: Iterable[int]) -> None:
        """Sets the partitions of this worker. Messages of other partitions are dropped and go to other workers."""
        with self._lock:
            self._assigned = frozenset(partitions)
            self._forget([partition for partition in self._buffers if partition not in self._assigned])

    def revoked(self, partitions: Iterable[int]) -> None:
        """Takes partitions from this worker and drops their messages. Kafka repeats the unacknowledged messages."""
        with self._lock:
            gone = set(partitions)
            self._assigned -= gone
            self._forget([partition for partition in self._buffers if partition in gone])

    def offer(self, partition: int, position: int, line: bytes, receipt: R) -> None:
        """Takes a message. An empty ``line`` means that the event must be read from the log."""
        with self._lock:
            self._buffers.setdefault(partition, _PartitionBuffer()).offer(position, line, receipt)
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
            tops = {partition: max(buffer.lines, default=0) for partition, buffer in self._buffers.items()}
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

    def read(
        self, connection: Connection, claims: Sequence[Claim], *, limit: int
    ) -> list[tuple[Claim, list[Event]]]:
        """Returns the next events, from genuine messages where possible, and from the log otherwise."""
        with self._lock:
            buffers = {claim.partition: self._buffers.get(claim.partition) for claim in claims}
            lines = {
                claim: buffer.behind(claim, limit)
                for claim in claims
                if (buffer := buffers[claim.partition]) is not None
            }
        events = self._genuine(connection, {claim: found for claim, found in lines.items() if found})
        missing = [claim for claim in claims if claim not in events]
        if missing:
            events |= dict(read_claimed(connection, missing, limit=limit))
        return [(claim, events[claim]) for claim in claims]

    def _genuine(
        self, connection: Connection, lines: Mapping[Claim, list[bytes]]
    ) -> dict[Claim, list[Event]]:
        """Returns the events of the claims whose lines equal the log to the last byte."""
        last = {claim: claim.position + len(found) for claim, found in lines.items()}
        digests = self._digests(connection, last)
        genuine: dict[Claim, list[EventLine]] = {}
        for claim, found in lines.items():
            try:
                parsed = [parse_line(line) for line in found]
                # A hole in the log makes every digest wrong. The read from the log then reports the hole.
                digest = digests.get((claim.partition, claim.position), b"")
                for line in parsed:
                    digest = line.digest_after(digest)
                if digest != digests.get((claim.partition, last[claim])):
                    raise EventLineError("differs from the log")
                genuine[claim] = parsed
            except EventLineError as error:
                self._distrust(claim.partition, str(error))
        openable = with_keys(connection, list(chain(*genuine.values())))
        events: dict[Claim, list[Event]] = {}
        for claim, parsed in genuine.items():
            own, openable = openable[: len(parsed)], openable[len(parsed) :]
            try:
                events[claim] = [line.event() for line in own]
            except EventLineError as error:
                self._distrust(claim.partition, str(error))
        return events

    @staticmethod
    def _digests(connection: Connection, last: Mapping[Claim, int]) -> dict[tuple[int, int], bytes]:
        """Returns the digests of the log before the first and at the last position of each claim."""
        if not last:
            return {}
        places = [(claim.partition, position) for claim in last for position in (claim.position, last[claim])]
        rows = connection.execute(
            statement(_PACKAGE, "digests_at"),
            {"partitions": [each[0] for each in places], "positions": [each[1] for each in places]},
        ).fetchall()
        found = {(claim.partition, 0): SEED for claim in last}
        return found | {(partition, position): bytes(digest) for partition, position, digest in rows}

    def _distrust(self, partition: int, why: str) -> None:
        """Discards all lines of the partition and keeps their receipts."""
        with self._lock:
            buffer = self._buffers.get(partition)
            if buffer is not None:
                buffer.lines = dict.fromkeys(buffer.lines)
        self._warn(partition, why)

    def _relinquish(self, tops: Mapping[int, int], progress: Mapping[int, tuple[int, int]]) -> None:
        receipts: list[R] = []
        suspect = []
        with self._lock:
            for partition, top in tops.items():
                buffer = self._buffers.get(partition)
                if buffer is None:
                    continue
                position, head = progress.get(partition, (0, 0))
                if top > head:
                    suspect.append(partition)
                receipts += buffer.remove(position, head if top > head else None)
                if not buffer.offers:
                    del self._buffers[partition]
            self._count -= len(receipts)
            release = self._release
        for partition in suspect:
            self._warn(partition, "is beyond the end of the log")
        if receipts and release is not None:
            release(receipts)

    def _warn(self, partition: int, why: str) -> None:
        if partition not in self._suspect:
            self._suspect.add(partition)
            logger.warning(
                "a message of partition %d on Kafka %s: the log is read instead. Does another Cardlog publish to the "
                "same topic, or was this one restored to an earlier day?",
                partition, why,
                extra={"partition": partition},
            )  # fmt: skip

    def _forget(self, partitions: Iterable[int]) -> None:
        for partition in partitions:
            self._count -= len(self._buffers.pop(partition).offers)
