"""Semantic search: the cards whose vectors are nearest to the vector of the question."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from typing import Any

from psycopg import AsyncConnection

from events.language.chinese_script import has_cjk
from projectors.embedding.embedder import Embedder, EmbedderUnavailableError, Vectors, reads_chinese
from projectors.embedding.embedders import Embedders
from retrieval.channels.channel import LONG, ChannelDownError, Hit, assistant_share, search_statement
from retrieval.query.question import Question
from retrieval.query.scope import Scope

_LIMIT = 20
_LOOKED_UP = 60  # the nearest cards that are looked up: in a chat, half of them are an assistant's
_WEIGHT = 0.5  # a small model's ranks are worth about half those of exact terms (docs/benchmarks.md)
_LONG_WEIGHT = 1.5
_FOREIGN_WEIGHT = 0.1
# Above this value of cards times share, the index of all users is walked. It is walked 1 / share as far
# (docs/benchmarks.md).
_WALKED_FROM = 16_000
_LOOKED_AT = 300  # the signs alone bring the nearest 20 cards into about the first 300 (docs/benchmarks.md)
_WALKED_TO = (
    150  # fewer candidates for the index walk, because one of its steps costs as much as ten of a scan
)
_LOOKED_FURTHER = 3_000  # the most candidates within the deadline; the other channels find the rest
_THREADS = 2


@dataclass(frozen=True, slots=True)
class _Asked:
    """The vector of a question from one model, or in ``missing`` the reason why there is none."""

    embedder: Embedder | None
    vector: Vectors | None
    missing: str = ""


class SemanticChannel:
    """Finds the cards whose vectors are nearest to the question's vector.

    It compares all vectors of a user. For a user with very many vectors it compares their signs first, or walks the
    index of all signs. With a mode it searches the mode's cards with the mode's model. Without a mode it searches
    with every model, each among its own cards. Distances of two models are not comparable, so hits are joined by rank.

    The channel is down while no needed model is available. When some of the models are available, it answers with
    those and names the missing ones. It is also down while ``saturated`` is true, because a model takes half the
    processor time of a recall.
    """

    name = "semantic"

    def __init__(self, embedders: Embedders, saturated: Callable[[], bool] = lambda: False) -> None:
        self._embedders = embedders
        self._saturated = saturated
        # A separate pool: an embedder that hangs must not block the threads of the health checks.
        self._threads = ThreadPoolExecutor(_THREADS, "embedding")

    def weight(self, question: Question, scope: Scope) -> float:
        """Half a vote, 1.5 votes on a long question, and 0.1 when no model of the question reads its language."""
        if not any(self._reads(mode, question) for mode in self._modes(question, scope)):
            return _FOREIGN_WEIGHT
        return _LONG_WEIGHT if len(question.weights) > LONG else _WEIGHT

    def warm(self) -> None:
        """Loads the models now, so that the first question does not wait for them."""
        for mode in self._embedders.modes:
            self._asked(mode, "warm")

    @property
    def ready(self) -> bool:
        """True when at least one model is loaded."""
        return any(self._embedders.opened(mode) is not None for mode in self._embedders.modes)

    def silent(self, question: Question) -> bool:
        """False: only a search can tell."""
        return False

    async def search(self, connection: AsyncConnection[Any], question: Question, scope: Scope) -> list[Hit]:
        if self._saturated():
            raise ChannelDownError("too many recalls wait: the model did not embed this question")
        loop = asyncio.get_running_loop()
        asking = [
            loop.run_in_executor(self._threads, self._asked, mode, question.text)
            for mode in self._modes(question, scope)
        ]
        asked = await asyncio.gather(*asking)
        share = assistant_share(question)
        hits = _by_rank(
            [await self._near(connection, scope, each, share) for each in asked if not each.missing]
        )
        if missing := "; ".join(each.missing for each in asked if each.missing):
            raise ChannelDownError(missing, hits)
        return hits

    async def _near(
        self, connection: AsyncConnection[Any], scope: Scope, asked: _Asked, assistant: float
    ) -> list[Hit]:
        assert asked.embedder is not None
        dimension = asked.embedder.dimension
        table = f"vectors.card_vectors_{dimension}"
        values = {
            **scope.parameters(),
            "vector": asked.vector,
            "model": asked.embedder.name,
            "assistant": assistant,
            "looked_up": _LOOKED_UP,
            "limit": _LIMIT,
        }

        async def hits(name: str, looked_at: int = _LOOKED_AT, **parts: int) -> list[Hit]:
            cursor = await connection.execute(
                search_statement(name, vectors=table, **parts), {**values, "looked_at": looked_at}
            )
            return [Hit(*row) for row in await cursor.fetchall()]

        if not scope.size.many:
            return await hits("semantic")
        if scope.size.cards * scope.size.share > _WALKED_FROM:
            return await hits("semantic_near", _WALKED_TO, dimension=dimension)
        found = await hits("semantic_own", dimension=dimension)
        if len(found) < _LIMIT:
            # The scope excludes most of the nearest cards, so look further.
            found = await hits("semantic_own", _LOOKED_FURTHER, dimension=dimension)
        return found

    def _modes(self, question: Question, scope: Scope) -> Sequence[str | None]:
        """Returns the mode of the scope, else one mode for each model that reads the question's language.

        When no model reads the language, it returns one mode for each model.
        """
        if scope.mode is not None:
            return (scope.mode,)
        modes = self._embedders.modes
        return [mode for mode in modes if self._reads(mode, question)] or modes

    def _reads(self, mode: str | None, question: Question) -> bool:
        if not has_cjk(question.text):
            return True
        embedder = self._embedders.opened(mode)
        return embedder is None or reads_chinese(embedder.name)

    def _asked(self, mode: str | None, text: str) -> _Asked:
        try:
            embedder = self._embedders.of(mode)
            return _Asked(embedder, embedder.embed_question(text))
        except EmbedderUnavailableError as error:
            return _Asked(None, None, str(error))


def _by_rank(found: Iterable[Sequence[Hit]]) -> list[Hit]:
    """Joins the hits of all models: first the best of every model, then the second of every model, and so on."""
    return list(islice(filter(None, chain.from_iterable(zip_longest(*found))), _LIMIT))
