"""The port to the documents of users at the end of the log. The projection of documents implements it."""

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol
from uuid import UUID

from events.core.fold import Present
from events.http.errors import ProblemError
from events.platform.database import Connection


class Documents(Protocol):
    """Reads documents on a connection of the caller, within the transaction of the caller."""

    def present(
        self, connection: Connection, storage_id: str, *, history: bool = False, entries: Iterable[UUID] = ()
    ) -> Present:
        """Returns the present document of a user; the empty one of a user of whom nothing is known.

        With ``history`` it has all changes, and with ``entries`` these entries of the queue and the open ones.
        """

    def has_later(self, connection: Connection, storage_id: str, after: int, before: int) -> bool:
        """True when the log has an event between two positions that may change the document."""

    def keys_of_others(self, connection: Connection, storage_id: str) -> list[list[str]]:
        """Returns the keys that other users of the tenant made, a list for each user. At most 500 users count."""

    def changed_users(self, connection: Connection, since: datetime, after: str) -> list[str]:
        """Returns the next users, of all tenants, whose documents changed since an instant, in order."""


class NoDocuments:
    """The documents of a process that cannot fold them. Every command gets a 503 problem."""

    def present(
        self, connection: Connection, storage_id: str, *, history: bool = False, entries: Iterable[UUID] = ()
    ) -> Present:
        raise ProblemError(503, "Documents unavailable", "this process does not fold documents")

    def has_later(self, connection: Connection, storage_id: str, after: int, before: int) -> bool:
        return False

    def keys_of_others(self, connection: Connection, storage_id: str) -> list[list[str]]:
        return []

    def changed_users(self, connection: Connection, since: datetime, after: str) -> list[str]:
        return []
