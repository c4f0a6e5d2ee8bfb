"""The schema of a core document over HTTP, to change: promotions and reversions of categories."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from events.core.patches import Op
from events.http.answering import routes_of
from events.http.fields import Name
from events.resources.core import MemoryPromoted, MemoryReverted
from ingest.api.core_routes import Actor, Authored, DocumentWriter
from ingest.api.transactions import Sent
from ingest.core import evolution
from ingest.core.aggregate import CoreHistory
from ingest.core.evolution import Promoted
from ingest.decider import Outcome

Pointer = Annotated[str, Field(max_length=2048)]
_MOST_MEMBERS = 100


class PromoteIn(
    Authored,
    json_schema_extra={
        "examples": [
            {
                "candidate": "sleep",
                "proposed_name": "sleepHealth",
                "rationale": "she tells of it every week",
            }
        ]
    },
):
    """Makes a category of a candidate."""

    candidate: Annotated[
        Name, Field(description="a candidate of GET …/schema/candidates, or its proposed_name")
    ]
    proposed_name: Name | None = None
    """the name of the category; else the one of the candidate"""
    members: Annotated[dict[Pointer, Name], Field(default_factory=dict, max_length=_MOST_MEMBERS)]
    """the member that the value of an instance becomes, by the pointer of the instance"""
    actor: Actor = None
    dry_run: Annotated[bool, Field(description="true: only show what would change")] = False


class RevertIn(
    Authored,
    json_schema_extra={"examples": [{"category": "sleepHealth", "rationale": "too early"}]},
):
    """Takes a promoted category back."""

    category: Annotated[Name, Field(description="a category that was promoted")]
    actor: Actor = None


def schema_router(writer: DocumentWriter) -> APIRouter:
    """Returns the routes of the schemas of core documents."""
    router = routes_of("memory")

    @router.post(
        "/v1/memory/{user_id}/schema/promote",
        summary="Make a category of a topic that recurs in the core document",
    )
    def promote_category(user_id: str, body: PromoteIn, sender: Sent, response: Response) -> MemoryPromoted:
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
        return writer.answer(
            MemoryPromoted,
            response,
            owner,
            done.outcome,
            dry_run=body.dry_run,
            proposed_name=done.name,
            category_schema=done.schema,
            moved=done.moved,
            patch=[dict(op) for op in done.ops],
        )

    @router.post(
        "/v1/memory/{user_id}/schema/revert", summary="Take a promoted category of the core document back"
    )
    def revert_category(user_id: str, body: RevertIn, sender: Sent, response: Response) -> MemoryReverted:
        def run(document: CoreHistory) -> tuple[Outcome[int], Sequence[Op]]:
            return evolution.revert(document, body.category)

        owner, (outcome, ops) = writer.run(sender, user_id, body, body.actor, CoreHistory, run)
        return writer.answer(MemoryReverted, response, owner, outcome, patch=[dict(op) for op in ops])

    return router
