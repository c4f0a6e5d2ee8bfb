"""The number of cards of a user, the user's clock, and the frequent terms of a question.

Channels search a heavy user differently.
"""

import logging
from dataclasses import replace

import psycopg
from cachetools import TLRUCache, TTLCache
from psycopg.rows import TupleRow

from events.language.terms import term_keys
from events.platform.database import statement
from events.platform.failures import retry_on_lost_connection
from projectors.cards.card_rows import CONCEPT_TERM, pair_keys
from retrieval.pool import Pool
from retrieval.query.question import Question
from retrieval.query.scope import Size

logger = logging.getLogger(__name__)

_SIZE_KNOWN_S, _COMMON_KNOWN_S, _RARE_KNOWN_S = 60.0, 600.0, 60.0
_REMEMBERED = 50_000
_WITHIN_S = 0.1
_ZONE_WITHIN_S = 1.0


class UserSizes:
    """Looks up sizes and caches them. A size that is a minute old is good enough.

    Counting the cards with a frequent term takes as long as a search. Without the cache, three channels would each
    count.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._users: TTLCache[str, tuple[Size, str | None]] = TTLCache(_REMEMBERED, _SIZE_KNOWN_S)
        self._common: TLRUCache[tuple[str, int], bool] = TLRUCache(
            _REMEMBERED, lambda _, common, now: now + (_COMMON_KNOWN_S if common else _RARE_KNOWN_S)
        )

    async def of(self, user_id: str, question: Question) -> Size:
        """Returns the size of a user for one question. Never raises. An unknown size counts as very many cards."""
        try:
            size, _ = await self._user(user_id)
            return replace(size, common=await self._common_of(user_id, question, size)) if size.many else size
        except psycopg.Error as error:
            logger.debug("cannot count the cards of a user: %s", error)
            return Size()

    async def zone_of(self, user_id: str) -> str | None:
        """Returns the time zone of the user's latest event card, or None when no card names one.

        It waits up to a second for a connection, because a wrong zone gives wrong days. Raises psycopg's errors.
        """
        return (await self._user(user_id, _ZONE_WITHIN_S))[1]

    async def _user(self, user_id: str, within_s: float = _WITHIN_S) -> tuple[Size, str | None]:
        known = self._users.get(user_id)
        if known is None:
            found = await self._rows("user_card_count", within_s, user_id=user_id)
            known = Size(0), None
            if found:
                cards, of_all, zone = found[0]
                known = Size(cards, cards / max(1, of_all)), zone
            self._users[user_id] = known
        return known

    async def _common_of(self, user_id: str, question: Question, size: Size) -> tuple[int, ...]:
        terms = term_keys(user_id, (*question.terms, *(CONCEPT_TERM + key for key in question.concepts)))
        pairs = pair_keys(user_id, "".join(question.terms))
        unknown = [key for key in (*terms, *pairs) if self._common.get((user_id, key)) is None]
        if unknown:
            rows = await self._rows(
                "frequent_terms",
                _WITHIN_S,
                user_id=user_id,
                terms=[key for key in terms if key in unknown],
                pairs=[key for key in pairs if key in unknown],
                common=size.common_from,
            )
            common = {key for (key,) in rows}
            for key in unknown:
                self._common[user_id, key] = key in common
        return tuple(key for key in (*terms, *pairs) if self._common.get((user_id, key)))

    async def _rows(self, name: str, within_s: float, *, user_id: str, **values: object) -> list[TupleRow]:
        async def look() -> list[tuple[object, ...]]:
            async with self._pool.connected(user_id, within_s) as connection:
                cursor = await connection.execute(
                    statement("retrieval.recall", name), {"user_id": user_id, **values}
                )
                return await cursor.fetchall()

        return await retry_on_lost_connection(look)
