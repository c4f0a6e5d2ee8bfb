"""The core document over HTTP, to change: patches, rollbacks, cherry-picks, and answers to waiting patches."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar
from uuid import UUID

import psycopg
from fastapi import APIRouter, Depends, Request
from psycopg_pool import ConnectionPool
from pydantic import BaseModel, ConfigDict, Field

from events.access.principal import Principal, Reach
from events.core.patches import PatchMalformedError, checked
from events.core.replay import Conflict
from events.http.access import Writer, owner_of
from events.http.database import problem_of
from events.http.errors import ProblemError, invalid, missing
from events.http.service import JSONResponse
from events.http.tokens import Keyring, Sealer
from events.http.uuids import Uuid
from events.store.log import AppendConflictError, Connection
from events.types.core import CORE_TYPES, Author
from events.types.references import MAX_VERSION
from ingest.api.command_routes import Name, Words
from ingest.api.commands import commanding, load_sealer
from ingest.api.reference_routes import IdempotencyKey
from ingest.core import patching, review, time_travel
from ingest.core.appending import Origin, Outcome, conflict_problem
from ingest.core.documents import Documents

_T = TypeVar("_T")
MAX_EVENTS = 1000
_SHOWN_CONFLICTS = 100


class Authored(BaseModel):
    """Who sends a command, and why."""

    model_config = ConfigDict(extra="forbid")

    rationale: Annotated[Words | None, Field(description="why, for whoever asks later")] = None
    agent_id: Annotated[Name | None, Field(description="the agent that acts for the user")] = None


class PatchIn(Authored):
    """A JSON Patch (RFC 6902) of the document."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"actor": "user", "patch": [{"op": "add", "path": "/profile/residence", "value": "Lisbon"}]}
            ]
        },
    )

    patch: Annotated[list[Any], Field(description="the operations; all are applied, or none")]
    actor: Annotated[Author, Field(description="who says so")]
    source: Annotated[
        Name | None,
        Field(description="a turn id, a tool, or user_correction, which outweighs every other source"),
    ] = None
    confidence: Annotated[float | None, Field(ge=0, le=1)] = None
    expected_version: Annotated[
        int | None,
        Field(ge=0, le=MAX_VERSION, description="the version that the caller saw; any other one is a 409"),
    ] = None
    turn_ids: Annotated[list[Name], Field(max_length=100, description="the turns that say so")] = []


class RollbackIn(Authored):
    """Leaves events out of the document: the named ones, or everything after a version."""

    event_ids: Annotated[list[Uuid] | None, Field(min_length=1, max_length=MAX_EVENTS)] = None
    to_version: Annotated[int | None, Field(ge=0, le=MAX_VERSION)] = None
    actor: Author = "user"
    dry_run: Annotated[bool, Field(description="true: only show what would change")] = False


class CherryPickIn(Authored):
    """Applies changes again that were left out."""

    event_ids: Annotated[list[Uuid], Field(min_length=1, max_length=MAX_EVENTS)]
    actor: Author = "user"


class ApproveIn(Authored):
    """Applies a waiting patch. Tests of its author do not count; the reviewer has seen the document."""

    patch: Annotated[list[Any] | None, Field(description="applied in the place of the waiting patch")] = None
    reason: Words | None = None
    by: Annotated[Name, Field(description="who decided")] = "user"


class RefuseIn(Authored):
    """Refuses a waiting patch."""

    reason: Words | None = None
    by: Annotated[Name, Field(description="who decided")] = "user"


class ChangedOut(BaseModel):
    """The version of the document after a command. ``event_id`` is null when the document was like this already."""

    version: int
    event_id: UUID | None
    changed: bool
    duplicate: bool
    token: str = Field(description="give the token to wait_for of a recall")


class ConflictOut(BaseModel):
    """A change that stood on one that is left out."""

    event_id: UUID
    version: int
    op: int
    path: str
    reason: str


class RolledBackOut(ChangedOut):
    """What a rollback did, or would do. With conflicts it does nothing."""

    dry_run: bool
    event_ids: list[UUID]
    patch: list[dict[str, Any]]
    conflicts: list[ConflictOut]


class _DuplicateNameError(ValueError):
    def __init__(self, name: str, path: str | None) -> None:
        super().__init__(name)
        self.name = name
        self.path = path


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        path = found.get("path")
        raise _DuplicateNameError(twice, path if isinstance(path, str) else None)
    return found


