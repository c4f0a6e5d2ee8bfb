"""Cards, and one channel asked for them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from psycopg import AsyncConnection
from starlette.testclient import TestClient

from events.types.cards import EventNoted
from retrieval.channels.channel import Channel, Hit
from retrieval.http.read_api import create_app
from retrieval.pool import Pool, open_pool
from retrieval.query.question import understand
from retrieval.query.scope import Size, scope_of
from tests.support.databases import Place
from tests.support.projectors.folding import NOW, ORIGIN, settings_of
from tests.support.waiting import ALONE

Recall = Callable[..., dict[str, Any]]

FEW, MANY, MOST = Size(100), Size(20_000, share=0.1), Size(100_000, share=0.9)
"""Users with few cards, with many, and with most of the table."""


def noted(content: str, *, mode: str | None = None, **more: Any) -> EventNoted:
    return EventNoted(
        content=content, entity="user", tags=(), origin=replace(ORIGIN, mode=mode), occurred_at=NOW, episode=True,
        **more,
    )  # fmt: skip


@contextmanager
def asking(database: Place, **changed: Any) -> Iterator[Recall]:
    """Yields a recall of alex, for a read service with these settings."""
    with TestClient(create_app(settings_of(database, **ALONE | changed))) as client:

        def ask(query: str, **more: Any) -> dict[str, Any]:
            answer = client.post("/v1/recall", json={"user_id": "alex", "query": query} | more)
            assert answer.status_code == 200, answer.text
            document: dict[str, Any] = answer.json()
            return document

        yield ask


def recall(database: Place, query: str, *, user: str = "alex", **more: Any) -> Any:
    with asking(database) as ask:
        return ask(query, user_id=user, **{"as_of": NOW.isoformat()} | more)


def pooled(database: Place, do: Callable[[Pool], Awaitable[Any]], **changed: Any) -> Any:
    """Returns the result of ``do`` on a pool that is opened as recall opens it."""

    async def run() -> Any:
        pool = open_pool(settings_of(database, **{"pool_size": 1} | changed), "test")
        await pool.open(wait=True)
        try:
            return await do(pool)
        finally:
            await pool.close()

    return asyncio.run(run())


def searching(database: Place, do: Callable[[AsyncConnection], Awaitable[Any]], user_id: str = "alex") -> Any:
    """Returns the result of ``do`` on a connection of such a pool."""

    async def search(pool: Pool) -> Any:
        async with pool.connected(user_id, 30.0) as connection:
            return await do(connection)

    return pooled(database, search)


def hits_of(database: Place, each: Channel, text: str, user: str, *, size: Size = FEW) -> Sequence[Hit]:
    """Returns what one channel finds for ``text``, for a user with as many cards as ``size`` says."""
    question = understand(text, NOW)
    scope = replace(scope_of(question, user_id=user, projects=None), size=size)

    async def hits(connection: AsyncConnection) -> Sequence[Hit]:
        await connection.execute(
            "SELECT set_config('enable_sort', %s, false)", ["off" if size is MOST else "on"]
        )
        return await each.search(connection, question, scope)

    found: Sequence[Hit] = searching(database, hits, user)
    return found
