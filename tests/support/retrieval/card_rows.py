"""States that differ in their values, for tests of alerts."""

from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from projectors.cards.card import StoredCard
from tests.support.cards import card

NOW = datetime(2026, 5, 8, tzinfo=UTC)


def state(value: str, **more: Any) -> StoredCard:
    """A single-valued residence of the user, verified at :data:`NOW`. ``more`` changes fields."""
    usual: dict[str, Any] = {
        "card_id": uuid5(NAMESPACE_OID, f"{value} {more}"),
        "concept_key": "residence",
        "value": value,
        "cardinality": "single_value",
        "last_verified": NOW,
    }
    return card(**usual | more)
