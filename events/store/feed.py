"""What tells a processor of new events: the log itself, or a stream that carries the log."""

from collections.abc import Collection, Sequence
from typing import Protocol

from events.platform.database import Connection
from events.store.checkpoints import Processor
from events.store.log import Follower


class Feed(Protocol):
    """Brings the news of events to one processor, which reads the events from the log.

    The checkpoints in Postgres decide which events count. News may be late, repeated or lost.
    """

    def open(self, connection: Connection) -> None:
        """Begins to bring news. ``connection`` is the processor's, which runs its rounds between the waits."""

    def wait(self, patience: float | None = None) -> None:
        """Waits for news, at most ``patience`` seconds. None means the feed's own limit."""

    @property
    def note(self) -> str | None:
        """The remark of the feed for operators, or None."""

    def sought(self, connection: Connection, processor: Processor) -> Sequence[int] | None:
        """Returns the partitions that may hold news for ``processor``. None means every partition."""


class LogFeed:
    """Brings the announcements of the log.

    The processor's connection also receives the announcements. News of ``types`` ends a wait. Events of other types
    wait for the next round. None means all types.
    """

    note = None

    def __init__(self, types: Collection[str] | None = None) -> None:
        self._types = types
        self._follower: Follower | None = None

    def open(self, connection: Connection) -> None:
        self._follower = Follower(connection, self._types)

    def wait(self, patience: float | None = None) -> None:
        assert self._follower is not None, "call open() first"
        self._follower.wait(patience)

    def sought(self, connection: Connection, processor: Processor) -> None:
        return None
