"""The documents of users at the end of the log, for writers: the live tables and the events above their checkpoint."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

from events.core.fold import Present
from events.platform.database import Connection, one_row, statement
from events.platform.settings import Settings
from events.store.asking import answered_by
from events.types.core import CORE_TYPES
from events.types.envelope import partition_of
from events.types.tenancy import DEFAULT_TENANT, SEPARATOR, tenant_of
from projectors.cards.arbitration import Thresholds
from projectors.core.card_feed import StateFeed
from projectors.core.loading import presenting
from projectors.generations.projector import Rows

_PACKAGE = "projectors.core"


class LiveDocuments:
    """Reads documents on a connection of the caller, within the transaction of the caller."""

    def __init__(self, feed: StateFeed) -> None:
        self._feed = feed
        self._types = sorted(CORE_TYPES | feed.types)
        self._folded = False

    def present(
        self,
        connection: Connection,
        storage_id: str,
        *,
        history: bool = False,
        entries: Iterable[UUID] = (),
    ) -> Present:
        """Returns the present document of a user; the empty one of a user of whom nothing is known."""
        asking = presenting(storage_id, self._feed, history=history, entries=tuple(entries))
        return answered_by(lambda query: self._rows(connection, *query), asking)

    def has_later(self, connection: Connection, storage_id: str, after: int, before: int) -> bool:
        """True when the log has an event between two positions that may change the document."""
        if before <= after + 1:
            return False
        row = one_row(
            connection,
            statement(_PACKAGE, "live_later_event"),
            {
                "partition": partition_of(storage_id),
                "user_id": storage_id,
                "after": after,
                "before": before,
                "types": self._types,
            },
        )
        return bool(row[0])

    def keys_of_others(self, connection: Connection, storage_id: str) -> list[list[str]]:
        """Returns the keys that other users of the tenant made, a list for each user. At most 500 users count."""
        rows = self._rows(connection, "live_keys_of_others", others_of(storage_id))
        return [row["keys"] for row in rows]

    def changed_users(self, connection: Connection, since: datetime, after: str) -> list[str]:
        """Returns the next users, of all tenants, whose documents changed since an instant, in order."""
        rows = self._rows(connection, "live_changed_users", {"since": since, "after": after})
        return [row["user_id"] for row in rows]

    def _rows(self, connection: Connection, name: str, values: Mapping[str, object]) -> Rows:
        """Returns rows of the live tables. Before the first fold there are no tables and no rows."""
        with connection.cursor(row_factory=dict_row) as cursor:
            if self._folded:
                return cursor.execute(statement(_PACKAGE, name), values).fetchall()
            try:
                with connection.transaction():
                    rows = cursor.execute(statement(_PACKAGE, name), values).fetchall()
            except psycopg.errors.UndefinedTable:
                return []
            if name == "live_present":
                self._folded = True  # Tables that were there once stay.
            return rows


def others_of(storage_id: str) -> dict[str, str]:
    """Returns the parameters of the statement about other users of a tenant."""
    tenant = tenant_of(storage_id)
    return {"user_id": storage_id, "prefix": "" if tenant == DEFAULT_TENANT else f"{tenant}{SEPARATOR}"}


def feed_of(settings: Settings) -> StateFeed:
    """Returns the feed with the settings of the cards."""
    return StateFeed(supersede=settings.supersede_fork, thresholds=Thresholds.of(settings))


def documents_of(settings: Settings) -> LiveDocuments:
    """Returns the documents as writers see them."""
    return LiveDocuments(feed_of(settings))
