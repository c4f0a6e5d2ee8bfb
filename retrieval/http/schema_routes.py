"""The candidates of a core document over HTTP: topics that recur, with what a promotion would change."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from events.core.evolution.mining import Candidate, candidates, versions_in
from events.core.evolution.planning import Plan, PlanError, planned, taken_names
from events.core.fold import Present
from events.core.pointers import Json
from events.core.schema import DYNAMIC, UNCATEGORIZED, evolution_log
from events.http.access import Reader
from events.http.service import JSONResponse
from retrieval.core.reader import DocumentReader
from retrieval.core.sources import told
from retrieval.http.core_routes import document_owner, no_document, reading, sorted_json


class ReasonOut(BaseModel):
    """A part of a score: what was counted, and the points for it."""

    reason: str
    count: int
    points: int


class DiffOut(BaseModel):
    """What a promotion under the proposed name would change, as a JSON Patch and in words."""

    patch: list[dict[str, Any]]
    lines: list[str]


class CandidateOut(BaseModel):
    """A topic that recurs, and the category that it may become."""

    candidate: str
    name: str
    category_schema: dict[str, Any] = Field(
        alias="schema", description="the JSON Schema, inferred from the values"
    )
    instances: list[str] = Field(description="the pointers of what is about the topic")
    moved: dict[str, str] = Field(description="the new pointer of each old one")
    occurrences: int
    days: int = Field(description="the days on which the instances changed")
    last: datetime | None
    links: list[str] = Field(description="pointers of other values that name the topic")
    users: int = Field(description="other users of the tenant with a key of this topic")
    score: int
    reasons: list[ReasonOut]
    above_thresholds: bool = Field(description="true: CARDLOG_SCHEMA_EVOLUTION=auto promotes it")
    proposed_at: datetime | None
    diff: DiffOut


class CandidatesOut(BaseModel):
    """Candidates, the highest score first."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "version": 3,
                    "candidates": [
                        {
                            "candidate": "sleep",
                            "name": "sleep",
                            "schema": {"title": "sleep", "type": "object", "properties": {}},
                            "instances": ["/uncategorized/sleep_note_1"],
                            "moved": {"/uncategorized/sleep_note_1": "/sleep/note1"},
                            "occurrences": 3,
                            "days": 1,
                            "last": "2026-05-08T16:44:10+00:00",
                            "links": [],
                            "users": 0,
                            "score": 8,
                            "reasons": [{"reason": "occurrences", "count": 3, "points": 3}],
                            "above_thresholds": False,
                            "proposed_at": None,
                            "diff": {
                                "patch": [
                                    {
                                        "op": "move",
                                        "from": "/uncategorized/sleep_note_1",
                                        "path": "/sleep/note1",
                                    }
                                ],
                                "lines": ["/uncategorized/sleep_note_1 moved to /sleep/note1"],
                            },
                        }
                    ],
                }
            ]
        }
    )

    version: int
    candidates: list[CandidateOut]


def candidates_router(reader: DocumentReader) -> APIRouter:
    """Returns the route. The document of another user gives the same 404 as none."""
    router = APIRouter(tags=["memory"])

    @router.get(
        "/v1/memory/{user_id}/schema/candidates",
        summary="Topics of the core document that may become categories",
        response_model=CandidatesOut,
        operation_id="memory_candidates",
    )
    async def listed(user_id: str, caller: Reader) -> JSONResponse:
        owner = document_owner(caller, user_id)
        present = await reading(reader.present, owner)
        if present.state.version == 0:
            raise no_document()
        found = await reading(candidates_for, reader, owner, present, among_others=caller.users is None)
        document = present.state.document
        return JSONResponse(
            {
                "version": present.state.version,
                "candidates": [candidate_document(document, each) for each in found],
            }
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


def candidate_document(document: Json, found: Candidate) -> dict[str, Any]:
    """Returns a candidate as JSON, with the promotion under its proposed name."""
    try:
        plan = planned(document, found, found.name)
    except PlanError:
        plan = Plan(found.name, {}, {}, ())  # the proposed name does not fit; another one may
    proposed = [
        entry["timestamp"]
        for entry in evolution_log(document)
        if entry["change"] == "proposed" and entry["candidate"] == found.candidate
    ]
    return {
        "candidate": found.candidate,
        "name": found.name,
        "schema": plan.schema,
        "instances": list(found.instances),
        "moved": plan.moved,
        "occurrences": found.occurrences,
        "days": found.days,
        "last": found.last,
        "links": list(found.links),
        "users": found.users,
        "score": found.score,
        "reasons": [
            {"reason": each.reason, "count": each.count, "points": each.points} for each in found.reasons
        ],
        "above_thresholds": found.above_thresholds,
        "proposed_at": proposed[-1] if proposed else None,
        "diff": {"patch": sorted_json([dict(op) for op in plan.ops]), "lines": told(document, plan.ops)},
    }
