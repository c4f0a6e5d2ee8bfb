"""The migration of another memory over HTTP: its sentences become turns, and the answer tells what they made."""

import asyncio
import time
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Literal, TypeVar

from fastapi import APIRouter, Request
from pydantic import Field

from events.http.answering import routes_of
from events.http.body import Body
from events.http.errors import ProblemError, invalid
from events.http.fields import DayOrInstant, Name, Words
from events.http.places import Places
from events.http.tokens import Awaited
from events.resources.migration import MemoryMigration
from events.types.migrations import APPLY_FROM
from events.types.queue_entry import QueueKey
from ingest.api.core_routes import document_command
from ingest.api.transactions import Sent, Transactions
from ingest.api.turn_input import MAX_TURNS
from ingest.api.turn_publisher import PublishFailedError, TurnPublisher
from ingest.core.aggregate import Documents
from ingest.extraction.extractor_port import Extractor, ExtractorUnavailableError
from ingest.migration.report import MOST_REHEARSED, Follower, Report, rehearse
from ingest.migration.texts import Format, Memory, TextInvalidError, read, told_name
from ingest.migration.turns import Migration, Terms, begin, check, migration_of

MAX_TEXT_BYTES = 128 * 1024
_T = TypeVar("_T")
_LOOK_EVERY_S = 0.1


class OldMessageIn(Body):
    """A message of an old conversation."""

    content: Annotated[Words, Field(description="the words of the message")]
    role: Literal["user", "assistant", "system"] = "user"
    said_at: DayOrInstant | None = None


class MigrateIn(
    Body,
    json_schema_extra={
        "examples": [
            {
                "text": "User has type 2 diabetes, diagnosed in 2018. Takes Metformin. Likes Greek yogurt but "
                "dislikes kale. Tries to walk daily.",
                "said_at": "2025-12-31",
            }
        ]
    },
):
    """The memory of another system: its text, or the messages of old conversations."""

    text: Annotated[str | None, Field(min_length=1, max_length=MAX_TEXT_BYTES)] = None
    """mem0 JSON, saved memories of ChatGPT, or notes"""
    messages: Annotated[list[OldMessageIn] | None, Field(min_length=1, max_length=MAX_TURNS)] = None
    format: Annotated[Format, Field(description="the form of text; auto tells it by the text")] = "auto"
    source: Annotated[Name | None, Field(description="where the memory comes from; default: its form")] = None
    said_at: DayOrInstant | None = None
    """when sentences without a date of their own were true; default: now"""
    user_name: Name | None = None
    """what the text calls the user; default: the name that the text itself tells"""
    timezone: Annotated[str, Field(max_length=255)] = "UTC"
    """IANA name of the speaker's time zone"""
    apply_from: Annotated[float, Field(ge=0, le=1)] = APPLY_FROM
    """values below this confidence wait for an approval"""
    dry_run: Annotated[bool, Field(description="true: only show what would happen")] = False
    wait_s: Annotated[float, Field(ge=0, le=30)] = 10.0
    """how long to wait for the extraction, in seconds"""


def migration_router(
    transactions: Transactions,
    documents: Callable[[], Documents],
    publisher: TurnPublisher,
    extractor: Callable[[], Extractor],
    places: Places,
) -> APIRouter:
    """Returns the route. It answers 503 while Postgres or Redis is away. ``extractor`` serves dry runs.

    A request holds one of ``places`` while it works, and none while it waits for the extraction.
    """
    router = routes_of("memory")

    @router.post("/v1/memory/{user_id}/migrate", summary="Migrate the memory of another system")
    async def migrate_memory(
        request: Request, user_id: str, body: MigrateIn, sender: Sent
    ) -> MemoryMigration:
        async def work(step: Callable[[], _T]) -> _T:
            async with places.held(request):
                return await asyncio.to_thread(step)

        command = document_command(sender, user_id)
        owner, now = command.owner, command.at
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
        key = await work(queue_key)
        migration = migration_of(messages, terms, key)
        await work(lambda: check(migration, now))
        follower = Follower(owner, migration)
        known = await work(lambda: transactions.run(owner, follower.known))
        fresh = migration.part(each for each in migration.turns if each not in known)
        if body.dry_run:
            report = await work(lambda: rehearsed(migration, now))
        else:
            if fresh.turns:
                await work(lambda: transactions.run(owner, lambda c: begin(c, migration, command)))
                await push(fresh, sender.caller.tenant, key)
            until = time.monotonic() + body.wait_s
            while await work(lambda: transactions.run(owner, follower.pending)) and time.monotonic() < until:
                await asyncio.sleep(_LOOK_EVERY_S)
            report = await work(lambda: transactions.run(owner, lambda c: follower.report(c, documents())))
        # The token waits for the last sentence that is not extracted yet.
        awaited: Awaited = report.pending[-1] if report.pending and not body.dry_run else report.position
        return MemoryMigration.made_from(
            report.resource(),
            migration_id=migration.migration_id,
            format=form,
            dry_run=body.dry_run,
            sentences=len(migration.turns),
            taken=len(fresh.turns),
            remarks=remarks,
            token=transactions.token(owner, awaited),
        )

    async def push(migration: Migration, tenant: str, key: QueueKey) -> None:
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
        if len(migration.turns) > MOST_REHEARSED:
            raise invalid(
                "dry_run", f"takes at most {MOST_REHEARSED} sentences, not {len(migration.turns)}; send fewer"
            )
        try:
            return transactions.run(
                migration.terms.owner, lambda c: rehearse(c, documents(), extractor(), migration, now)
            )
        except ExtractorUnavailableError as error:
            raise ProblemError(503, "Extractor unavailable", f"{error}; try again later") from error

    def queue_key() -> QueueKey:
        with transactions.connection() as connection:
            transactions.sealer(connection)
        key = transactions.keyring.queue_key
        assert key is not None, "the keyring learns both keys at once"
        return key

    return router


def _messages(body: MigrateIn) -> tuple[str, list[Memory], list[str]]:
    """Returns (form, messages, remarks). Raises a 422 problem that names the line or pointer at fault."""
    if body.text is None and body.messages is None:
        raise invalid("text", "is required; send text or messages")
    if body.text is not None and body.messages is not None:
        raise invalid("text", "and messages exclude each other; send one of them")
    if body.messages is not None:
        return "messages", [Memory(each.content, each.said_at, each.role) for each in body.messages], []
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
    return found.format, found.memories, found.remarks
