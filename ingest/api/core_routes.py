"""The core document over HTTP, to change: patches, rollbacks, cherry-picks, and answers to waiting patches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, TypeVar
from uuid import UUID

from fastapi import APIRouter, Response
from pydantic import Field, ValidationError

from events.access.principal import Principal
from events.core.patches import Op, PatchMalformedError, checked
from events.http.access import Writer, reaches_document, require_user
from events.http.answering import routes_of
from events.http.body import Body
from events.http.errors import conflict, invalid, missing, reason_of
from events.http.fields import Name, Uuid, Words
from events.resources.core import MemoryChanged, MemoryRolledBack, RollbackConflict
from events.resources.resource import plain
from events.types.core import CORE_TYPES, Author
from events.types.references import MAX_VERSION
from ingest.api.transactions import Sender, Sent, Transactions
from ingest.core import patching, time_travel
from ingest.core.aggregate import CoreDocument, CoreHistory, Documents, conflict_problem
from ingest.core.patching import WaitingPatch
from ingest.decider import Command, Outcome

_T = TypeVar("_T")
_Seen = TypeVar("_Seen", bound=CoreDocument)
_C = TypeVar("_C", bound=MemoryChanged)
MAX_EVENTS = 1000
_SHOWN_CONFLICTS = 100


Actor = Annotated[
    Author | None,
    Field(description="who says so; by default the user, if the key acts as the user, and else an agent"),
]
CORRECTED = "user_correction"
"""The source of what the user corrects."""


class Authored(Body):
    """Who sends a command, and why."""

    rationale: Annotated[Words | None, Field(description="why, for whoever asks later")] = None
    agent_id: Annotated[Name | None, Field(description="the agent that acts for the user")] = None


class OpEvent(Body):
    """The member ``_event`` of an operation: what the patch rests on."""

    source: Name | None = None
    """a turn id, a tool, or user_correction, which only the user can say"""
    confidence: Annotated[float | None, Field(ge=0, le=1)] = None
    rationale: Annotated[Words | None, Field(description="why, for whoever asks later")] = None


class PatchIn(
    OpEvent,
    Authored,
    json_schema_extra={
        "examples": [
            {"actor": "agent", "patch": [{"op": "add", "path": "/profile/residence", "value": "Lisbon"}]}
        ]
    },
):
    """A JSON Patch (RFC 6902) of the document."""

    patch: Annotated[
        list[object],
        Field(
            description="the operations; all are applied, or none. `_event` of an operation may hold the source, the "
            "confidence and the rationale of the patch"
        ),
    ]
    actor: Annotated[Author, Field(description="who says so; user needs a key that acts as the user")]
    id: Name | None = None
    """the event as its sender knows it; the same as an Idempotency-Key"""
    expected_version: Annotated[int | None, Field(ge=0, le=MAX_VERSION)] = None
    """the version that the caller saw; any other one is a 409"""
    turn_ids: list[Name] = Field([], max_length=100, description="the turns that say so")


class RollbackIn(Authored):
    """Leaves events out of the document: the named ones, or everything after a version."""

    event_ids: Annotated[list[Uuid] | None, Field(min_length=1, max_length=MAX_EVENTS)] = None
    to_version: Annotated[int | None, Field(ge=0, le=MAX_VERSION)] = None
    actor: Actor = None
    dry_run: Annotated[bool, Field(description="true: only show what would change")] = False


class CherryPickIn(Authored):
    """Applies changes again that were left out."""

    event_ids: Annotated[list[Uuid], Field(min_length=1, max_length=MAX_EVENTS)]
    actor: Actor = None


class ApproveIn(Authored):
    """Applies a waiting patch. Tests of its author do not count; the reviewer has seen the document."""

    patch: list[object] | None = None
    """applied in the place of the waiting patch"""
    reason: Words | None = None
    by: Annotated[Name, Field(description="who decided")] = "user"


class RefuseIn(Authored):
    """Refuses a waiting patch."""

    reason: Words | None = None
    by: Annotated[Name, Field(description="who decided")] = "user"


def memory_router(writer: DocumentWriter) -> APIRouter:
    """Returns the routes of core documents."""
    router = routes_of("memory")

    @router.post(
        "/v1/memory/{user_id}/events",
        summary="Patch the core document",
        operation_id="patch_memory",
    )
    def patch(user_id: str, body: PatchIn, sender: Sent, response: Response) -> MemoryChanged:
        sender = _identified(sender, body.id)
        rests_on = _told(body.patch, {name: getattr(body, name) for name in OpEvent.model_fields})
        ops = _ops(body.patch)
        _refuse_anothers_word(rests_on, body.actor)

        def run(document: CoreDocument) -> patching.Patched:
            return patching.patch(document, ops, body.expected_version)

        owner, done = writer.run(
            sender, user_id, body, body.actor, CoreDocument, run, turn_ids=tuple(body.turn_ids), **rests_on
        )
        if done.queued is not None:
            event = done.outcome.event
            more: dict[str, object] = {} if event is None else {"queue_id": str(event.event_id)}
            if event is None and done.queued.fault not in patching.HOPELESS:
                more = {"queue_full": True}
            raise conflict_problem(done.queued, done.outcome.state, **more)
        return writer.answer(MemoryChanged, response, owner, done.outcome)

    @router.post("/v1/memory/{user_id}/rollback", summary="Leave events out of the core document")
    def roll_back_memory(
        user_id: str, body: RollbackIn, sender: Sent, response: Response
    ) -> MemoryRolledBack:
        if (body.event_ids is None) == (body.to_version is None):
            raise invalid("event_ids", "and to_version exclude each other; send one of them")

        def run(document: CoreHistory) -> time_travel.RolledBack:
            return time_travel.roll_back(document, body.event_ids, body.to_version, dry_run=body.dry_run)

        owner, done = writer.run(sender, user_id, body, body.actor, CoreHistory, run)
        conflicts = [
            RollbackConflict.made_from(each.error, event_id=each.change.event_id, version=each.change.version)
            for each in done.conflicts[:_SHOWN_CONFLICTS]
        ]
        if conflicts and not body.dry_run:
            first = conflicts[0]
            raise conflict(
                "Rollback conflicts",
                "event_ids",
                f"{len(done.conflicts)} changes stand on what would be left out, the first is version "
                f"{first.version} at {first.path[:200]!r}; leave them out too",
                conflicts=plain(conflicts),
            )
        return writer.answer(
            MemoryRolledBack,
            response,
            owner,
            done.outcome,
            dry_run=body.dry_run,
            event_ids=done.event_ids,
            patch=[dict(op) for op in done.ops],
            conflicts=conflicts,
        )

    @router.post(
        "/v1/memory/{user_id}/cherry-pick",
        summary="Apply changes of the core document again that were left out",
    )
    def cherry_pick_memory(
        user_id: str, body: CherryPickIn, sender: Sent, response: Response
    ) -> MemoryChanged:
        def run(document: CoreHistory) -> Outcome[int]:
            return time_travel.cherry_pick(document, body.event_ids)

        owner, outcome = writer.run(sender, user_id, body, body.actor, CoreHistory, run)
        return writer.answer(MemoryChanged, response, owner, outcome)

    @router.post(
        "/v1/memory/{user_id}/queue/{queue_id}/approve",
        summary="Apply a waiting patch",
    )
    def approve_patch(
        user_id: str, queue_id: Uuid, body: ApproveIn, caller: Writer, response: Response
    ) -> MemoryChanged:
        require_user(caller, "by")
        ops = None if body.patch is None else _ops(body.patch)
        if _told(body.patch or [], {}):
            raise invalid(
                "patch", "has operations with _event; leave it out: an approval rests on its reviewer"
            )
        return reviewed(
            caller, user_id, queue_id, body.by, response, lambda w: patching.approve(w, ops, body.reason)
        )

    @router.post("/v1/memory/{user_id}/queue/{queue_id}/refuse", summary="Refuse a waiting patch")
    def refuse_patch(
        user_id: str, queue_id: Uuid, body: RefuseIn, caller: Writer, response: Response
    ) -> MemoryChanged:
        return reviewed(
            caller, user_id, queue_id, body.by, response, lambda w: patching.refuse(w, body.reason)
        )

    def reviewed(
        caller: Principal,
        user_id: str,
        queue_id: UUID,
        by: str,
        response: Response,
        run: Callable[[WaitingPatch], Outcome[int]],
    ) -> MemoryChanged:
        command = document_command(Sender(caller), user_id, "waiting patch", "queue_id", actor=by)
        outcome = writer.transactions.run(
            command.owner, lambda c: run(WaitingPatch(c, writer.documents(), command, queue_id)), CORE_TYPES
        )
        return writer.answer(MemoryChanged, response, command.owner, outcome)

    return router


class DocumentWriter:
    """Runs commands on core documents, and makes their answers."""

    def __init__(self, transactions: Transactions, documents: Callable[[], Documents]) -> None:
        self.transactions = transactions
        self.documents = documents

    def run(
        self,
        sender: Sender,
        user_id: str,
        body: Authored,
        by: Author | None,
        seen: type[_Seen],
        command: Callable[[_Seen], _T],
        **rests_on: object,
    ) -> tuple[str, _T]:
        """Returns (the storage id of the user, what ``command`` returned). ``seen`` is what it sees of the document."""
        author = by or ("user" if sender.caller.may("user") else "agent")
        agent = f"agent/{body.agent_id}" if body.agent_id else author
        sent = document_command(
            sender,
            user_id,
            actor=None if author == "user" else agent,
            by=author,
            **{"rationale": body.rationale, **rests_on},
        )
        if by == "user":
            require_user(sender.caller, "actor")
        done = self.transactions.run(
            sent.owner, lambda c: command(seen(c, self.documents(), sent)), CORE_TYPES
        )
        return sent.owner, done

    def answer(
        self, shape: type[_C], response: Response, owner: str, outcome: Outcome[int], **more: object
    ) -> _C:
        """Returns the answer to a command on a document, with the fields ``more`` of its shape. Sets its ETag."""
        response.headers["etag"] = f'"{outcome.state}"'
        return shape(
            version=outcome.state,
            event_id=None if outcome.event is None else outcome.event.event_id,
            changed=outcome.changed,
            duplicate=outcome.repeated,
            token=self.transactions.token(owner, outcome.position),
            **more,
        )


def document_command(
    sender: Sender,
    user_id: str,
    thing: str = "document",
    field: str = "user_id",
    /,
    *,
    actor: str | None = None,
    **more: object,
) -> Command:
    """Returns a command on a user's document. Raises the 404 problem for one out of the reach of the key."""
    command = sender.command(user_id, thing, field, actor=actor, **more)
    if not reaches_document(sender.caller):
        raise missing(thing, field)
    return command


