"""References as they are read: the present values, the values then, and their history."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import psycopg
from psycopg.sql import SQL

from events.platform.database import Row, statement
from events.references.declarations import member_stream
from events.references.owners import team_owner, tenant_owner
from events.references.reference import TYPES, Reference, folded, reference_of
from events.references.reference_log import (
    STATE,
    THEN,
    parameters_of,
    references_in,
    state_of,
    state_parameters,
)
from events.store import log
from events.store.asking import latest
from events.types.envelope import Event, partition_of
from events.types.json_values import Json
from events.types.references import TeamMemberAdded
from events.types.tenancy import storage_id
from retrieval.pool import Pool, rows_if_folded, rows_of

_PACKAGE = "retrieval"
PRESENT = statement(_PACKAGE, "present_objects")
TEAMS = statement(_PACKAGE, "teams_of")
"""The storage ids of the teams of a member."""
MAX_LISTED = 5000
"""The most references of a user and the user's teams that a list looks at."""


@dataclass(frozen=True, slots=True)
class Change:
    """One version of a reference, with the value before it when that was asked for."""

    event: Event
    before: Json = None


class ReferenceReader:
    """Reads references of one user at a time. A write is seen at once, whatever the projector's lag is.

    ``pool`` must be of the primary. Methods raise psycopg.Error when Postgres is away.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def reference(
        self, owner: str, stream: str, *, version: int | None = None, as_of: datetime | None = None
    ) -> Reference | None:
        """Returns the reference now, at ``version``, or as of an instant. None: there is none, or was none then."""
        return state_of(await self._rows(owner, STATE, **state_parameters(owner, stream, version, as_of)))

    async def history(
        self, owner: str, stream: str, *, below: int | None, limit: int, values: bool
    ) -> list[Change]:
        """Returns up to ``limit`` versions below ``below``, the latest first, with ``values`` before them or not."""
        query = latest(owner, stream, below, limit + 1)
        events = [log.event_of(row) for row in await self._rows(owner, query.text, **query.values)]
        if not values:
            return [Change(event) for event in events[:limit]]
        found, data = [], None
        if events and events[-1].version > 1:
            oldest = await self.reference(owner, stream, version=events[-1].version)
            data = None if oldest is None else oldest.data
        for event in reversed(events):
            if event.version > events[-1].version or event.version == 1:
                found.append(Change(event, data))
            data = getattr(event.payload, "data", data)
        return found[::-1][:limit]

    async def present(self, owners: Sequence[str]) -> list[Reference]:
        """Returns the present references of owners, in the order of their kinds and keys, without archived ones."""
        asked = present_parameters(owners)
        try:
            rows = await self._rows(owners[0], PRESENT, **asked)
        except psycopg.errors.UndefinedTable:  # before the first fold
            rows = await self._rows(owners[0], statement(_PACKAGE, "unfolded_events"), **asked)
        return sorted(present_in(rows), key=_by_name)

    async def past(
        self, owners: Sequence[str], as_of: datetime | None, known_at: datetime | None
    ) -> list[Reference]:
        """Returns the references that owners had at ``as_of``, by what was recorded at ``known_at``, in that order."""
        rows = await self._rows(owners[0], THEN, **parameters_of(owners, as_of, known_at))
        return sorted((each for each, _ in references_in(rows)), key=_by_name)

    async def owners_of(self, user: str) -> list[str]:
        """Returns the storage ids whose references a user may read: the user's own, and those of the user's teams."""
        rows = await rows_if_folded(self._pool, user, TEAMS, {"member": user})
        return [user, *(row["owner"] for row in rows)]

    async def is_member(self, tenant: str, team_id: str, user_id: str) -> bool:
        """True when the user is in the team."""
        owner = team_owner(tenant, team_id)
        query = latest(owner, member_stream(user_id), limit=1)
        rows = await self._rows(owner, query.text, **query.values)
        return bool(rows) and rows[0]["type"] == TeamMemberAdded.__name__

    async def kinds(self, tenant: str) -> list[Row]:
        """Returns the kinds that the tenant declared."""
        owner = tenant_owner(tenant)
        return await rows_if_folded(
            self._pool, owner, statement(_PACKAGE, "declared_kinds"), {"owner": owner}
        )

    async def proposals(
        self,
        user: str,
        projects: list[str] | None,
        *,
        status: str | None,
        before: UUID | None,
        limit: int,
    ) -> list[Row]:
        """Returns proposals for a user, the latest first, within ``projects``; None: all of them."""
        names = {"user_id": user, "projects": projects, "status": status, "before": before, "limit": limit}
        return await rows_if_folded(self._pool, user, statement(_PACKAGE, "proposals"), names)

    async def _rows(self, owner: str, query: SQL, /, **parameters: object) -> list[Row]:
        return await rows_of(self._pool, owner, query, parameters)


def _by_name(reference: Reference) -> tuple[str, str, str, str]:
    name = reference.name
    return name.kind, name.key, name.project_id or "", name.team_id or ""


def owner_in(tenant: str, user_id: str, team_id: str | None) -> str:
    """Returns the storage id that owns a reference of the user or of the team."""
    return storage_id(tenant, user_id) if team_id is None else team_owner(tenant, team_id)


def present_parameters(owners: Sequence[str]) -> dict[str, object]:
    """Returns the parameters of :data:`PRESENT`."""
    return {
        "owners": list(owners),
        "partitions": [partition_of(owner) for owner in owners],
        "types": sorted(TYPES),
        "limit": MAX_LISTED,
    }


def present_in(rows: Iterable[dict[str, object]]) -> list[Reference]:
    """Returns the references of the rows of :data:`PRESENT` that did not move, archived ones included."""
    found: dict[tuple[str, str], Reference] = {}
    for row in rows:
        if not row.get("unfolded", True):
            each = reference_of(row)
            found[each.owner, each.stream] = each
            continue
        event = log.event_of({name: row[name] for name in log.EVENT_COLUMNS})
        place = (event.user_id, event.stream)
        before = found.get(place)
        if before is None or before.version < event.version:
            after = folded(event, before)
            if after is not None:
                found[place] = after
    return [each for each in found.values() if each.moved_to is None]
