"""References over HTTP: create, change, archive, restore and move them. Proposals, teams and declared kinds."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Response
from pydantic import Field

from events.access.principal import Principal
from events.http.access import Writer, owner_of, require_whole
from events.http.answering import routes_of
from events.http.body import Body
from events.http.errors import ProblemError, invalid, missing
from events.http.fields import Name, Uuid, Words
from events.platform.database import Connection
from events.references.declarations import is_member, kind_of, members
from events.references.kinds.kind import Kind
from events.references.owners import team_owner, tenant_owner
from events.references.reference import TYPES, Reference
from events.resources import references as resources
from events.resources.references import (
    DeclaredKind,
    RefusedProposal,
    RetractedCard,
    Team,
    WrittenReference,
)
from events.types.references import MAX_VERSION, ReferenceName, TeamMemberAdded, TeamMemberRemoved, Tier
from ingest.api.transactions import OfUser, Sender, Sent, Transactions
from ingest.decider import Command, Outcome
from ingest.references import declarations, proposals, reference_commands
from ingest.references.reference_commands import ReferenceStream, not_found

_ETAG = re.compile(r'(?:W/)?"(\d{1,18})"')

PathName = Annotated[Name, Path()]
IfMatch = Annotated[
    str | None, Header(max_length=100, description='the version in quotes, as in the ETag: "7"')
]


class _Scoped(Body):
    """Who asks, and whose reference is meant: the user's own, a project's, or a team's."""

    user_id: Name = Field(description="who asks; the owner, unless team_id is set")
    project_id: Annotated[Name | None, Field(description="the project the reference belongs to")] = None
    team_id: Annotated[Name | None, Field(description="the team the reference belongs to")] = None
    agent_id: Annotated[Name | None, Field(description="the agent that acts for the user")] = None


class ReferenceIn(_Scoped, json_schema_extra={"examples": [{"user_id": "ada", "key": "groceries"}]}):
    """A new reference."""

    key: Name = Field(description="the name of the reference within its kind and scope")
    data: Annotated[object, Field(description="the first value; else the kind's own")] = None
    tier: Annotated[Tier, Field(description="pinned: always in a prompt")] = "session"


class OpIn(
    _Scoped,
    extra="allow",
    json_schema_extra={"examples": [{"user_id": "ada", "op": "add", "text": "buy milk"}]},
):
    """An op. The arguments of the op stand beside it."""

    op: str = Field(description="the name of the op", max_length=100)
    expected_version: Annotated[int | None, Field(ge=1, le=MAX_VERSION)] = None
    """the version that the caller saw; any other one is a 409"""
    turn_ids: list[Name] = Field([], max_length=100, description="the turns that asked for it")


class ArchiveIn(_Scoped):
    """Puts a reference away."""

    reason: Words | None = None


class RestoreIn(_Scoped):
    """Brings back a version."""

    version: Annotated[int | None, Field(ge=1, le=MAX_VERSION)] = None
    """the version; else the value before the archive"""


class TierIn(_Scoped):
    """Moves a reference to another tier."""

    tier: Tier
    reason: Words = "by hand"


class MoveIn(_Scoped):
    """Gives a reference another scope. Without a project and a team it becomes the user's own."""

    to_project_id: Name | None = None
    to_team_id: Name | None = None


