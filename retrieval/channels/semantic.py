"""Meaning: the cards whose vectors lie nearest to the question's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from psycopg import AsyncConnection

from events.script import has_cjk
from events.sql import statement
from projectors.text.embedding import Embedder, EmbedderUnavailableError, reads_chinese
from retrieval.channels.channel import ChannelDownError, Hit, search_statement
from retrieval.question import Question
from retrieval.scope import Scope

_LIMIT = 20
_WEIGHT = 0.5  # a small model's ranks are worth about half those of exact terms (docs/benchmarks.md)
_FOREIGN_WEIGHT = 0.1
_EXACT_UP_TO = 10_000  # cards of a user whose vectors are all compared; more are looked for in the index
_LOOKED_AT = 300  # signs alone put a card among the nearest 20 within about this many (docs/benchmarks.md)
_THREADS = 2


class SemanticChannel:
    """Down, and saying so, while there is no embedding model."""

    name = "semantic"

    def __init__(self, open_embedder: Callable[[], Embedder]) -> None:
        self._open = open_embedder
        self._embedder: Embedder | None = None
        # Of its own: an embedder that hangs must not take the threads that health checks run in.
        self._threads = ThreadPoolExecutor(_THREADS, "embedding")

    def weight(self, question: Question) -> float:
        """Half a vote, and hardly one on a language the model was never shown."""
        if has_cjk(question.text) and self._embedder is not None and not reads_chinese(self._embedder.name):
            return _FOREIGN_WEIGHT
        return _WEIGHT

    def warm(self) -> None:
        """Load the model now, so that the first question does not wait for it."""
        try:
            self._vector("warm")
        except ChannelDownError:
            return

    async def search(self, connection: AsyncConnection[Any], question: Question, scope: Scope) -> list[Hit]:
        loop = asyncio.get_running_loop()
        vector, many = await asyncio.gather(
            loop.run_in_executor(self._threads, self._vector, question.text), self._many(connection, scope)
        )
        assert self._embedder is not None
        dimension = self._embedder.dimension
        table = f"vectors.card_vectors_{dimension}"
        cursor = await connection.execute(
            search_statement("semantic_near", vectors=table, dimension=dimension)
            if many
            else search_statement("semantic", vectors=table),
            {
                **scope.parameters(),
                "vector": vector,
                "model": self._embedder.name,
                "looked_at": _LOOKED_AT,
                "limit": _LIMIT,
            },
        )
        return [Hit(*row) for row in await cursor.fetchall()]

    async def _many(self, connection: AsyncConnection[Any], scope: Scope) -> bool:
        cursor = await connection.execute(
            statement("retrieval.channels", "cards_of"), {"user_id": scope.user_id}
        )
        row = await cursor.fetchone()
        return row is not None and row[0] > _EXACT_UP_TO

    def _vector(self, text: str) -> Any:
        try:
            if self._embedder is None:
                self._embedder = self._open()
            return self._embedder.embed_question(text)
        except EmbedderUnavailableError as error:
            raise ChannelDownError(str(error)) from error