async def refuse_duplicate_names(request: Request) -> None:
    """Raises a 422 problem for a body with an object that has a name twice. Two readers would read it differently."""
    try:
        json.loads(await request.body(), object_pairs_hook=_unique)
    except _DuplicateNameError as error:
        where = "" if error.path is None else f" in the operation at {error.path[:200]!r}"
        raise invalid(
            "patch",
            f"has the name {error.name[:100]!r} twice in one object{where}; keep one",
            path=error.path,
        ) from None
    except (ValueError, RecursionError):
        return  # the body was refused, or will be


def memory_router(
    pool: ConnectionPool[Connection], keyring: Keyring, documents: Callable[[], Documents]
) -> APIRouter:
    """Returns the routes. They answer 503 while Postgres is away. The connections must be in autocommit mode."""
    router = APIRouter(tags=["memory"])

    @router.post(
        "/v1/memory/{user_id}/events",
        response_model=ChangedOut,
        summary="Patch the core document",
        operation_id="patch_memory",
        dependencies=[Depends(refuse_duplicate_names)],
    )
    def patch(
        user_id: str, body: PatchIn, caller: Writer, idempotency_key: IdempotencyKey = None
    ) -> JSONResponse:
        owner = document_owner(caller, user_id)
        ops = _ops(body.patch)
        origin = origin_of(
            body,
            user_id,
            body.actor,
            idempotency_key,
            source=body.source,
            confidence=body.confidence,
            turn_ids=tuple(body.turn_ids),
        )
        outcome, sealer = run(
            owner, lambda c: patching.patch(c, documents(), owner, ops, origin, body.expected_version)
        )
        if outcome.queued is not None:
            queue_id = None if outcome.event_id is None else str(outcome.event_id)
            more = {"queue_id": queue_id} if queue_id else {"queue_full": True}
            raise conflict_problem(outcome.queued, outcome.version, **more)
        return answer(owner, outcome, sealer)

    @router.post(
        "/v1/memory/{user_id}/rollback",
        response_model=RolledBackOut,
        summary="Leave events out of the core document",
        operation_id="roll_back_memory",
    )
    def rollback(
        user_id: str, body: RollbackIn, caller: Writer, idempotency_key: IdempotencyKey = None
    ) -> JSONResponse:
        owner = document_owner(caller, user_id)
        if (body.event_ids is None) == (body.to_version is None):
            raise invalid("event_ids", "and to_version exclude each other; send one of them")
        origin = origin_of(body, user_id, body.actor, idempotency_key)
        done, sealer = run(
            owner,
            lambda c: time_travel.roll_back(
                c, documents(), owner, body.event_ids, body.to_version, origin, dry_run=body.dry_run
            ),
        )
        conflicts = [_conflict(each) for each in done.conflicts[:_SHOWN_CONFLICTS]]
        if conflicts and not body.dry_run:
            first = conflicts[0]
            raise ProblemError(
                409,
                "Rollback conflicts",
                f"event_ids: {len(done.conflicts)} changes stand on what would be left out, the first is version "
                f"{first['version']} at {first['path'][:200]!r}; leave them out too",
                field="event_ids",
                conflicts=conflicts,
            )
        more = {
            "dry_run": body.dry_run,
            "event_ids": done.event_ids,
            "patch": [dict(op) for op in done.ops],
            "conflicts": conflicts,
        }
        return answer(owner, done.outcome, sealer, **more)

    @router.post(
        "/v1/memory/{user_id}/cherry-pick",
        response_model=ChangedOut,
        summary="Apply changes of the core document again that were left out",
        operation_id="cherry_pick_memory",
    )
    def cherry_pick(
        user_id: str, body: CherryPickIn, caller: Writer, idempotency_key: IdempotencyKey = None
    ) -> JSONResponse:
        owner = document_owner(caller, user_id)
        origin = origin_of(body, user_id, body.actor, idempotency_key)
        outcome, sealer = run(
            owner, lambda c: time_travel.cherry_pick(c, documents(), owner, body.event_ids, origin)
        )
        return answer(owner, outcome, sealer)

    @router.post(
        "/v1/memory/{user_id}/queue/{queue_id}/approve",
        response_model=ChangedOut,
        summary="Apply a waiting patch",
        operation_id="approve_patch",
        dependencies=[Depends(refuse_duplicate_names)],
    )
    def approve(user_id: str, queue_id: Uuid, body: ApproveIn, caller: Writer) -> JSONResponse:
        owner = document_owner(caller, user_id, "waiting patch", "queue_id")
        ops = None if body.patch is None else _ops(body.patch)
        origin = Origin(by="user", actor=body.by, at=datetime.now(UTC))
        outcome, sealer = run(
            owner, lambda c: review.approve(c, documents(), owner, queue_id, ops, body.reason, origin)
        )
        return answer(owner, outcome, sealer)

    @router.post(
        "/v1/memory/{user_id}/queue/{queue_id}/refuse",
        response_model=ChangedOut,
        summary="Refuse a waiting patch",
        operation_id="refuse_patch",
    )
    def refuse(user_id: str, queue_id: Uuid, body: RefuseIn, caller: Writer) -> JSONResponse:
        owner = document_owner(caller, user_id, "waiting patch", "queue_id")
        origin = Origin(by="user", actor=body.by, at=datetime.now(UTC))
        outcome, sealer = run(
            owner, lambda c: review.refuse(c, documents(), owner, queue_id, body.reason, origin)
        )
        return answer(owner, outcome, sealer)

    def run(owner: str, command: Callable[[Connection], _T]) -> tuple[_T, Sealer]:
        return run_command(pool, keyring, owner, command)

    return router


