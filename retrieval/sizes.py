"""How much a user has said, and of what: what is best for one with a hundred cards is not for one with very many."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

import psycopg

from events.sql import statement
from projectors.cards.card import CONCEPT_TERM, pair_keys
from projectors.text.terms import term_keys
from retrieval.channels.channel import COMMON
from retrieval.connections import Pool, connected
from retrieval.question import Question
from retrieval.scope import Size

logger = logging.getLogger(__name__)

_SIZE_KNOWN_S, _COMMON_KNOWN_S, _RARE_KNOWN_S = 60.0, 600.0, 60.0
_REMEMBERED = 50_000
_WITHIN_S = 0.1

_T = TypeVar("_T")


class Sizes:
    """Looks sizes up, and remembers them: nobody's memory grows so fast that a minute matters.

    Counting how many cards hold a common word takes as long as a search, and three channels would do it at once.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._sizes: _Memory[Size] = _Memory()
        self._common: _Memory[bool] = _Memory()

    async def of(self, user_id: str, question: Question) -> Size:
        """The size of what is asked. Never raises: what cannot be told is very many, which is always safe."""
        try:
            size = self._sizes.get(user_id)
            if size is None:
                found = await self._rows("cards_of", user_id=user_id)
                size = Size(found[0][0], found[0][0] / max(1, found[0][1])) if found else Size(0)
                self._sizes.put(user_id, size, _SIZE_KNOWN_S)
            return replace(size, common=await self._common_of(user_id, question)) if size.many else size
        except psycopg.Error as error:
            logger.debug("cannot tell how much a user has said: %s", error)
            return Size()

    async def _common_of(self, user_id: str, question: Question) -> tuple[int, ...]:
        terms = term_keys(user_id, (*question.terms, *(CONCEPT_TERM + key for key in question.concepts)))
        pairs = pair_keys(user_id, "".join(question.terms))
        unknown = [key for key in (*terms, *pairs) if self._common.get((user_id, key)) is None]
        if unknown:
            rows = await self._rows(
                "common",
                user_id=user_id,
                terms=_among(terms, unknown),
                pairs=_among(pairs, unknown),
                common=COMMON,
            )
            common = {key for (key,) in rows}
            for key in unknown:
                known_s = _COMMON_KNOWN_S if key in common else _RARE_KNOWN_S
                self._common.put((user_id, key), key in common, known_s)
        return tuple(key for key in (*terms, *pairs) if self._common.get((user_id, key)))

    async def _rows(self, name: str, **values: Any) -> list[tuple[Any, ...]]:
        async with connected(self._pool, _WITHIN_S) as connection:
            return await (await connection.execute(statement("retrieval", name), values)).fetchall()


def _among(keys: Iterable[int], wanted: Sequence[int]) -> list[int]:
    return [key for key in keys if key in wanted]


class _Memory(Generic[_T]):
    """Values by key, each for its time; the oldest are forgotten first."""

    def __init__(self) -> None:
        self._values: OrderedDict[Hashable, tuple[float, _T]] = OrderedDict()

    def get(self, key: Hashable) -> _T | None:
        found = self._values.get(key)
        return found[1] if found is not None and time.monotonic() < found[0] else None

    def put(self, key: Hashable, value: _T, for_s: float) -> None:
        self._values[key] = (time.monotonic() + for_s, value)
        self._values.move_to_end(key)
        if len(self._values) > _REMEMBERED:
            self._values.popitem(last=False)
