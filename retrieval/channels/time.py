"""Search by time: events that happened, and states that began, in the time window of the question."""

from psycopg import AsyncConnection

from events.language.terms import term_keys
from retrieval.channels.channel import Channel, Hit, assistant_share, searched
from retrieval.query.question import Question
from retrieval.query.scope import Scope

_LIMIT = 50
_LOOKED_AT = 500  # the latest cards of the window that are read although they share no selective term


class TimeChannel(Channel):
    """Finds cards inside the question's time window, ordered by the question's words. Silent without a time."""

    name = "time"

    def silent(self, question: Question) -> bool:
        """True when the question names no time."""
        return question.span is None

    async def search(self, connection: AsyncConnection, question: Question, scope: Scope) -> list[Hit]:
        span = question.span
        assert span is not None, "a silent channel is not searched"
        return await searched(
            connection,
            "time",
            scope,
            {
                "assistant": assistant_share(question),
                "from": span.start,
                "to": span.end,
                "keys": term_keys(scope.user_id, question.terms),
                "weights": [1.0] * len(question.terms),
                "looked_at": _LOOKED_AT,
                "limit": _LIMIT,
            },
        )
