"""The webhooks of users as the log has them, and the counts of their messages."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from events.platform.database import Connection, tuples_of
from events.platform.sql import statement
from events.store import asking, log
from events.store.rows import rows_of
from events.types.envelope import Event, partition_of
from events.types.webhooks import STREAM
from events.webhooks.webhook import Webhook, fold

_PACKAGE = "events.webhooks"


def webhooks_of(connection: Connection, owners: Collection[str]) -> dict[str, dict[UUID, Webhook]]:
    """Returns the webhooks of each of ``owners`` at the end of the log. An owner without events has no entry."""
    values = {
        "partitions": sorted({partition_of(owner) for owner in owners}),
        "users": sorted(owners),
        "stream": STREAM,
    }
    events: dict[str, list[Event]] = {}
    for event in map(log.event_if_readable, rows_of(connection, statement(_PACKAGE, "entries"), values)):
        events.setdefault(event.user_id, []).append(event)
    return {owner: fold(each) for owner, each in events.items()}


def counts_of(connection: Connection, owner: str) -> dict[UUID, tuple[int, int, str | None]]:
    """Returns for each webhook the messages that wait, the dead ones, and the last error."""
    rows = tuples_of(connection, statement(_PACKAGE, "counts"), {"user_id": owner})
    return {webhook_id: (pending, dead, error) for webhook_id, pending, dead, error in rows}


def lock(connection: Connection, owner: str) -> None:
    """Lets commands about one user's webhooks work one after the other, until the caller's transaction ends."""
    asking.lock(connection, owner, STREAM)
