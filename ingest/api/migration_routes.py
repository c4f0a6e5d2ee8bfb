"""The migration of another memory over HTTP: its sentences become turns, and the answer tells what they made."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar
from uuid import UUID

import psycopg
from fastapi import APIRouter, Request
from psycopg_pool import ConnectionPool
from pydantic import BaseModel, ConfigDict, Field

from events.http.access import Writer
from events.http.database import problem_of
from events.http.errors import ProblemError, invalid
from events.http.instants import Instant
from events.http.places import Places
from events.http.service import JSONResponse
from events.http.tokens import Awaited, Keyring, Sealer
from events.store.log import Connection
from events.types.migrated import APPLY_FROM
from events.types.queue_entry import QueueKey
from ingest.api.command_routes import Name, Words
from ingest.api.commands import commanding, load_sealer
from ingest.api.core_routes import document_owner
from ingest.api.reference_routes import IdempotencyKey
from ingest.api.turn_fields import MAX_TURNS
from ingest.api.turn_publisher import PublishFailedError, TurnPublisher
from ingest.core.documents import Documents
from ingest.extraction.extractor_port import Extractor, ExtractorUnavailableError
from ingest.migration import rehearsal
from ingest.migration.beginning import begin, check
from ingest.migration.memories import TextInvalidError
from ingest.migration.reading import Format, read
from ingest.migration.rehearsal import rehearse
from ingest.migration.report import Follower, Report
from ingest.migration.turns import Message, Migration, Terms, messages_of, migration_of
from ingest.migration.user_name import told_name

_T = TypeVar("_T")
MAX_TEXT_BYTES = 128 * 1024
_LOOK_EVERY_S = 0.1


class OldMessageIn(BaseModel):
    """A message of an old conversation."""

    model_config = ConfigDict(extra="forbid")

    content: Annotated[Words, Field(description="the words of the message")]
    role: Literal["user", "assistant", "system"] = "user"
    said_at: Instant | None = None


class MigrateIn(BaseModel):
    """The memory of another system: its text, or the messages of old conversations."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "text": "User has type 2 diabetes, diagnosed in 2018. Takes Metformin. Likes Greek yogurt but "
                    "dislikes kale. Tries to walk daily.",
                    "said_at": "2025-12-31T12:00:00Z",
                }
            ]
        },
    )

    text: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=MAX_TEXT_BYTES,
            description="mem0 JSON, saved memories of ChatGPT, or notes",
        ),
    ] = None
    messages: Annotated[list[OldMessageIn] | None, Field(min_length=1, max_length=MAX_TURNS)] = None
    format: Annotated[Format, Field(description="the form of text; auto tells it by the text")] = "auto"
    source: Annotated[Name | None, Field(description="where the memory comes from; default: its form")] = None
    said_at: Annotated[
        Instant | None,
        Field(description="when sentences without a date of their own were true; default: now"),
    ] = None
    user_name: Annotated[
        Name | None,
        Field(description="what the text calls the user; default: the name that the text itself tells"),
    ] = None
    timezone: Annotated[str, Field(max_length=255, description="IANA name of the speaker's time zone")] = (
        "UTC"
    )
    apply_from: Annotated[
        float, Field(ge=0, le=1, description="values below this confidence wait for an approval")
    ] = APPLY_FROM
    dry_run: Annotated[bool, Field(description="true: only show what would happen")] = False
    wait_s: Annotated[
        float, Field(ge=0, le=30, description="how long to wait for the extraction, in seconds")
    ] = 10.0


class AppliedOut(BaseModel):
    """A change of the document that rests on migrated sentences."""

    version: int
    event_id: UUID
    patch: list[dict[str, Any]]
    confidence: float | None
    rationale: str | None
    turn_ids: list[str]


class QueuedOut(BaseModel):
    """A patch that waits for an approval."""

    queue_id: UUID
    kind: str
    path: str
    patch: list[dict[str, Any]]
    reason: str
    confidence: float | None
    rationale: str | None
    turn_ids: list[str]


class KeptOut(BaseModel):
    """A sentence that is an episode, with the places of the document that it touches."""

    turn_id: str
    text: str
    relatedPaths: list[str]


class MigratedOut(BaseModel):
    """What became of the sentences up to now. The same request later tells what became of the rest."""

    migration_id: str
    format: str
    dry_run: bool
    sentences: int = Field(description="different sentences of the text")
    taken: int = Field(description="sentences that this request took; the others were there already")
    pending: int = Field(description="sentences that wait for their extraction")
    failed: list[str] = Field(description="turn ids of sentences that the extractor gave up")
    erased: list[str] = Field(description="turn ids of sentences that were erased; they are not taken again")
    applied: list[AppliedOut]
    queued: list[QueuedOut]
    kept: list[KeptOut]
    remarks: list[str]
    version: int
    token: str = Field(description="give the token to wait_for of a recall")


