"""The ranking for a message that tells several things.

Such a message continues a conversation. It is about what was said lately more often than about what was said long ago,
and it is about several conversations more often than about many turns of one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from math import exp2
from uuid import UUID

from projectors.cards.card import Card
from retrieval.recall.ranking.placed import Placed

SESSION_SHARE = 0.6
"""The part of its score that a place keeps for each better place of its session."""
_HALF_DAYS = 30.0
_LEAST = 0.8


def recency(said_at: datetime, now: datetime) -> float:
    """Returns a factor from 1 for what was said at ``now`` to 0.8 for what was said very long before."""
    days = max(0.0, (now - said_at).total_seconds() / 86400)
    return _LEAST + (1 - _LEAST) * exp2(-days / _HALF_DAYS)


def over_sessions(ranked: Sequence[Placed], cards: Mapping[UUID, Card]) -> list[Placed]:
    """Returns the places spread over the conversations: every further place of a session loses a part of its score."""
    seen: Counter[tuple[str, str]] = Counter()
    spread = []
    for placed in ranked:
        session = cards[placed.card_id].project_id, cards[placed.card_id].session_id
        again = SESSION_SHARE ** seen[session]
        spread.append(placed.times("more of the same session", again) if seen[session] else placed)
        seen[session] += 1
    return sorted(spread, key=Placed.order)
