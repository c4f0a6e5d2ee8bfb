"""The users of a tenant, a page at a time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from events.platform.sql import statement
from events.store.log import Connection
from events.types.tenancy import DEFAULT_TENANT, SEPARATOR, storage_id, user_of

_AFTER_ALL = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class KnownUser:
    """A user of whom the log holds events. ``erased_at`` is the last erasure of the whole user."""

    user_id: str
    erased_at: datetime | None


def users(connection: Connection, tenant: str, *, after: str = "", limit: int = 100) -> list[KnownUser]:
    """Returns up to ``limit`` users of a tenant whose ids come after ``after``, in the order of their bytes."""
    plain = tenant == DEFAULT_TENANT
    values = {
        "after": storage_id(tenant, after),
        "end": _AFTER_ALL if plain else f"{tenant}{chr(ord(SEPARATOR) + 1)}",
        "plain": plain,
        "limit": limit,
    }
    rows = connection.execute(statement("retrieval.export", "users"), values).fetchall()
    return [KnownUser(user_of(user), erased_at) for user, erased_at in rows]
