"""References over HTTP: create, change, archive, restore and move them. Teams and declared kinds."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

import psycopg
from fastapi import APIRouter, Header
from psycopg_pool import ConnectionPool
from pydantic import BaseModel, ConfigDict, Field

from events.access.principal import Principal
from events.http.access import Writer, owner_of
from events.http.database import problem_of
from events.http.errors import ProblemError, invalid
from events.http.service import JSONResponse
from events.http.tokens import Keyring
from events.references.declarations import is_member, kind_of
from events.references.document import ReferenceOut, reference_document
from events.references.kinds.kind import Kind
from events.references.owners import team_owner, tenant_owner
from events.references.reference import TYPES
from events.store.log import Connection
from events.types.references import MAX_VERSION, ReferenceName, Tier
from ingest.api.command_routes import Name, Words
from ingest.api.commands import commanding, load_sealer
from ingest.references import reference_commands
from ingest.references.reference_commands import Origin, Outcome, not_found

_T = TypeVar("_T")
_ETAG = re.compile(r'(?:W/)?"(\d{1,18})"')

IdempotencyKey = Annotated[
    str | None,
    Header(max_length=200, description="a command with a key that was seen before returns the first answer"),
]
IfMatch = Annotated[
    str | None, Header(max_length=100, description='the version in quotes, as in the ETag: "7"')
]


class _Scoped(BaseModel):
    """Who asks, and whose reference is meant: the user's own, a project's, or a team's."""

    user_id: Name = Field(description="who asks; the owner, unless team_id is set")
    project_id: Annotated[Name | None, Field(description="the project the reference belongs to")] = None
    team_id: Annotated[Name | None, Field(description="the team the reference belongs to")] = None
    agent_id: Annotated[Name | None, Field(description="the agent that acts for the user")] = None


class ReferenceIn(_Scoped):
    """A new reference."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"user_id": "ada", "key": "groceries"}]}
    )

    key: Name = Field(description="the name of the reference within its kind and scope")
    data: Annotated[Any, Field(description="the first value; else the kind's own")] = None
    tier: Annotated[Tier, Field(description="pinned: always in a prompt")] = "session"


class OpIn(_Scoped):
    """An op. The arguments of the op stand beside it."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={"examples": [{"user_id": "ada", "op": "add", "text": "buy milk"}]},
    )

    op: str = Field(description="the name of the op", max_length=100)
    expected_version: Annotated[
        int | None,
        Field(ge=1, le=MAX_VERSION, description="the version that the caller saw; any other one is a 409"),
    ] = None
    turn_ids: Annotated[list[Name], Field(max_length=100, description="the turns that asked for it")] = []


class ArchiveIn(_Scoped):
    """Puts a reference away."""

    model_config = ConfigDict(extra="forbid")

    reason: Words | None = None


class RestoreIn(_Scoped):
    """Brings back a version."""

    model_config = ConfigDict(extra="forbid")

    version: Annotated[
        int | None, Field(ge=1, le=MAX_VERSION, description="the version; else the value before the archive")
    ] = None


class TierIn(_Scoped):
    """Moves a reference to another tier."""

    model_config = ConfigDict(extra="forbid")

    tier: Tier
    reason: Words = "by hand"


class MoveIn(_Scoped):
    """Gives a reference another scope. Without a project and a team it becomes the user's own."""

    model_config = ConfigDict(extra="forbid")

    to_project_id: Name | None = None
    to_team_id: Name | None = None


class WrittenReference(ReferenceOut):
    """The reference after the command."""

    token: str = Field(description="give the token to wait_for of a recall to find the reference there")


