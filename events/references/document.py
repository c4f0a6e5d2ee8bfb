"""A reference as JSON: the one shape of every answer over HTTP and of the command."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel

from events.references.reference import Reference
from events.types.references import Tier


class ReferenceOut(BaseModel):
    """A reference. The ETag of the answer is its version."""

    kind: str
    key: str
    project_id: str | None
    team_id: str | None
    version: int
    tier: Tier
    tier_reason: str | None
    archived: bool
    data: Any
    rendering: str
    created_at: datetime
    updated_at: datetime


def reference_document(reference: Reference) -> dict[str, Any]:
    """Returns the fields of :class:`ReferenceOut`."""
    name = reference.name
    return {
        "kind": name.kind,
        "key": name.key,
        "project_id": name.project_id,
        "team_id": name.team_id,
        "version": reference.version,
        "tier": reference.tier,
        "tier_reason": reference.tier_reason,
        "archived": reference.archived,
        "data": reference.data,
        "rendering": reference.rendering,
        "created_at": reference.created_at,
        "updated_at": reference.updated_at,
    }
