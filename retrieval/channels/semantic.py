"""Meaning: the cards whose vectors lie nearest to the question's."""

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
from retrieval.channels.channel import ChannelDownError, Hit, search_statement
from retrieval.query.question import Question
from retrieval.query.scope import Scope

_LIMIT = 20
_WEIGHT = 0.5  # a small model's ranks are worth about half those of exact terms (docs/benchmarks.md)
_FOREIGN_WEIGHT = 0.1
_WALKED_FROM = (
    16_000  # cards times share: the index of all users is walked 1 / share as far (docs/benchmarks.md)
)
_LOOKED_AT = 300  # signs alone put a card among the nearest 20 within about this many (docs/benchmarks.md)
_WALKED_TO = 150  # so many where the index is walked, a step of which costs as much as ten of a scan
_LOOKED_FURTHER = 3_000  # so far within the deadline; among more that may not answer, the other channels find
_THREADS = 2


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question in the space of one model, or why it could not be put there."""

    embedder: Embedder | None
    vector: Vectors | None
    missing: str = ""


class SemanticChannel:
    """Compares all vectors of a user; where they are very many, their signs first, or finds the nearest in an index.

    Looks among the cards of a mode with its model; without a mode, with every model, each among its own cards.

    Distances of two models cannot be compared, so their hits go together by rank. Down, and saying so, while
    no model is there that is wanted; where only some are, it answers with those and says which are not.
    Down, too, where it is ``saturated``: a model takes half the processor time of a recall.
    """

    name = "semantic"

    def __init__(self, embedders: Embedders, saturated: Callable[[], bool] = lambda: False) -> None:
        self._embedders = embedders
        self._saturated = saturated
        # Of its own: an embedder that hangs must not take the threads that health checks run in.
        self._threads = ThreadPoolExecutor(_THREADS, "embedding")

    def weight(self, question: Question, scope: Scope) -> float:
        """Half a vote, and hardly one on a language no model that is asked was ever shown."""
        asked = self._modes(question, scope)
        return _WEIGHT if any(self._reads(mode, question) for mode in asked) else _FOREIGN_WEIGHT

    def warm(self) -> None:
        """Load the models now, so that the first question does not wait for them."""
        for mode in self._embedders.modes:
            self._asked(mode, "warm")

    @property
    def ready(self) -> bool:
        """Whether a model is there."""
        return any(self._embedders.opened(mode) is not None for mode in self._embedders.modes)

    def silent(self, question: Question) -> bool:
        """Never known before."""
        return False

    async def search(self, connection: AsyncConnection[Any], question: Question, scope: Scope) -> list[Hit]:
        if self._saturated():
            raise ChannelDownError("so many recalls wait that this one's question was not put to the model")
        loop = asyncio.get_running_loop()
        asking = [
            loop.run_in_executor(self._threads, self._asked, mode, question.text)
            for mode in self._modes(question, scope)
        ]
        asked = await asyncio.gather(*asking)
        hits = _by_rank([await self._near(connection, scope, each) for each in asked if not each.missing])
        if missing := "; ".join(each.missing for each in asked if each.missing):
            raise ChannelDownError(missing, hits)
        return hits

    async def _near(self, connection: AsyncConnection[Any], scope: Scope, asked: _Asked) -> list[Hit]:
        assert asked.embedder is not None
        dimension = asked.embedder.dimension
        table = f"vectors.card_vectors_{dimension}"
        values = {**scope.parameters(), "vector": asked.vector, "model": asked.embedder.name, "limit": _LIMIT}

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
            # Few of the nearest may answer: those that may are further off.
            found = await hits("semantic_own", _LOOKED_FURTHER, dimension=dimension)
        return found

    def _modes(self, question: Question, scope: Scope) -> Sequence[str | None]:
        """The mode that is asked in; else one for each model, without those that cannot read what others can."""
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
    """The first of every model, then the second of every one, and so on."""
    return list(islice(filter(None, chain.from_iterable(zip_longest(*found))), _LIMIT))
