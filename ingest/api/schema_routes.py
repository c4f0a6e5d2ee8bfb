"""The schema of a core document over HTTP, to change: promotions and reversions of categories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter
from psycopg_pool import ConnectionPool
from pydantic import ConfigDict, Field

from events.http.access import Writer
from events.http.service import JSONResponse
from events.http.tokens import Keyring
from events.store.log import Connection
from events.types.core import Author
from ingest.api.command_routes import Name
from ingest.api.core_routes import (
    Authored,
    ChangedOut,
    answer,
    document_owner,
    origin_of,
    run_command,
)
from ingest.api.reference_routes import IdempotencyKey
from ingest.core import evolution
from ingest.core.documents import Documents

Pointer = Annotated[str, Field(max_length=2048)]
_MOST_MEMBERS = 100


class PromoteIn(Authored):
    """Makes a category of a candidate."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "candidate": "sleep",
                    "proposedName": "sleepHealth",
                    "rationale": "she tells of it every week",
                }
            ]
        },
    )

    candidate: Annotated[Name, Field(description="a candidate of GET …/schema/candidates, or its name")]
    proposed_name: Annotated[
        Name | None, Field(alias="proposedName", description="the name; else the one of the candidate")
    ] = None
    members: Annotated[
        dict[Pointer, Name],
        Field(
            default_factory=dict,
            max_length=_MOST_MEMBERS,
            description="the member that the value of an instance becomes, by the pointer of the instance",
        ),
    ]
    actor: Author = "user"
    dry_run: Annotated[bool, Field(description="true: only show what would change")] = False


class RevertIn(Authored):
    """Takes a promoted category back."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"category": "sleepHealth", "rationale": "too early"}]},
    )

    category: Annotated[Name, Field(description="a category that was promoted")]
    actor: Author = "user"


class PromotedOut(ChangedOut):
    """What a promotion did, or would do. ``patch`` holds the operations on the document; a repeat shows none."""

    dry_run: bool
    name: str
    category_schema: dict[str, Any] = Field(alias="schema", description="the JSON Schema of the category")
    moved: dict[str, str] = Field(description="the new pointer of each old one")
    patch: list[dict[str, Any]]


class RevertedOut(ChangedOut):
    """What a reversion did."""

    patch: list[dict[str, Any]]


def schema_router(
    pool: ConnectionPool[Connection], keyring: Keyring, documents: Callable[[], Documents]
) -> APIRouter:
    """Returns the routes. They answer 503 while Postgres is away. The connections must be in autocommit mode."""
    router = APIRouter(tags=["memory"])

    @router.post(
        "/v1/memory/{user_id}/schema/promote",
        response_model=PromotedOut,
        summary="Make a category of a topic that recurs in the core document",
        operation_id="promote_category",
    )
    def promote(
        user_id: str, body: PromoteIn, caller: Writer, idempotency_key: IdempotencyKey = None
    ) -> JSONResponse:
        owner = document_owner(caller, user_id)
        origin = origin_of(body, user_id, body.actor, idempotency_key)
        done, sealer = run_command(
            pool,
            keyring,
            owner,
            lambda c: evolution.promote(
                c,
                documents(),
                owner,
                body.candidate,
                body.proposed_name,
                body.members,
                origin,
                among_others=caller.users is None,
                dry_run=body.dry_run,
            ),
        )
        more = {
            "dry_run": body.dry_run,
            "name": done.name,
            "schema": done.schema,
            "moved": done.moved,
            "patch": [dict(op) for op in done.ops],
        }
        return answer(owner, done.outcome, sealer, **more)

    @router.post(
        "/v1/memory/{user_id}/schema/revert",
        response_model=RevertedOut,
        summary="Take a promoted category of the core document back",
        operation_id="revert_category",
    )
    def revert(
        user_id: str, body: RevertIn, caller: Writer, idempotency_key: IdempotencyKey = None
    ) -> JSONResponse:
        owner = document_owner(caller, user_id)
        origin = origin_of(body, user_id, body.actor, idempotency_key)
        (outcome, ops), sealer = run_command(
            pool,
            keyring,
            owner,
            lambda c: evolution.revert(c, documents(), owner, body.category, origin),
        )
        return answer(owner, outcome, sealer, patch=[dict(op) for op in ops])

    return router
