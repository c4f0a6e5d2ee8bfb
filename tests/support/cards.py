"""Makes cards in one line each. Every field has a default that a test may keep."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from projectors.cards.card import StoredCard
from retrieval.recall.answer import CardAnswer

NOW = datetime(2026, 5, 8, 16, 44, tzinfo=UTC)


def card(**fields: Any) -> StoredCard:
    """A state card of ann, stated now, with no terms."""
    usual: dict[str, Any] = {
        "card_id": UUID(int=1), "kind": "state", "content": "lives in Lisbon", "entity": "user", "tags": [],
        "last_verified": NOW, "created_at": NOW, "said_at": NOW, "project_id": "default", "session_id": "s",
        "turn_ids": ["t1"], "provenance": "user_stated", "confidence": 1.0, "weight": 1.0, "user_id": "ann",
        "position": 1, "caused_by": None, "term_keys": [], "own_terms": 0, "pair_keys": [],
    }  # fmt: skip
    return StoredCard(**usual | fields)


def answering(
    found: StoredCard,
    *,
    score: float = 1.0,
    pending: bool = False,
    aging: bool = False,
    outdated: bool = False,
) -> CardAnswer:
    """The card as an answer that no channel voted for."""
    return CardAnswer(card=found, score=score, channels={}, pending=pending, aging=aging, outdated=outdated)
