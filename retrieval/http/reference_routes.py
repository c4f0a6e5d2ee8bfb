"""References over HTTP, to read: one reference now or then, its history, lists, kinds and proposals."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from events.access.principal import Principal, Reach
from events.http.access import Reader, owner_of
from events.http.answering import routes_of
from events.http.database import Reading
from events.http.errors import ProblemError, invalid, missing
from events.http.fields import QueryInstant, Uuid, cursor_of, place_at
from events.references import reference as domain
from events.references.kinds.batch import BATCH, ops_of
from events.references.kinds.json_value import OPS as JSON_OPS
from events.references.kinds.registry import BUILT_IN
from events.references.owners import stream_of
from events.resources.references import (
    Proposal,
    ProposalsPage,
    Reference,
    ReferenceHistory,
    ReferenceKind,
    ReferenceKinds,
    ReferencesPage,
    ReferenceVersion,
)
from events.types.references import MAX_VERSION, ReferenceChanged, ReferenceName, Tier
from retrieval.references import Change, ReferenceReader, owner_in
from retrieval.uses import Uses

_read = Reading("References unavailable")


class _Scoped(BaseModel, extra="forbid", use_attribute_docstrings=True):
    """Who asks, and whose reference is meant."""

    user_id: str = Field(min_length=1, description="who asks; the owner, unless team_id is set")
    project_id: Annotated[str | None, Field(description="the project the reference belongs to")] = None
    team_id: Annotated[str | None, Field(description="the team the reference belongs to")] = None


class ReferenceParams(_Scoped):
    """Which version."""

    as_of: Annotated[QueryInstant | None, Field(description="the value at this instant")] = None
    version: Annotated[int | None, Field(ge=1, le=MAX_VERSION)] = None
    """the value at this version"""


class HistoryParams(_Scoped):
    """Which versions."""

    values: Annotated[bool, Field(description="true: with the data before and after each op")] = False
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    cursor: Annotated[int | None, Field(ge=1, le=MAX_VERSION)] = None
    """the next_cursor of the page before"""


class ListParams(BaseModel, extra="forbid"):
    """Which references."""

    user_id: str = Field(min_length=1, description="whose references, with those of the user's teams")
    kind: str | None = None
    tier: Tier | None = None
    project_id: str | None = None
    team_id: str | None = None
    archived: Annotated[bool, Field(description="true: archived references too")] = False
    limit: Annotated[int, Field(ge=1, le=500)] = 100
    cursor: Annotated[str | None, Field(description="the next_cursor of the page before")] = None


class ProposalParams(BaseModel, extra="forbid", use_attribute_docstrings=True):
    """Which proposals."""

    user_id: str = Field(min_length=1, description="whose proposals")
    status: Literal["waiting", "applied", "approved", "refused", "all", "*"] = "waiting"
    """* is all"""
    limit: Annotated[int, Field(ge=1, le=500)] = 100
    cursor: Uuid | None = None


def references_router(reader: ReferenceReader, use: Uses) -> APIRouter:
    """Returns the routes. A reference of another user or team gives the same 404 as none. ``use`` counts reads."""
    router = routes_of("references")

    @router.get("/v1/references", summary="The references of a user and the user's teams")
    async def list_references(query: Annotated[ListParams, Query()], caller: Reader) -> ReferencesPage:
        user = _mine(caller, query.user_id)
        after = place_at(query.cursor, lambda place: tuple(place.decode().split("\x1f")))
        owners = await _read(reader.owners_of, user)
        wanted = [
            each
            for each in await _read(reader.present, owners)
            if query.kind in (None, each.name.kind)
            and query.tier in (None, each.tier)
            and query.project_id in (None, each.name.project_id)
            and query.team_id in (None, each.name.team_id)
            and _reached(caller, each.name.project_id)
            and (query.archived or not each.archived)
            and (after is None or _place(each) > after)
        ]
        shown = wanted[: query.limit]
        more = len(wanted) > query.limit
        following = cursor_of("\x1f".join(_place(shown[-1])).encode()) if more else None
        return ReferencesPage(references=[Reference.made_from(each) for each in shown], next_cursor=following)

    @router.get(
        "/v1/references/{kind}/{key}",
        summary="One reference, now or then",
        operation_id="reference",
    )
    async def one(
        kind: str,
        key: str,
        query: Annotated[ReferenceParams, Query()],
        caller: Reader,
        response: Response,
    ) -> Reference:
        if query.version is not None and query.as_of is not None:
            raise invalid("as_of", "and version exclude each other; send one of them")
        owner, stream = await named(caller, kind, key, query)
        found = await _read(reader.reference, owner, stream, version=query.version, as_of=query.as_of)
        if found is None or (query.version is None and query.as_of is None and found.moved_to is not None):
            raise _not_found()
        if query.version not in (None, found.version):
            raise invalid("version", f"{query.version} never was; use 1 to {found.version}")
        use.count(owner, [stream])
        response.headers["etag"] = f'"{found.version}"'
        return Reference.made_from(found)

    @router.get("/v1/references/{kind}/{key}/history", summary="Every op of a reference, the latest first")
    async def reference_history(
        kind: str, key: str, query: Annotated[HistoryParams, Query()], caller: Reader
    ) -> ReferenceHistory:
        owner, stream = await named(caller, kind, key, query)
        found = await _read(
            reader.history, owner, stream, below=query.cursor, limit=query.limit, values=query.values
        )
        if not found and query.cursor is None:
            raise _not_found()
        versions = [_version(change, values=query.values) for change in found]
        last = found[-1].event.version if found else 1
        return ReferenceHistory(versions=versions, next_cursor=last if last > 1 else None)

    @router.get("/v1/reference-kinds", summary="The kinds of references, with their ops and schemas")
    async def reference_kinds(caller: Reader) -> ReferenceKinds:
        built_in = [
            ReferenceKind(
                kind=each.name,
                built_in=True,
                description=(type(each).__doc__ or "").strip(),
                ops=list(ops_of(each)),
                data_schema=each.schema,
            )
            for each in BUILT_IN.values()
        ]
        declared = [
            ReferenceKind(
                kind=row["kind"],
                built_in=False,
                description=row["description"],
                ops=[*JSON_OPS, BATCH],
                data_schema=row["schema"],
            )
            for row in await _read(reader.kinds, caller.tenant)
        ]
        return ReferenceKinds(kinds=[*built_in, *declared])

    @router.get("/v1/proposals", summary="Ops that prose asked for")
    async def list_proposals(query: Annotated[ProposalParams, Query()], caller: Reader) -> ProposalsPage:
        user = _mine(caller, query.user_id)
        if caller.modes is not None:
            raise _not_found()  # a proposal quotes a turn of any mode
        status = None if query.status in ("all", "*") else query.status
        projects = caller.reach.parameters()["projects"]
        rows = await _read(
            reader.proposals, user, projects, status=status, before=query.cursor, limit=query.limit + 1
        )
        shown = rows[: query.limit]
        following = shown[-1]["proposal_id"] if len(rows) > query.limit else None
        return ProposalsPage(proposals=[Proposal(**row) for row in shown], next_cursor=following)

    async def named(caller: Principal, kind: str, key: str, scope: _Scoped) -> tuple[str, str]:
        """Returns owner and stream. Raises the 404 problem for somebody else's."""
        _mine(caller, scope.user_id)
        if not _reached(caller, scope.project_id):
            raise _not_found()
        name = ReferenceName(kind=kind, key=key, project_id=scope.project_id, team_id=scope.team_id)
        if scope.team_id is not None and not await _read(
            reader.is_member, caller.tenant, scope.team_id, scope.user_id
        ):
            raise _not_found()
        return owner_in(caller.tenant, scope.user_id, scope.team_id), stream_of(name)

    return router


