"""The candidates of a core document over HTTP: topics that recur, with what a promotion would change."""

from __future__ import annotations

import orjson
from fastapi import APIRouter

from events.core.evolution.mining import Candidate, candidates, versions_in
from events.core.evolution.planning import Plan, PlanError, planned, taken_names
from events.core.fold import Present
from events.core.schema import DYNAMIC, UNCATEGORIZED, evolution_log
from events.http.access import Reader
from events.http.answering import routes_of
from events.resources import core as resources
from events.resources.core import MemoryCandidates
from events.types.json_values import Json, json_text
from retrieval.core.reader import DocumentReader
from retrieval.core.sources import told
from retrieval.http.core_routes import document_owner, no_document, reading


def candidates_router(reader: DocumentReader) -> APIRouter:
    """Returns the route. The document of another user gives the same 404 as none."""
    router = routes_of("memory")

    @router.get(
        "/v1/memory/{user_id}/schema/candidates",
        summary="Topics of the core document that may become categories",
    )
    async def memory_candidates(user_id: str, caller: Reader) -> MemoryCandidates:
        owner = document_owner(caller, user_id)
        present = await reading(reader.present, owner)
        if present.state.version == 0:
            raise no_document()
        found = await reading(candidates_for, reader, owner, present, among_others=caller.users is None)
        document = present.state.document
        return MemoryCandidates(
            version=present.state.version, candidates=[shown(document, each) for each in found]
        )

    return router


async def candidates_for(
    reader: DocumentReader, owner: str, present: Present, *, among_others: bool = True
) -> list[Candidate]:
    """Returns the candidates of a document. Without ``among_others`` the other users of the tenant do not count."""
    marks = present.state.marks
    versions = {*versions_in(marks.get(DYNAMIC, {})), *versions_in(marks.get(UNCATEGORIZED, {}))}
    changes = await reader.changes_named(owner, present, versions)
    dates = {version: change.at for version, change in changes.items()}
    others = await reader.keys_of_others(owner) if among_others else []
    return candidates(present.state, taken_names(), dates, others)


def shown(document: Json, found: Candidate) -> resources.Candidate:
    """Returns a candidate as a resource, with the promotion under its proposed name."""
    try:
        plan = planned(document, found, found.name)
    except PlanError:
        plan = Plan(found.name, {}, {}, ())  # the proposed name does not fit; another one may
    proposed = [
        entry["timestamp"]
        for entry in evolution_log(document)
        if entry["change"] == "proposed" and entry["candidate"] == found.candidate
    ]
    return resources.Candidate.made_from(
        found,
        category_schema=plan.schema,
        moved=plan.moved,
        proposed_at=proposed[-1] if proposed else None,
        diff=resources.PromotionDiff(
            patch=orjson.loads(json_text([dict(op) for op in plan.ops])), lines=told(document, plan.ops)
        ),
    )
