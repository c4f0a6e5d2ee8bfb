"""Where a reader of the log hears of news and takes events from: the log itself, or whoever carries it further."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from events.platform.database import Connection, connect_with_retry
from events.store.checkpoints import Claim, Processor, read_claimed
from events.store.log import Follower
from events.types.envelope import Event


class Feed(Protocol):
    """Brings events to one reader, who alone decides what of them counts: by the checkpoints in Postgres.

    A feed may be late, repeat itself, or miss out things; what :meth:`read` gives is right behind the claims and is
    what the log holds there, all the same.
    """

    def open(self) -> bool:
        """Make ready, however long it takes; False when told to stop on the way."""

    def close(self) -> None:
        """Let go of what :meth:`open` took. It may be opened again."""

    def wait(self, patience: float | None = None) -> None:
        """Return when there is news, or when ``patience`` seconds (its own measure by default) have passed."""

    @property
    def note(self) -> str | None:
        """What an operator should know of how it goes."""

    def sought(self, connection: Connection, processor: Processor) -> Sequence[int] | None:
        """The partitions ``processor`` may find news in; None for any."""

    def read(
        self, connection: Connection, claims: Sequence[Claim], *, limit: int
    ) -> list[tuple[Claim, list[Event]]]:
        """The next events, at most ``limit`` of each claimed partition, as :func:`read_claimed` gives them."""


class LogFeed:
    """The log itself. News is announced over a connection of its own; that of other ``types`` than those named waits
    until the next look."""

    note = None

    def __init__(
        self,
        url: str,
        application: str,
        stopping: Callable[[], bool],
        types: Collection[str] | None = None,
    ) -> None:
        self._url = url
        self._types = types
        self._application = application
        self._stopping = stopping
        self._connection: Connection | None = None
        self._follower: Follower | None = None

    def open(self) -> bool:
        """Listen for what is appended from now on."""
        self._connection = connect_with_retry(
            self._url, application=f"{self._application} listener", stopping=self._stopping
        )
        if self._connection is None:
            return False
        self._follower = Follower(self._connection, self._types)
        return True

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._connection.close()
        self._connection = self._follower = None

    def wait(self, patience: float | None = None) -> None:
        assert self._follower is not None, "open it first"
        self._follower.wait(patience)

    def sought(self, connection: Connection, processor: Processor) -> None:
        return None

    def read(
        self, connection: Connection, claims: Sequence[Claim], *, limit: int
    ) -> list[tuple[Claim, list[Event]]]:
        return read_claimed(connection, claims, limit=limit, keep_unreadable=True)
