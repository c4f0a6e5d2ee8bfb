"""The schema of a core document over HTTP, to change: promotions and reversions of categories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Response
from psycopg_pool import ConnectionPool
from pydantic import ConfigDict, Field

from events.http.access import Writer
from events.http.answering import routes_of
from events.http.tokens import Keyring
from events.resources.core import MemoryPromoted, MemoryReverted
from events.store.log import Connection
from events.types.core import Author
from ingest.api.command_routes import Name
from ingest.api.core_routes import (
    Authored,
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


def schema_router(
    pool: ConnectionPool[Connection], keyring: Keyring, documents: Callable[[], Documents]
) -> APIRouter:
    """Returns the routes. They answer 503 while Postgres is away. The connections must be in autocommit mode."""
    router = routes_of("memory")

    @router.post(
        "/v1/memory/{user_id}/schema/promote",
        summary="Make a category of a topic that recurs in the core document",
        operation_id="promote_category",
    )
    def promote(
        user_id: str,
        body: PromoteIn,
        caller: Writer,
        response: Response,
        idempotency_key: IdempotencyKey = None,
    ) -> MemoryPromoted:
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
            "category_schema": done.schema,
            "moved": done.moved,
            "patch": [dict(op) for op in done.ops],
        }
        return answer(MemoryPromoted, response, owner, done.outcome, sealer, **more)

    @router.post(
        "/v1/memory/{user_id}/schema/revert",
        summary="Take a promoted category of the core document back",
        operation_id="revert_category",
    )
    def revert(
        user_id: str,
        body: RevertIn,
        caller: Writer,
        response: Response,
        idempotency_key: IdempotencyKey = None,
    ) -> MemoryReverted:
        owner = document_owner(caller, user_id)
        origin = origin_of(body, user_id, body.actor, idempotency_key)
        (outcome, ops), sealer = run_command(
            pool,
            keyring,
            owner,
            lambda c: evolution.revert(c, documents(), owner, body.category, origin),
        )
        return answer(MemoryReverted, response, owner, outcome, sealer, patch=[dict(op) for op in ops])

    return router
