"""The core document over HTTP, to read: now or then, its history, differences, waiting patches, and new categories."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Literal, ParamSpec, TypeVar, get_args

import orjson
from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from events.access.principal import Principal
from events.core.evolution.mining import Candidate as Mined
from events.core.evolution.mining import candidates, versions_in
from events.core.evolution.old_pointers import resolved
from events.core.evolution.planning import Plan, PlanError, planned, taken_names
from events.core.fold import Present
from events.core.past import Past
from events.core.pointers import PointerError, join, split, value_at
from events.core.replay import difference
from events.core.schema import DYNAMIC, META, UNCATEGORIZED, evolution_log
from events.core.state import CoreState
from events.http.access import Reader, owner_of, reaches_document
from events.http.answering import routes_of
from events.http.database import Reading
from events.http.errors import ProblemError, invalid, missing
from events.http.fields import QueryInstant
from events.resources.core import (
    Candidate,
    Memory,
    MemoryCandidates,
    MemoryChange,
    MemoryDiff,
    MemoryHistory,
    MemoryQueue,
    PromotionDiff,
    QueueEntry,
    QueueStatus,
    Snippet,
    Source,
)
from events.types.json_values import Json, json_text
from events.types.references import MAX_VERSION
from projectors.core.loading import TooFarBehindError
from retrieval.core import DocumentReader, marked_places, snippets, told

_P = ParamSpec("_P")
_T = TypeVar("_T")

_read = Reading("Documents unavailable")
MAX_PATHS = 100
Version = Annotated[int, Field(ge=0, le=MAX_VERSION)]
Path = Annotated[str, Field(max_length=2048)]


class MemoryParams(BaseModel, extra="forbid", use_attribute_docstrings=True):
    """Which version, and which parts of it."""

    version: Annotated[Version | None, Field(description="the document at this version")] = None
    as_of: Annotated[QueryInstant | None, Field(description="the document that held at this instant")] = None
    known_at: QueryInstant | None = None
    """by what was recorded at this instant; else by all"""
    paths: Annotated[list[Path] | None, Field(max_length=MAX_PATHS)] = None
    """only the values at these JSON Pointers"""
    explain: Annotated[bool, Field(description="true: with the source of every value")] = False


class HistoryParams(BaseModel, extra="forbid", use_attribute_docstrings=True):
    """Which changes."""

    limit: Annotated[int, Field(ge=1, le=500)] = 50
    cursor: Annotated[int | None, Field(ge=1, le=MAX_VERSION)] = None
    """the next_cursor of the page before"""


class DiffParams(BaseModel, extra="forbid"):
    """Which two versions."""

    from_: Annotated[Version, Field(alias="from", description="the earlier version")] = 0
    to: Annotated[Version | None, Field(description="the later version; else the present one")] = None


class QueueParams(BaseModel, extra="forbid", use_attribute_docstrings=True):
    """Which waiting patches."""

    status: Literal["open", "approved", "refused", "withdrawn", "all", "*"] = "open"
    """* is all"""


def memory_router(reader: DocumentReader) -> APIRouter:
    """Returns the routes. The document of another user gives the same 404 as none."""
    router = routes_of("memory")

    @router.get("/v1/memory/{user_id}", summary="The core document, now or then")
    async def memory(
        user_id: str, query: Annotated[MemoryParams, Query()], caller: Reader, response: Response
    ) -> Memory:
        if query.version is not None and (query.as_of or query.known_at) is not None:
            field = "known_at" if query.as_of is None else "as_of"
            raise invalid(field, "and version exclude each other; send one of them")
        paths = None if query.paths is None else [pointer_of(each) for each in query.paths]
        owner, present = await found(caller, user_id)
        past = None
        if query.as_of is not None:
            past = await reading(reader.past, owner, query.as_of, query.known_at)
        version = query.version
        if query.known_at is not None:
            version = await reading(reader.version_at, owner, query.known_at, present)
            if version == 0:
                raise no_document()
        state = await at(reader, owner, present, "version", version) if past is None else past.state
        whole = state.whole()
        explain = None
        if query.explain:
            now = [resolved(state.document, each) for each in paths or [()]]
            explain = await explained(owner, present, state, now, past)
        response.headers["etag"] = f'"{state.version}"'
        return Memory(
            user_id=user_id,
            version=state.version,
            updated_at=state.updated_at,
            document=sorted_json(whole) if paths is None else None,
            snippets=None
            if paths is None
            else [
                Snippet(**each | {"value": sorted_json(each["value"])})
                for each in snippets(whole, [join(each) for each in paths])
            ],
            explain=explain,
        )

    @router.get("/v1/memory/{user_id}/history", summary="Every change of the core document, the latest first")
    async def memory_history(
        user_id: str, query: Annotated[HistoryParams, Query()], caller: Reader
    ) -> MemoryHistory:
        owner, present = await found(caller, user_id)
        below = query.cursor or present.state.version + 1
        changes = await reading(reader.changes, owner, present, below=below, limit=query.limit)
        last = changes[-1].version if changes else 1
        return MemoryHistory(
            changes=[MemoryChange.made_from(each) for each in changes], next_cursor=last if last > 1 else None
        )

    @router.get("/v1/memory/{user_id}/diff", summary="What differs between two versions of the core document")
    async def memory_diff(user_id: str, query: Annotated[DiffParams, Query()], caller: Reader) -> MemoryDiff:
        owner, present = await found(caller, user_id)
        before = await at(reader, owner, present, "from", query.from_)
        after = await at(reader, owner, present, "to", query.to)
        patch = difference(before.document, after.document)
        return MemoryDiff(
            from_version=before.version,
            to=after.version,
            patch=[dict(op) for op in patch],
            lines=told(before.document, patch),
        )

    @router.get("/v1/memory/{user_id}/queue", summary="Patches of the core document that wait for an answer")
    async def memory_queue(
        user_id: str, query: Annotated[QueueParams, Query()], caller: Reader
    ) -> MemoryQueue:
        owner, present = await found(caller, user_id, empty=True)
        status = next((each for each in get_args(QueueStatus) if each == query.status), None)
        entries = await reading(reader.queue, owner, present, status)
        if (
            not entries
            and present.state.version == 0
            and not await reading(reader.queue, owner, present, None)
        ):
            raise no_document()
        return MemoryQueue(entries=[QueueEntry.made_from(each) for each in entries])

    @router.get(
        "/v1/memory/{user_id}/schema/candidates",
        summary="Topics of the core document that may become categories",
    )
    async def memory_candidates(user_id: str, caller: Reader) -> MemoryCandidates:
        owner, present = await found(caller, user_id)
        marks, document = present.state.marks, present.state.document
        versions = {*versions_in(marks.get(DYNAMIC, {})), *versions_in(marks.get(UNCATEGORIZED, {}))}
        changes = await reading(reader.changes_named, owner, present, versions)
        dates = {version: change.at for version, change in changes.items()}
        # A key that is limited to users learns nothing of the others.
        others = await reading(reader.keys_of_others, owner) if caller.users is None else []
        mined = candidates(present.state, taken_names(), dates, others)
        return MemoryCandidates(
            version=present.state.version, candidates=[_candidate(document, each) for each in mined]
        )

    async def found(caller: Principal, user_id: str, *, empty: bool = False) -> tuple[str, Present]:
        owner = document_owner(caller, user_id)
        present = await reading(reader.present, owner)
        if present.state.version == 0 and not empty:
            raise no_document()
        return owner, present

    async def explained(
        owner: str,
        present: Present,
        state: CoreState,
        paths: Sequence[tuple[str, ...]],
        past: Past | None,
    ) -> dict[str, Source]:
        places = {
            join(place): mark
            for path in paths
            for place, mark in marked_places(value_at(state.marks, path), path)
            if place[0] != META
        }
        versions = {mark.version for mark in places.values()}
        changes = (
            await reading(reader.changes_named, owner, present, versions) if past is None else past.changes
        )
        return {
            pointer: Source.made_from(changes[mark.version], trust=mark.trust)
            for pointer, mark in sorted(places.items())
            if mark.version in changes
        }

    return router


async def at(
    reader: DocumentReader, owner: str, present: Present, field: str, version: int | None
) -> CoreState:
    """Returns the document at a version, which ``field`` of the request names; None is the present one."""
    if version is None:
        return present.state
    if version > present.state.version:
        raise invalid(field, f"{version} never was; use 0 to {present.state.version}")
    return await reading(reader.at_version, owner, version, present)


def document_owner(caller: Principal, user_id: str) -> str:
    """Returns the storage id of the document's user.

    Raises the 404 problem for a user, a project or a mode out of the reach of the key. The document holds what was said
    in the default project and the general mode.
    """
    owner = owner_of(caller, user_id, thing="document", field="user_id")
    if not reaches_document(caller):
        raise no_document()
    return owner


def sorted_json(value: object) -> orjson.Fragment:
    """Returns JSON with sorted names: equal documents are equal bytes, whichever way they were folded."""
    return orjson.Fragment(json_text(value))


async def reading(ask: Callable[_P, Awaitable[_T]], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    try:
        return await _read(ask, *args, **kwargs)
    except TooFarBehindError as error:
        raise ProblemError(503, "Documents unavailable", f"{error}; try again later") from error


def no_document() -> ProblemError:
    return missing("document", "user_id")


def pointer_of(path: str) -> tuple[str, ...]:
    """Returns the tokens of a pointer of a request. Raises a 422 problem for a text that is no pointer."""
    try:
        return split(path)
    except PointerError as error:
        raise invalid("paths", f"{path[:200]!r} is no JSON Pointer: {error}") from None


def _candidate(document: Json, found: Mined) -> Candidate:
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
    return Candidate.made_from(
        found,
        category_schema=plan.schema,
        moved=plan.moved,
        proposed_at=proposed[-1] if proposed else None,
        diff=PromotionDiff(
            patch=orjson.loads(json_text([dict(op) for op in plan.ops])), lines=told(document, plan.ops)
        ),
    )
