"""What a reader of the log has in hand of what Kafka brought. No Kafka in here: anybody may offer."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from events.platform.sql import statement
from events.store.checkpoints import Claim, Processor, read_claimed
from events.store.event_line import EventLineError, parse_line
from events.store.log import Connection
from events.store.verification import SEED
from events.types.envelope import Event

logger = logging.getLogger(__name__)

_PACKAGE = "projectors.kafka"
_ROOM = 4_096
_PATIENCE_S = 0.5

R = TypeVar("R")


@dataclass(slots=True)
class _PartitionBuffer(Generic[R]):
    """One partition: what was offered, in the order it came, and the line of each position.

    A position whose lines differ has None: one of them is not what the log holds, and the log is to say which.
    """

    offers: deque[tuple[int, R]] = field(default_factory=deque)
    lines: dict[int, bytes | None] = field(default_factory=dict)

    def offer(self, position: int, line: bytes, receipt: R) -> None:
        if self.lines.setdefault(position, line or None) != line:
            self.lines[position] = None
        self.offers.append((position, receipt))

    def let_go(self, until: int, head: int | None) -> list[R]:
        """Receipts of what is at or below ``until`` or above ``head``, as far as that goes in the order of arrival."""
        gone = []
        while self.offers:
            position, _ = self.offers[0]
            if position > until and (head is None or position <= head):
                break
            gone.append(self.offers.popleft()[1])
            self.lines.pop(position, None)
        return gone

    def behind(self, claim: Claim, limit: int) -> list[bytes]:
        """The lines right behind ``claim``, without a gap."""
        lines = []
        for position in range(claim.position + 1, min(claim.head, claim.position + limit) + 1):
            line = self.lines.get(position)
            if line is None:
                break
            lines.append(line)
        return lines


class StreamFeed(Generic[R]):
    """A feed that others fill, a message at a time, each with a receipt that is given back once it is passed.

    Postgres decides everything. What is at or below a checkpoint is let go, a gap is filled from the log, and
    a batch only counts if the chain of its digests leads to the log's: messages of another log, or of one that was
    restored to an earlier day, are let go. Every few seconds the log itself is asked, and what has waited
    in it since the time before is read from there: nothing waits for a message that was lost, or for a broker that is
    away. Safe from any thread, for one reader at a time.
    """

    def __init__(self, *, look_every_s: float, room: int = _ROOM) -> None:
        self._look_every_s = look_every_s
        self._room = room
        self._lock = threading.Condition()
        self._hands: dict[int, _PartitionBuffer[R]] = {}
        self._count = 0
        self._news = False
        self._assigned: frozenset[int] = frozenset()
        self._release: Callable[[list[R]], object] | None = None
        self._look_at = time.monotonic() + look_every_s
        self._heads: dict[int, int] = {}
        self._overdue: dict[int, int] = {}
        self._note: str | None = None
        self._strange: set[int] = set()

    # What whoever listens to Kafka calls.

    def attach(self, release: Callable[[list[R]], object]) -> None:
        """From now on receipts are given back to ``release``, from the reader's thread."""
        with self._lock:
            self._release = release

    def detach(self) -> None:
        """Nobody listens any more: what is in hand will come again."""
        with self._lock:
            self._release = None
            self._forget(list(self._hands))

    def assigned(self, partitions: Iterable[int]) -> None:
        """These partitions are this reader's, and all others are not; what is in hand of those will come elsewhere."""
        with self._lock:
            self._assigned = frozenset(partitions)
            self._forget([partition for partition in self._hands if partition not in self._assigned])

    def revoked(self, partitions: Iterable[int]) -> None:
        """These are no longer this reader's, or will come again from where they were acknowledged."""
        with self._lock:
            gone = set(partitions)
            self._assigned -= gone
            self._forget([partition for partition in self._hands if partition in gone])

    def offer(self, partition: int, position: int, line: bytes, receipt: R) -> None:
        """Take a message. An empty ``line`` says that there is such an event, and to look for it in the log."""
        with self._lock:
            self._hands.setdefault(partition, _PartitionBuffer()).offer(position, line, receipt)
            self._count += 1
            self._news = True
            self._lock.notify_all()

    @property
    def full(self) -> bool:
        """Whether whoever offers should wait until receipts are given back."""
        with self._lock:
            return self._count >= self._room

    def say(self, note: str | None) -> None:
        """What an operator should know of how it goes with Kafka."""
        with self._lock:
            self._note = note

    # What the reader calls: see events.store.feed.Feed.

    def open(self) -> bool:
        return True

    def close(self) -> None:
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
        """Let go of what is passed; the partitions with something behind the checkpoint in hand, or overdue."""
        now = time.monotonic()
        with self._lock:
            # Seen before the heads are: what of this is above them, the log does not hold.
            tops = {partition: max(hand.lines, default=0) for partition, hand in self._hands.items()}
        if not tops and not self._overdue and now < self._look_at:
            return []
        standing = processor.progress(connection)
        self._relinquish(tops, standing)
        self._overdue = {
            partition: head
            for partition, head in self._overdue.items()
            if partition in standing and standing[partition][0] < head
        }
        if now >= self._look_at:
            self._look(standing)
            self._look_at = now + self._look_every_s
        behind = {partition for partition, (position, head) in standing.items() if head > position}
        return sorted((behind & tops.keys()) | self._overdue.keys())

    def _look(self, standing: Mapping[int, tuple[int, int]]) -> None:
        """What was in the log at the last look and is not passed yet will not wait for Kafka any longer."""
        with self._lock:
            own = self._assigned or standing.keys()
        self._overdue |= {
            partition: head
            for partition, head in self._heads.items()
            if partition in own and partition in standing and standing[partition][0] < head
        }
        self._heads = {partition: head for partition, (_, head) in standing.items()}

    def read(
        self, connection: Connection, claims: Sequence[Claim], *, limit: int
    ) -> list[tuple[Claim, list[Event]]]:
        """From what is in hand where that is the log's, and from the log where it is not."""
        with self._lock:
            hands = {claim.partition: self._hands.get(claim.partition) for claim in claims}
            lines = {
                claim: hand.behind(claim, limit)
                for claim in claims
                if (hand := hands[claim.partition]) is not None
            }
        events = self._genuine(connection, {claim: found for claim, found in lines.items() if found})
        missing = [claim for claim in claims if claim not in events]
        if missing:
            events |= dict(read_claimed(connection, missing, limit=limit, keep_unreadable=True))
        return [(claim, events[claim]) for claim in claims]

    def _genuine(
        self, connection: Connection, lines: Mapping[Claim, list[bytes]]
    ) -> dict[Claim, list[Event]]:
        """The events of those claims whose lines are, to the last byte, what the log holds there."""
        last = {claim: claim.position + len(found) for claim, found in lines.items()}
        digests = self._digests(connection, last)
        events: dict[Claim, list[Event]] = {}
        for claim, found in lines.items():
            try:
                parsed = [parse_line(line) for line in found]
                # Where the log itself has a hole nothing fits, and reading it will say so.
                digest = digests.get((claim.partition, claim.position), b"")
                for line in parsed:
                    digest = line.digest_after(digest)
                if digest != digests.get((claim.partition, last[claim])):
                    raise EventLineError("is not what the log holds there")
                events[claim] = [line.event() for line in parsed]
            except EventLineError as error:
                self._refuse(claim.partition, str(error))
        return events

    @staticmethod
    def _digests(connection: Connection, last: Mapping[Claim, int]) -> dict[tuple[int, int], bytes]:
        """The log's digests at the beginning and at the end of what is to be read."""
        if not last:
            return {}
        places = [(claim.partition, position) for claim in last for position in (claim.position, last[claim])]
        rows = connection.execute(
            statement(_PACKAGE, "digests_at"),
            {"partitions": [each[0] for each in places], "positions": [each[1] for each in places]},
        ).fetchall()
        found = {(claim.partition, 0): SEED for claim in last}
        return found | {(partition, position): bytes(digest) for partition, position, digest in rows}

    def _refuse(self, partition: int, why: str) -> None:
        """What is in hand of the partition cannot be trusted: none of its lines are read, only its receipts kept."""
        with self._lock:
            hand = self._hands.get(partition)
            if hand is not None:
                hand.lines = dict.fromkeys(hand.lines)
        self._warn(partition, why)

    def _relinquish(self, tops: Mapping[int, int], standing: Mapping[int, tuple[int, int]]) -> None:
        receipts: list[R] = []
        strange = []
        with self._lock:
            for partition, top in tops.items():
                hand = self._hands.get(partition)
                if hand is None:
                    continue
                position, head = standing.get(partition, (0, 0))
                if top > head:
                    strange.append(partition)
                receipts += hand.let_go(position, head if top > head else None)
                if not hand.offers:
                    del self._hands[partition]
            self._count -= len(receipts)
            release = self._release
        for partition in strange:
            self._warn(partition, "is beyond the end of the log")
        if receipts and release is not None:
            release(receipts)

    def _warn(self, partition: int, why: str) -> None:
        if partition not in self._strange:
            self._strange.add(partition)
            logger.warning(
                "a message of partition %d on Kafka %s: the log is read instead. Does another Cardlog publish to the "
                "same topic, or was this one restored to an earlier day?",
                partition, why,
                extra={"partition": partition},
            )  # fmt: skip

    def _forget(self, partitions: Iterable[int]) -> None:
        for partition in partitions:
            self._count -= len(self._hands.pop(partition).offers)