def reference_router(transactions: Transactions) -> APIRouter:
    router = routes_of("references")

    @router.post("/v1/references/{kind}", status_code=201, summary="Create a reference")
    def create_reference(kind: str, body: ReferenceIn, sender: Sent, response: Response) -> WrittenReference:
        def run(stream: ReferenceStream, found: Kind) -> Outcome[Reference]:
            return reference_commands.create(stream, found, body.data, body.tier)

        return answer(sender, kind, body.key, body, response, run)

    @router.patch("/v1/references/{kind}/{key}", summary="Apply an op to a reference")
    def change_reference(
        kind: str, key: str, body: OpIn, sender: Sent, response: Response, if_match: IfMatch = None
    ) -> WrittenReference:
        op = {"op": body.op, **(body.model_extra or {})}
        expected = _expected(body.expected_version, if_match)
        return answer(
            sender, kind, key, body, response, lambda s, k: reference_commands.apply(s, k, op, expected)
        )

    @router.post("/v1/references/{kind}/{key}/archive", summary="Put a reference away")
    def archive_reference(
        kind: str, key: str, body: ArchiveIn, sender: Sent, response: Response
    ) -> WrittenReference:
        return answer(
            sender, kind, key, body, response, lambda s, _: reference_commands.archive(s, body.reason)
        )

    @router.post("/v1/references/{kind}/{key}/restore", summary="Bring back a version of a reference")
    def restore_reference(
        kind: str, key: str, body: RestoreIn, sender: Sent, response: Response
    ) -> WrittenReference:
        return answer(
            sender, kind, key, body, response, lambda s, k: reference_commands.restore(s, k, body.version)
        )

    @router.post(
        "/v1/references/{kind}/{key}/tier",
        summary="Move a reference to another tier",
        operation_id="change_reference_tier",
    )
    def tier(kind: str, key: str, body: TierIn, sender: Sent, response: Response) -> WrittenReference:
        def run(stream: ReferenceStream, _: Kind) -> Outcome[Reference]:
            return reference_commands.change_tier(stream, body.tier, body.reason)

        return answer(sender, kind, key, body, response, run)

    @router.post("/v1/references/{kind}/{key}/move", summary="Give a reference another scope")
    def move_reference(
        kind: str, key: str, body: MoveIn, sender: Sent, response: Response
    ) -> WrittenReference:
        def run(stream: ReferenceStream, _: Kind) -> Outcome[Reference]:
            to = ReferenceName(kind=kind, key=key, project_id=body.to_project_id, team_id=body.to_team_id)
            return reference_commands.move(stream, _owner(stream.connection, sender, body.user_id, to), to)

        return answer(sender, kind, key, body, response, run)

    def answer(
        sender: Sender,
        kind: str,
        key: str,
        body: _Scoped,
        response: Response,
        run: Callable[[ReferenceStream, Kind], Outcome[Reference]],
    ) -> WrittenReference:
        actor = f"user/{body.user_id}"
        if body.agent_id:
            # A team's reference belongs to nobody alone, so the actor names the member as well.
            in_team = body.team_id or (body.to_team_id if isinstance(body, MoveIn) else None)
            actor = f"agent/{body.agent_id}" + (f" for {actor}" if in_team else "")
        turn_ids = tuple(body.turn_ids) if isinstance(body, OpIn) else ()
        command = sender.command(body.user_id, "reference", "key", actor=actor, turn_ids=turn_ids)
        name = ReferenceName(kind=kind, key=key, project_id=body.project_id, team_id=body.team_id)
        tenant = sender.caller.tenant

        def sent(connection: Connection) -> Outcome[Reference]:
            own = replace(command, owner=_owner(connection, sender, body.user_id, name))
            return run(ReferenceStream(connection, name, own), kind_of(connection, tenant, kind))

        reference = transactions.run(command.owner, sent, TYPES).state
        response.headers["etag"] = f'"{reference.version}"'
        token = transactions.token(command.owner, reference.position)
        return WrittenReference.made_from(reference, token=token)

    return router


def _owner(connection: Connection, sender: Sender, user_id: str, name: ReferenceName) -> str:
    """Returns the storage id that owns the reference.

    Raises the 404 problem for somebody outside the team, and for a key that is limited to other projects or modes.
    """
    user, tenant = sender.caller.storage_id(user_id), sender.caller.tenant
    if not sender.caller.reach.admits(name.project_id or "default", None):
        raise not_found()
    if name.team_id is None:
        return user
    if not is_member(connection, tenant, name.team_id, user_id):
        raise not_found()
    return team_owner(tenant, name.team_id)


