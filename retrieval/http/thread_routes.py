"""Threads over HTTP, to read: the list, and one thread with its cards."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from events.http.access import Reader, owner_of
from events.http.answering import routes_of
from events.http.database import Reading
from events.http.errors import missing
from events.http.fields import Uuid
from events.resources.threads import Thread, ThreadCard, ThreadCards, ThreadsPage
from events.threads import Thread as KnownThread
from events.threads import ThreadedCard, in_order, threads
from retrieval.cards.card import ListedCard
from retrieval.cards.query import ReaderIn, reader_of
from retrieval.cards.slice import Slice
from retrieval.http.card_routes import Fresh
from retrieval.pool import Pool, answered

_read = Reading("Threads unavailable")


class ThreadsIn(ReaderIn):
    """Which threads."""

    status: Annotated[Literal["open", "closed", "all", "*"], Field(description="* is all")] = "open"
    project_id: Annotated[str | None, Field(description="only of this project")] = None
    limit: Annotated[int, Field(ge=1, le=500)] = 100


async def present_threads(pool: Pool, owner: str) -> list[KnownThread]:
    """Returns the threads of a user, from the log: open ones first, then the last changed. Raises psycopg.Error."""
    return in_order((await answered(pool, owner, threads(owner))).values())


def threads_router(pool: Pool, fresh: Fresh) -> APIRouter:
    """Returns the routes. A thread of another user or out of reach gives the same 404 as none.

    ``pool`` must be of the primary, so a write is seen at once.
    """
    router = routes_of("threads")

    @router.get("/v1/threads", summary="The threads of a user, open ones first")
    async def list_threads(query: Annotated[ThreadsIn, Query()], caller: Reader) -> ThreadsPage:
        owner = owner_of(caller, reader_of(query))
        found = [
            each
            for each in await _read(present_threads, pool, owner)
            if query.status in ("all", "*", each.status)
            and query.project_id in (None, each.project_id)
            and caller.reach.admits(each.project_id, each.mode)
        ]
        return ThreadsPage(threads=[Thread.made_from(each) for each in found[: query.limit]])

    @router.get("/v1/threads/{thread_id}", summary="One thread with its cards")
    async def thread(thread_id: Uuid, query: Annotated[ReaderIn, Query()], caller: Reader) -> ThreadCards:
        owner = owner_of(caller, reader_of(query), thing="thread", field="thread_id")
        known = await _read(present_threads, pool, owner)
        found = next((each for each in known if each.thread_id == thread_id), None)
        if found is None or not caller.reach.admits(found.project_id, found.mode):
            raise missing("thread", "thread_id")
        reader = await fresh(query.wait_for, owner)
        own = Slice(user_id=owner, now=datetime.now(UTC), reach=caller.reach)
        asked = await _read(reader.prepared, own)
        listed = await _read(reader.cards, asked, list(found.cards))
        cards = [_shown(each, listed.get(each.card_id)) for each in found.cards.values()]
        told = [each for each in cards if each.said_at is not None]
        gone = [each for each in cards if each.said_at is None]
        return ThreadCards(
            thread=Thread.made_from(found),
            cards=[*sorted(told, key=lambda each: (each.said_at, each.card_id)), *gone],
        )

    return router


def _shown(threaded: ThreadedCard, card: ListedCard | None) -> ThreadCard:
    """Returns a card of a thread. A card that was withdrawn or is out of reach keeps its place without its words."""
    return ThreadCard.made_from(
        threaded,
        kind=None if card is None else card.kind,
        content=None if card is None else card.content,
        said_at=None if card is None else card.said_at,
    )