def reference_router(pool: ConnectionPool[Connection], keyring: Keyring) -> APIRouter:
    """Returns the routes. They answer 503 while Postgres is away. The connections must be in autocommit mode."""
    router = APIRouter(tags=["references"])

    @router.post(
        "/v1/references/{kind}",
        status_code=201,
        response_model=WrittenReference,
        summary="Create a reference",
        operation_id="create_reference",
    )
    def create(
        kind: str, body: ReferenceIn, caller: Writer, idempotency_key: IdempotencyKey = None
    ) -> JSONResponse:
        def command(connection: Connection, owner: str, found: Kind, origin: Origin) -> Outcome:
            name = _name(kind, body.key, body)
            return reference_commands.create(connection, owner, name, found, body.data, body.tier, origin)

        return answer(caller, kind, body, command, idempotency_key, status=201)

    @router.patch(
        "/v1/references/{kind}/{key}",
        response_model=WrittenReference,
        summary="Apply an op to a reference",
        operation_id="change_reference",
    )
    def change(
        kind: str,
        key: str,
        body: OpIn,
        caller: Writer,
        idempotency_key: IdempotencyKey = None,
        if_match: IfMatch = None,
    ) -> JSONResponse:
        op = {"op": body.op, **(body.model_extra or {})}
        expected = _expected(body.expected_version, if_match)

        def command(connection: Connection, owner: str, found: Kind, origin: Origin) -> Outcome:
            name = _name(kind, key, body)
            return reference_commands.apply(connection, owner, name, found, op, origin, expected)

        return answer(caller, kind, body, command, idempotency_key, turn_ids=tuple(body.turn_ids))

    @router.post(
        "/v1/references/{kind}/{key}/archive",
        response_model=WrittenReference,
        summary="Put a reference away",
        operation_id="archive_reference",
    )
    def archive(
        kind: str, key: str, body: ArchiveIn, caller: Writer, idempotency_key: IdempotencyKey = None
    ) -> JSONResponse:
        def command(connection: Connection, owner: str, _: Kind, origin: Origin) -> Outcome:
            name = _name(kind, key, body)
            return reference_commands.archive(connection, owner, name, body.reason, origin)

        return answer(caller, kind, body, command, idempotency_key)

    @router.post(
        "/v1/references/{kind}/{key}/restore",
        response_model=WrittenReference,
        summary="Bring back a version of a reference",
        operation_id="restore_reference",
    )
    def restore(
        kind: str, key: str, body: RestoreIn, caller: Writer, idempotency_key: IdempotencyKey = None
    ) -> JSONResponse:
        def command(connection: Connection, owner: str, found: Kind, origin: Origin) -> Outcome:
            name = _name(kind, key, body)
            return reference_commands.restore(connection, owner, name, found, body.version, origin)

        return answer(caller, kind, body, command, idempotency_key)

    @router.post(
        "/v1/references/{kind}/{key}/tier",
        response_model=WrittenReference,
        summary="Move a reference to another tier",
        operation_id="change_reference_tier",
    )
    def tier(
        kind: str, key: str, body: TierIn, caller: Writer, idempotency_key: IdempotencyKey = None
    ) -> JSONResponse:
        def command(connection: Connection, owner: str, _: Kind, origin: Origin) -> Outcome:
            name = _name(kind, key, body)
            return reference_commands.change_tier(connection, owner, name, body.tier, body.reason, origin)

        return answer(caller, kind, body, command, idempotency_key)

    @router.post(
        "/v1/references/{kind}/{key}/move",
        response_model=WrittenReference,
        summary="Give a reference another scope",
        operation_id="move_reference",
    )
    def move(
        kind: str, key: str, body: MoveIn, caller: Writer, idempotency_key: IdempotencyKey = None
    ) -> JSONResponse:
        def command(connection: Connection, owner: str, _: Kind, origin: Origin) -> Outcome:
            to = ReferenceName(kind=kind, key=key, project_id=body.to_project_id, team_id=body.to_team_id)
            new_owner = owned_by(connection, caller, body.user_id, body.to_team_id, body.to_project_id)
            name = _name(kind, key, body)
            return reference_commands.move(connection, owner, name, new_owner, to, origin)

        return answer(caller, kind, body, command, idempotency_key)

    def answer(
        caller: Principal,
        kind: str,
        body: _Scoped,
        command: Callable[[Connection, str, Kind, Origin], Outcome],
        idempotency_key: str | None,
        *,
        status: int = 200,
        turn_ids: tuple[str, ...] = (),
    ) -> JSONResponse:
        actor = f"user/{body.user_id}"
        if body.agent_id:
            # A team's reference belongs to nobody alone, so the actor names the member as well.
            in_team = body.team_id or (body.to_team_id if isinstance(body, MoveIn) else None)
            actor = f"agent/{body.agent_id}" + (f" for {actor}" if in_team else "")
        origin = Origin(actor=actor, at=datetime.now(UTC), idempotency_key=idempotency_key, turn_ids=turn_ids)
        with connected_for(pool, caller, TYPES) as connection:
            owner = owned_by(connection, caller, body.user_id, body.team_id, body.project_id)
            found = kind_of(connection, caller.tenant, kind)
            outcome = command(connection, owner, found, origin)
            sealer = keyring.sealer or load_sealer(connection, keyring)
        reference = outcome.reference
        document = reference_document(reference) | {
            "token": sealer.seal({caller.storage_id(body.user_id): reference.position})
        }
        return JSONResponse(document, status_code=status, headers={"etag": f'"{reference.version}"'})

    def owned_by(
        connection: Connection, caller: Principal, user_id: str, team_id: str | None, project_id: str | None
    ) -> str:
        """Returns the storage id that owns the reference.

        Raises the 404 problem for somebody outside the team, and for a key that is limited to other projects or modes.
        """
        user = _mine(caller, user_id)
        if not caller.reach.admits(project_id or "default", None):
            raise not_found()
        if team_id is None:
            return user
        if not is_member(connection, caller.tenant, team_id, user_id):
            raise not_found()
        return team_owner(caller.tenant, team_id)

    return router


@contextmanager
def connected_for(
    pool: ConnectionPool[Connection], caller: Principal, types: Collection[str] = ()
) -> Iterator[Connection]:
    """Yields a connection in a transaction of the caller's tenant. The followers of ``types`` wake after it.

    No types stand for all. Raises a 503 problem while Postgres is away.
    """
    try:
        with (
            pool.connection(timeout=2.0) as connection,
            commanding(connection, tenant_owner(caller.tenant), types),
        ):
            yield connection
    except psycopg.Error as error:
        raise problem_of(error, "Log unavailable") from error


def _mine(caller: Principal, user_id: str) -> str:
    return owner_of(caller, user_id, thing="reference", field="key")


def _name(kind: str, key: str, scope: _Scoped) -> ReferenceName:
    return ReferenceName(kind=kind, key=key, project_id=scope.project_id, team_id=scope.team_id)


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
