"""Requests for new vectors of the modes that everybody has. A vectors worker does them."""

from __future__ import annotations

from collections.abc import Mapping

import psycopg

from events.http.errors import ProblemError, invalid, missing
from events.modes.reembedding import InstallationPlanner
from events.platform.database import Connection
from events.platform.modes import GENERAL_MODE
from events.platform.sql import statement
from events.resources.modes import Reembedding
from events.types.envelope import uuid7
from ingest.modes.mode_commands import reembedding


def reembed_everybody(
    connection: Connection,
    name: str,
    everybody: Mapping[str, str],
    planner: InstallationPlanner,
    caller: str | None,
    *,
    dry_run: bool,
) -> Reembedding:
    """Asks for new vectors of all cards of a mode that everybody has, by the embedder of the settings.

    One open request of a mode is enough: a repeated one has the same id. Nothing is asked for in a dry run, and when no
    card needs another vector. Raises a 404 problem for a mode that the settings do not name, a 422 problem with the
    remedy for a mode that cannot be embedded again, and a 403 problem when the role of this service sees one tenant.
    """
    if name != GENERAL_MODE and name not in everybody:
        raise missing("mode", "name")
    try:
        plan = planner(name, measure=dry_run)
    except ValueError as error:
        raise invalid("name", str(error)) from None
    except psycopg.errors.InsufficientPrivilege as error:
        raise ProblemError(403, "Not from this service", str(error)) from None
    embedder = plan.slots[name]["then"]
    if dry_run or not plan.needed:
        return reembedding(plan, name, embedder, None, dry_run=dry_run)
    names = {"reembedding_id": uuid7(), "mode": name, "embedder": embedder, "requested_by": caller}
    row = connection.execute(statement("ingest.modes", "request_reembedding"), names).fetchone()
    assert row is not None
    return reembedding(plan, name, embedder, row[0], dry_run=False)