def migration_router(
    pool: ConnectionPool[Connection],
    keyring: Keyring,
    documents: Callable[[], Documents],
    publisher: TurnPublisher,
    extractor: Callable[[], Extractor],
    places: Places,
) -> APIRouter:
    """Returns the route. It answers 503 while Postgres or Redis is away. ``extractor`` serves dry runs.

    A request holds one of ``places`` while it works, and none while it waits for the extraction.
    """
    router = APIRouter(tags=["memory"])

    @router.post(
        "/v1/memory/{user_id}/migrate",
        response_model=MigratedOut,
        summary="Migrate the memory of another system",
        operation_id="migrate_memory",
    )
    async def migrate(
        request: Request,
        user_id: str,
        body: MigrateIn,
        caller: Writer,
        idempotency_key: IdempotencyKey = None,
    ) -> JSONResponse:
        async def work(step: Callable[[], _T]) -> _T:
            async with places.held(request):
                return await asyncio.to_thread(step)

        owner = document_owner(caller, user_id)
        now = datetime.now(UTC)
        form, messages, remarks = _messages(body)
        terms = Terms(
            user_id=user_id,
            owner=owner,
            source=body.source or form,
            said_at=body.said_at or now,
            timezone=body.timezone,
            apply_from=body.apply_from,
            notes=body.messages is None,
            user_name=body.user_name if body.messages is not None else body.user_name or told_name(messages),
        )
        sealer, key = await work(lambda: run(owner, keys))
        migration = migration_of(messages, terms, key)
        await work(lambda: check(migration, now))
        follower = Follower(owner, migration)
        known = await work(lambda: run(owner, follower.known))
        if body.dry_run:
            report = await work(lambda: rehearsed(migration, now))
        else:
            actor = f"user/{user_id}"
            await work(lambda: run(owner, lambda c: begin(c, migration, actor, now, idempotency_key)))
            await push(
                migration.part(each for each in migration.turns if each not in known), caller.tenant, key
            )
            until = time.monotonic() + body.wait_s
            while await work(lambda: run(owner, follower.pending)) and time.monotonic() < until:
                await asyncio.sleep(_LOOK_EVERY_S)
            report = await work(lambda: run(owner, lambda c: follower.report(c, documents())))
        return answer(
            migration, form, report, remarks, sealer, taken=len(migration.turns.keys() - known), body=body
        )

    async def push(migration: Migration, tenant: str, key: QueueKey) -> None:
        if not migration.turns:
            return
        try:
            await publisher.push(list(migration.turns.values()), tenant=tenant, key=key)
        except PublishFailedError as error:
            raise ProblemError(
                503,
                "Queue unavailable",
                "Redis cannot take turns now, or did not confirm them; send the same request again: a sentence "
                "counts once",
            ) from error

    def rehearsed(migration: Migration, now: datetime) -> Report:
        if len(migration.turns) > rehearsal.MOST:
            raise invalid(
                "dry_run", f"takes at most {rehearsal.MOST} sentences, not {len(migration.turns)}; send fewer"
            )
        try:
            return run(migration.terms.owner, lambda c: rehearse(c, documents(), extractor(), migration, now))
        except ExtractorUnavailableError as error:
            raise ProblemError(503, "Extractor unavailable", f"{error}; try again later") from error

    def keys(connection: Connection) -> tuple[Sealer, QueueKey]:
        sealer = keyring.sealer or load_sealer(connection, keyring)
        assert keyring.queue_key is not None, "the keyring learns both keys at once"
        return sealer, keyring.queue_key

    def run(owner: str, command: Callable[[Connection], _T]) -> _T:
        try:
            with pool.connection(timeout=2.0) as connection, commanding(connection, owner):
                return command(connection)
        except psycopg.Error as error:
            raise problem_of(error, "Log unavailable") from error

    return router


def answer(
    migration: Migration,
    form: str,
    report: Report,
    remarks: list[str],
    sealer: Sealer,
    *,
    taken: int,
    body: MigrateIn,
) -> JSONResponse:
    """Returns the answer about a migration. The token waits for the last sentence that is not extracted yet."""
    awaited: Awaited = report.pending[-1] if report.pending and not body.dry_run else report.position
    return JSONResponse(
        {
            "migration_id": migration.migration_id,
            "format": form,
            "dry_run": body.dry_run,
            "sentences": len(migration.turns),
            "taken": taken,
            "remarks": remarks,
            "token": sealer.seal({migration.terms.owner: awaited}),
            **report.document(),
        }
    )


def _messages(body: MigrateIn) -> tuple[str, list[Message], list[str]]:
    """Returns (form, messages, remarks). Raises a 422 problem that names the line or pointer at fault."""
    if (body.text is None) == (body.messages is None):
        raise invalid("text", "and messages exclude each other; send one of them")
    if body.messages is not None:
        return "messages", [Message(each.content, each.said_at, each.role) for each in body.messages], []
    assert body.text is not None
    if len(body.text.encode("utf-8", "surrogatepass")) > MAX_TEXT_BYTES:
        raise invalid("text", f"is longer than {MAX_TEXT_BYTES} bytes; send it in parts")
    try:
        found = read(body.text, body.format)
    except TextInvalidError as error:
        raise invalid("text", str(error), at=error.where) from None
    if len(found.memories) > MAX_TURNS:
        raise invalid(
            "text",
            f"holds {len(found.memories)} sentences; at most {MAX_TURNS} are allowed, so send it in parts",
        )
    return found.format, messages_of(found.memories), found.remarks
