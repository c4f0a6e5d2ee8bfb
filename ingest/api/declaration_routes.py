"""The declared kinds of a tenant and the members of teams, over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from events.access.principal import Principal
from events.http.access import Writer, owner_of, require_whole
from events.http.answering import routes_of
from events.http.errors import ProblemError, invalid, missing
from events.http.fields import Name, Words
from events.platform.database import Connection
from events.references.declarations import members
from events.references.owners import tenant_owner
from events.resources.references import DeclaredKind, Team
from events.types.references import TeamMemberAdded, TeamMemberRemoved
from ingest.api.transactions import Transactions
from ingest.decider import Command
from ingest.references import declarations


class KindIn(BaseModel, extra="forbid", populate_by_name=True):
    """A kind that the app declares."""

    schema_: dict[str, object] = Field(alias="schema", description="JSON Schema 2020-12 of the data")
    initial: Annotated[object, Field(description="the first value; else {}")] = None
    description: Words = "no description"


class MemberIn(BaseModel, extra="forbid"):
    """Who asks."""

    user_id: Name = Field(description="a member of the team, or its first member")


def declaration_router(transactions: Transactions) -> APIRouter:
    """Returns the routes of declared kinds and of teams."""
    router = routes_of("references")

    @router.put("/v1/reference-kinds/{kind}", summary="Declare a kind of the tenant")
    def declare_reference_kind(kind: str, body: KindIn, caller: Writer) -> DeclaredKind:
        require_whole(caller)
        if caller.users is not None:
            raise ProblemError(
                403,
                "Limited key",
                "this key is limited to users, and a kind is for all users of the tenant; use a key without that limit",
            )

        command = Command(actor=caller.key_id or "api", at=datetime.now(UTC))
        changed = transactions.run(
            tenant_owner(caller.tenant),
            lambda c: declarations.declare(
                c, caller.tenant, kind, body.schema_, body.initial, body.description, command
            ),
        )
        return DeclaredKind(kind=kind, changed=changed)

    @router.put(
        "/v1/teams/{team_id}/members/{member}",
        summary="Add a member to a team; the first member adds oneself",
    )
    def add_team_member(team_id: str, member: str, body: MemberIn, caller: Writer) -> Team:
        return changed(caller, TeamMemberAdded(team_id=team_id, member=member, by=body.user_id))

    @router.delete("/v1/teams/{team_id}/members/{member}", summary="Remove a member from a team")
    def remove_team_member(
        team_id: str, member: str, caller: Writer, user_id: Annotated[Name, Query()]
    ) -> Team:
        return changed(caller, TeamMemberRemoved(team_id=team_id, member=member, by=user_id))

    def changed(caller: Principal, change: TeamMemberAdded | TeamMemberRemoved) -> Team:
        team_id = change.team_id
        for user_id in (change.by, change.member):
            owner_of(caller, user_id, thing="team", field="team_id")
        if not caller.reach.admits("default", None):
            raise missing("team", "team_id")
        for field, value in (("team_id", team_id), ("member", change.member)):
            _check_path(field, value)
        command = Command(actor=f"user/{change.by}", at=datetime.now(UTC))

        def run(connection: Connection) -> Team:
            done = declarations.change_member(connection, caller.tenant, team_id, change, command)
            found = members(connection, caller.tenant, team_id)
            return Team(team_id=team_id, members=found, changed=done)

        return transactions.run(tenant_owner(caller.tenant), run)

    return router


def _check_path(field: str, value: str) -> None:
    if not value.strip() or len(value.encode()) > 512:
        raise invalid(field, "must be 1 to 512 bytes long")