def run_command(
    pool: ConnectionPool[Connection], keyring: Keyring, owner: str, command: Callable[[Connection], _T]
) -> tuple[_T, Sealer]:
    """Runs a command in a transaction of its own. Returns its outcome, and what seals its token."""
    try:
        with pool.connection(timeout=2.0) as connection:
            sealer = keyring.sealer or load_sealer(connection, keyring)
            with commanding(connection, owner, CORE_TYPES):
                return command(connection), sealer
    except AppendConflictError as error:
        raise ProblemError(503, "Too many writers", f"{error}; try again") from error
    except psycopg.Error as error:
        raise problem_of(error, "Log unavailable") from error


def answer(owner: str, outcome: Outcome, sealer: Sealer, **more: Any) -> JSONResponse:
    """Returns the answer to a command on a document."""
    document = {
        "version": outcome.version,
        "event_id": outcome.event_id,
        "changed": outcome.event_id is not None and not outcome.duplicate,
        "duplicate": outcome.duplicate,
        "token": sealer.seal({owner: outcome.position}),
    }
    return JSONResponse(document | more, headers={"etag": f'"{outcome.version}"'})


def document_owner(caller: Principal, user_id: str, thing: str = "document", field: str = "user_id") -> str:
    """Returns the storage id of the document's user.

    Raises the 404 problem for a user, a project or a mode out of the reach of the key. The document holds what was said
    in the default project and the general mode.
    """
    owner = owner_of(caller, user_id, thing=thing, field=field)
    if not Reach(projects=caller.projects, modes=caller.modes).admits("default", None):
        raise missing(thing, field)
    return owner


def _ops(patch: list[Any]) -> list[dict[str, Any]]:
    try:
        return checked(patch)
    except PatchMalformedError as error:
        where = {} if error.op is None else {"op": error.op}
        if error.path is not None:
            where["path"] = error.path  # type: ignore[assignment]
        field = "patch" if error.op is None else f"patch/{error.op}"
        raise invalid(field, error.reason, **where) from None


def origin_of(body: Authored, user_id: str, by: Author, idempotency_key: str | None, **more: Any) -> Origin:
    """Returns who sends a command, when and why."""
    agent = f"agent/{body.agent_id}" if body.agent_id else by
    actor = f"user/{user_id}" if by == "user" else agent
    return Origin(
        by=by,
        actor=actor,
        at=datetime.now(UTC),
        idempotency_key=idempotency_key,
        rationale=body.rationale,
        **more,
    )


def _conflict(conflict: Conflict) -> dict[str, Any]:
    return {
        "event_id": conflict.change.event_id,
        "version": conflict.change.version,
        "op": conflict.error.op,
        "path": conflict.error.path,
        "reason": conflict.error.reason,
    }
