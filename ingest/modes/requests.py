"""Requests for new vectors of the modes that everybody has. A vectors worker does them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg

from events.http.errors import ProblemError, invalid, missing
from events.modes.reembedding import InstallationPlan, InstallationPlanner
from events.platform.modes import GENERAL_MODE
from events.platform.sql import statement
from events.store.log import Connection
from events.types.envelope import uuid7


@dataclass(frozen=True, slots=True)
class RequestedReembedding:
    """What a re-embedding of the mode ``name`` does. ``reembedding_id`` None: nothing was asked for."""

    name: str
    plan: InstallationPlan
    reembedding_id: UUID | None

    def document(self, *, dry_run: bool) -> dict[str, Any]:
        """Returns the answer of the API."""
        state = "accepted" if self.reembedding_id is not None else "planned" if dry_run else "unneeded"
        return {
            "mode": self.name,
            "project_id": None,
            "state": state,
            "reembedding_id": self.reembedding_id,
            "embedder": self.plan.slots[self.name]["then"],
            "cards": self.plan.cards,
            "other": self.plan.other,
            "waiting": self.plan.waiting,
            "texts_per_s": self.plan.texts_per_s,
            "seconds": self.plan.seconds,
            "model_calls": 0,
        }


def reembed_everybody(
    connection: Connection,
    name: str,
    everybody: Mapping[str, str],
    planner: InstallationPlanner,
    caller: str | None,
    *,
    dry_run: bool,
) -> RequestedReembedding:
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
    if dry_run or not plan.needed:
        return RequestedReembedding(name, plan, None)
    names = {
        "reembedding_id": uuid7(),
        "mode": name,
        "embedder": plan.slots[name]["then"],
        "requested_by": caller,
    }
    row = connection.execute(statement("ingest.modes", "request_reembedding"), names).fetchone()
    assert row is not None
    return RequestedReembedding(name, plan, row[0])