def _version(change: Change, *, values: bool) -> ReferenceVersion:
    """Returns a version of a reference, with the data before and after it when the caller asked for ``values``."""
    event, payload = change.event, change.event.payload
    changed = payload if isinstance(payload, ReferenceChanged) else None
    more = {"before": change.before, "after": getattr(payload, "data", change.before)} if values else {}
    return ReferenceVersion(
        version=event.version,
        type=event.type,
        op=None if changed is None else changed.op,
        actor=event.actor,
        at=event.occurred_at,
        turn_ids=[] if changed is None else list(changed.turn_ids),
        derived=changed is not None and changed.derived,
        quote=None if changed is None else changed.quote,
        **more,
    )


def _mine(caller: Principal, user_id: str) -> str:
    """Returns the storage id of the user. Raises the 404 problem for a user out of reach, and for a key that is limited
    to other modes: references belong to the general mode."""
    owner = owner_of(caller, user_id, thing="reference", field="key")
    if not Reach(modes=caller.modes).admits("", None):
        raise _not_found()
    return owner


def _reached(caller: Principal, project_id: str | None) -> bool:
    """True when the key is not limited to other projects. A reference without a project belongs to the default one."""
    return Reach(projects=caller.projects).admits(project_id or "default", None)


def _not_found() -> ProblemError:
    return missing("reference", "key")


def _place(reference: domain.Reference) -> tuple[str, ...]:
    name = reference.name
    return (name.kind, name.key, name.project_id or "", name.team_id or "")