def _expected(in_body: int | None, if_match: str | None) -> int | None:
    if if_match is None or if_match.strip() == "*":
        return in_body
    found = _ETAG.fullmatch(if_match.strip())
    if found is None:
        raise ProblemError(
            422, "Invalid request", 'If-Match: must be one version in quotes, such as "7"', field="If-Match"
        )
    version = int(found[1])
    if in_body not in (None, version):
        raise invalid("expected_version", f"is {in_body}, and If-Match says {version}; send one of them")
    return version


class KindIn(Body, populate_by_name=True):
    """A kind that the app declares."""

    schema_: dict[str, object] = Field(alias="schema", description="JSON Schema 2020-12 of the data")
    initial: Annotated[object, Field(description="the first value; else {}")] = None
    description: Words = "no description"


class MemberIn(Body):
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

        owner = tenant_owner(caller.tenant)
        command = Command(owner=owner, actor=caller.key_id or "api", at=datetime.now(UTC))
        changed = transactions.run(
            owner,
            lambda c: declarations.declare(c, kind, body.schema_, body.initial, body.description, command),
        )
        return DeclaredKind(kind=kind, changed=changed)

    @router.put(
        "/v1/teams/{team_id}/members/{member}",
        summary="Add a member to a team; the first member adds oneself",
    )
    def add_team_member(team_id: PathName, member: PathName, body: MemberIn, caller: Writer) -> Team:
        return changed(caller, TeamMemberAdded(team_id=team_id, member=member, by=body.user_id))

    @router.delete("/v1/teams/{team_id}/members/{member}", summary="Remove a member from a team")
    def remove_team_member(
        team_id: PathName, member: PathName, caller: Writer, user_id: Annotated[Name, Query()]
    ) -> Team:
        return changed(caller, TeamMemberRemoved(team_id=team_id, member=member, by=user_id))

    def changed(caller: Principal, change: TeamMemberAdded | TeamMemberRemoved) -> Team:
        team_id = change.team_id
        for user_id in (change.by, change.member):
            owner_of(caller, user_id, thing="team", field="team_id")
        if not caller.reach.admits("default", None):
            raise missing("team", "team_id")
        owner = team_owner(caller.tenant, team_id)
        command = Command(owner=owner, actor=f"user/{change.by}", at=datetime.now(UTC))

        def run(connection: Connection) -> Team:
            done = declarations.change_member(connection, change, command)
            found = members(connection, caller.tenant, team_id)
            return Team(team_id=team_id, members=found, changed=done)

        return transactions.run(owner, run)

    return router


class ApproveProposalIn(OfUser):
    """Applies a proposal."""


class RefuseProposalIn(ApproveProposalIn):
    """Refuses a proposal."""

    reason: Words | None = None


def proposal_router(transactions: Transactions) -> APIRouter:
    router = routes_of("references")

    @router.post("/v1/proposals/{proposal_id}/accept", summary="Apply an op that prose asked for")
    def approve_proposal(
        proposal_id: Uuid, body: ApproveProposalIn, caller: Writer
    ) -> resources.Reference | RetractedCard:
        command = Sender(caller).command(body.user_id, "proposal")
        outcome = transactions.run(command.owner, lambda c: proposals.approve(c, proposal_id, command))
        if isinstance(outcome, RetractedCard):
            return outcome
        return resources.Reference.made_from(outcome.state)

    @router.post("/v1/proposals/{proposal_id}/refuse", summary="Refuse an op that prose asked for")
    def refuse_proposal(proposal_id: Uuid, body: RefuseProposalIn, caller: Writer) -> RefusedProposal:
        command = Sender(caller).command(body.user_id, "proposal")
        transactions.run(command.owner, lambda c: proposals.refuse(c, proposal_id, body.reason, command))
        return RefusedProposal(proposal_id=proposal_id, status="refused")

    return router