def _identified(sender: Sender, event_id: str | None) -> Sender:
    """Returns the sender with the id of the event as idempotency key."""
    if event_id is None:
        return sender
    if sender.idempotency_key not in (None, event_id):
        raise invalid("id", "and the Idempotency-Key differ; send one of them")
    return replace(sender, idempotency_key=event_id)


def _told(patch: list[object], told: dict[str, object]) -> dict[str, object]:
    """Returns what a patch rests on: ``told``, and what the ``_event`` of its operations says.

    Raises a 422 problem for a member with two values, because a patch is one event.
    """
    told = {name: value for name, value in told.items() if value is not None}
    for number, op in enumerate(patch):
        if not isinstance(op, dict) or "_event" not in op:
            continue
        try:
            own = OpEvent.model_validate(op["_event"])
        except ValidationError as error:
            fault = error.errors()[0]
            raise invalid(
                "/".join(map(str, ("patch", number, "_event", *fault["loc"]))), reason_of(fault)
            ) from None
        for name, value in own:
            if value is not None and told.setdefault(name, value) != value:
                reason = "is another one than before; send this operation in a patch of its own"
                raise invalid(f"patch/{number}/_event/{name}", reason)
    return told


def _refuse_anothers_word(rests_on: dict[str, object], actor: Author) -> None:
    """Raises a 422 problem for a correction by the user that somebody else sends."""
    if rests_on.get("source") == CORRECTED and actor != "user":
        raise invalid("source", f"is {CORRECTED}, which only the user can say; send another one")


def _ops(patch: list[object]) -> list[Op]:
    try:
        return checked(patch)
    except PatchMalformedError as error:
        where = {} if error.op is None else {"op": error.op}
        if error.path is not None:
            where["path"] = error.path  # type: ignore[assignment]
        field = "patch" if error.op is None else f"patch/{error.op}"
        raise invalid(field, error.reason, **where) from None
