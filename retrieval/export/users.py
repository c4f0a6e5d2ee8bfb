"""The users of a tenant, a page at a time."""

from collections.abc import Collection

from events.platform.database import Connection, statement
from events.resources.operating import User
from events.types.envelope import partition_of
from events.types.tenancy import DEFAULT_TENANT, SEPARATOR, storage_id, user_of

_AFTER_ALL = "\U0010ffff"


def users(
    connection: Connection,
    tenant: str,
    *,
    after: str = "",
    limit: int = 100,
    among: Collection[str] | None = None,
) -> list[User]:
    """Returns up to ``limit`` users of a tenant whose ids come after ``after``, in the order of their bytes.

    A user is known when the log holds events of the user. ``among`` names the only users that count.
    """
    if among is not None:
        ids = [storage_id(tenant, user) for user in among if user > after]
        given = {"users": ids, "partitions": [partition_of(each) for each in ids], "limit": limit}
        rows = connection.execute(statement("retrieval.export", "users_among"), given).fetchall()
    else:
        plain = tenant == DEFAULT_TENANT
        values = {
            "after": storage_id(tenant, after),
            "end": _AFTER_ALL if plain else f"{tenant}{chr(ord(SEPARATOR) + 1)}",
            "plain": plain,
            "limit": limit,
        }
        rows = connection.execute(statement("retrieval.export", "users"), values).fetchall()
    return [User(user_id=user_of(user), erased_at=erased_at) for user, erased_at in rows]
