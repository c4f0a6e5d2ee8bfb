"""Why no event was shown: a user or an event type that the log does not have, or a filter that nothing meets."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from events.platform.database import Connection
from events.platform.sql import statement
from events.types.codec import known_types
from events.types.envelope import partition_of


def reason_for_none(connection: Connection, parameters: dict[str, Any], user: str | None) -> tuple[str, bool]:
    """Returns one sentence, and True when the user or the type does not exist at all.

    ``parameters`` are those of the statement ``show_events``, and ``user`` is the user's name on the command line.
    """
    storage = parameters["user_id"]
    if storage is not None and not _exists(
        connection, "user_exists", {"partition": partition_of(storage), "user_id": storage}
    ):
        return f"the log has no event of the user {user!r}", True
    kind = parameters["type"]
    if kind is not None and not _exists(connection, "type_exists", {"type": kind}):
        if kind in known_types():
            return f"the log has no event of the type {kind} yet", False
        near = get_close_matches(kind, known_types(), n=1, cutoff=0.5)
        guess = f"did you mean {near[0]}?" if near else "`cardlog log stats` lists the types of the log"
        return f"there is no event type {kind!r}; {guess}", True
    return "no event meets the filter", False


def _exists(connection: Connection, name: str, parameters: dict[str, Any]) -> bool:
    row = connection.execute(statement("deploy.commands.operate", name), parameters).fetchone()
    return bool(row and row[0])
