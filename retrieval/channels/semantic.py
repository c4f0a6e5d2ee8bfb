"""Meaning: the cards whose vectors lie nearest to the question's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection

from events.script import has_cjk
from projectors.text.embedding import Embedder, EmbedderUnavailableError, reads_chinese
from retrieval.channels.channel import ChannelDownError, Hit, search_statement
from retrieval.question import Question
from retrieval.scope import Scope

_LIMIT = 20
_WEIGHT = 0.5  # a small model's ranks are worth about half those of exact terms (docs/benchmarks.md)
_FOREIGN_WEIGHT = 0.1


class SemanticChannel:
    """Down, and saying so, while there is no embedding model."""

    name = "semantic"

    def __init__(self, open_embedder: Callable[[], Embedder]) -> None:
        self._open = open_embedder
        self._embedder: Embedder | None = None

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
        vector = await asyncio.to_thread(self._vector, question.text)
        await register_vector_async(connection)
        assert self._embedder is not None
        cursor = await connection.execute(
            search_statement("semantic", vectors=f"vectors.card_vectors_{self._embedder.dimension}"),
            {**scope.parameters(), "vector": vector, "model": self._embedder.name, "limit": _LIMIT},
        )
        return [Hit(*row) for row in await cursor.fetchall()]

    def _vector(self, text: str) -> Any:
        try:
            if self._embedder is None:
                self._embedder = self._open()
            return self._embedder.embed_question(text)
        except EmbedderUnavailableError as error:
            raise ChannelDownError(str(error)) from error
