"""The schema of a core document over HTTP, to change: promotions and reversions of categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import ConfigDict, Field

from events.core.patches import Op
from events.http.service import JSONResponse
from events.types.core import Author
from ingest.api.command_routes import Name
from ingest.api.core_routes import Authored, ChangedOut, DocumentWriter
from ingest.api.sender import Sent
from ingest.core import evolution
from ingest.core.aggregate import CoreHistory
from ingest.core.evolution import Promoted
from ingest.decider import Outcome

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


def schema_router(writer: DocumentWriter) -> APIRouter:
    """Returns the routes of the schemas of core documents."""
    router = APIRouter(tags=["memory"])

    @router.post(
        "/v1/memory/{user_id}/schema/promote",
        response_model=PromotedOut,
        summary="Make a category of a topic that recurs in the core document",
        operation_id="promote_category",
    )
    def promote(user_id: str, body: PromoteIn, sender: Sent) -> JSONResponse:
        def run(document: CoreHistory) -> Promoted:
            return evolution.promote(
                document,
                body.candidate,
                body.proposed_name,
                body.members,
                among_others=sender.caller.users is None,
                dry_run=body.dry_run,
            )

        owner, done = writer.run(sender, user_id, body, body.actor, CoreHistory, run)
        more = {"dry_run": body.dry_run, "name": done.name, "schema": done.schema, "moved": done.moved}
        return writer.answer(owner, done.outcome, **more, patch=[dict(op) for op in done.ops])

    @router.post(
        "/v1/memory/{user_id}/schema/revert",
        response_model=RevertedOut,
        summary="Take a promoted category of the core document back",
        operation_id="revert_category",
    )
    def revert(user_id: str, body: RevertIn, sender: Sent) -> JSONResponse:
        def run(document: CoreHistory) -> tuple[Outcome[int], Sequence[Op]]:
            return evolution.revert(document, body.category)

        owner, (outcome, ops) = writer.run(sender, user_id, body, body.actor, CoreHistory, run)
        return writer.answer(owner, outcome, patch=[dict(op) for op in ops])

    return router
