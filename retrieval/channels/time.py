"""Time ranges: what happened, or began to be true, in the stretch the question names."""

from __future__ import annotations

from typing import Any

from psycopg import AsyncConnection

from events.language.terms import term_keys
from retrieval.channels.channel import COMMON, Hit, search_statement
from retrieval.query.question import Question
from retrieval.query.scope import Scope

_LIMIT = 50
_LOOKED_AT = 500  # of those in the stretch that share no selective term, the latest


class TimeChannel:
    """Silent unless the question names a time. The words of the question order what lies inside it."""

    name = "time"

    def weight(self, question: Question, scope: Scope) -> float:
        """Always an ordinary vote."""
        return 1.0

    def warm(self) -> None:
        """Nothing to load."""

    def silent(self, question: Question) -> bool:
        """Whether no time is named."""
        return question.span is None

    async def search(self, connection: AsyncConnection[Any], question: Question, scope: Scope) -> list[Hit]:
        span = question.span
        assert span is not None, "it is silent"
        cursor = await connection.execute(
            search_statement("time"),
            {
                **scope.parameters(),
                "from": span.start,
                "to": span.end,
                "keys": term_keys(scope.user_id, question.terms),
                "weights": [1.0] * len(question.terms),
                "common": COMMON,
                "looked_at": _LOOKED_AT,
                "limit": _LIMIT,
            },
        )
        return [Hit(*row) for row in await cursor.fetchall()]
