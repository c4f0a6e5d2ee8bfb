"""Cards, and one channel asked for them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from starlette.testclient import TestClient

from events.platform.settings import Settings
from events.types.cards import EventNoted
from projectors.embedding.embedder import HASH_MODEL
from retrieval.http.read_api import create_app
from retrieval.pool.connections import ReadConnection, open_pool
from tests.support.projectors.folding import NOW, ORIGIN
from tests.support.waiting import PATIENT


def noted(content: str, **more: Any) -> EventNoted:
    return EventNoted(
        content=content, entity="user", tags=(), origin=ORIGIN, occurred_at=NOW, episode=True, **more
    )


def recall(database: str, query: str, *, user: str = "alex", **more: Any) -> Any:
    settings = replace(Settings(), database_url=database, embed_model=HASH_MODEL, **PATIENT)
    with TestClient(create_app(settings)) as client:
        body = {"user_id": user, "query": query, "as_of": NOW.isoformat(), **more}
        answer = client.post("/v1/recall", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def searching(database: str, do: Callable[[ReadConnection], Awaitable[Any]]) -> Any:
    """Returns the result of ``do`` on a connection that is opened as recall opens it."""

    async def run() -> Any:
        pool = open_pool(replace(Settings(), database_url=database), "test")
        await pool.open(wait=True)
        try:
            async with pool.connection() as connection:
                return await do(connection)
        finally:
            await pool.close()

    return asyncio.run(run())
