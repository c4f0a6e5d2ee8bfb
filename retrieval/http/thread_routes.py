"""Threads over HTTP, to read: the list, and one thread with its cards."""

from __future__ import annotations

from dataclasses import replace
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
from events.threads.thread import ThreadedCard
from retrieval.cards.card import ListedCard
from retrieval.cards.query import ReaderIn, TemporalParams, asked_of, reader_of
from retrieval.http.card_routes import Fresh
from retrieval.threads.reader import ThreadReader

_read = Reading("Threads unavailable")


class ThreadsIn(ReaderIn):
    """Which threads."""

    status: Annotated[Literal["open", "closed", "all", "*"], Field(description="* is all")] = "open"
    project_id: Annotated[str | None, Field(description="only of this project")] = None
    limit: Annotated[int, Field(ge=1, le=500)] = 100


def threads_router(threads: ThreadReader, fresh: Fresh) -> APIRouter:
    """Returns the routes. A thread of another user or out of reach gives the same 404 as none."""
    router = routes_of("threads")

    @router.get("/v1/threads", summary="The threads of a user, open ones first")
    async def list_threads(query: Annotated[ThreadsIn, Query()], caller: Reader) -> ThreadsPage:
        owner = owner_of(caller, reader_of(query))
        found = [
            each
            for each in await _read(threads.present, owner)
            if query.status in ("all", "*", each.status)
            and query.project_id in (None, each.project_id)
            and caller.reach.admits(each.project_id, each.mode)
        ]
        return ThreadsPage(threads=[Thread.made_from(each) for each in found[: query.limit]])

    @router.get("/v1/threads/{thread_id}", summary="One thread with its cards")
    async def thread(thread_id: Uuid, query: Annotated[ReaderIn, Query()], caller: Reader) -> ThreadCards:
        owner = owner_of(caller, reader_of(query), thing="thread", field="thread_id")
        found = await _read(threads.thread, owner, thread_id)
        if found is None or not caller.reach.admits(found.project_id, found.mode):
            raise missing("thread", "thread_id")
        reader = await fresh(query.wait_for, owner)
        asked = asked_of(TemporalParams(user_id=query.user_id), datetime.now(UTC))
        asked = await _read(reader.prepared, replace(asked, user_id=owner, reach=caller.reach))
        known = await _read(reader.cards, asked, list(found.cards))
        cards = [_shown(each, known.get(each.card_id)) for each in found.cards.values()]
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
