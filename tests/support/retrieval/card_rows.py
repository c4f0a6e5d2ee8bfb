"""Rows of cards, to be changed by tests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

NOW = datetime(2026, 5, 8, tzinfo=UTC)


def state(value: str, **more: Any) -> dict[str, Any]:
    return {
        "card_id": f"{value} {more}",
        "kind": "state",
        "concept_key": "residence",
        "entity": "user",
        "value": value,
        "cardinality": "single_value",
        "superseded_at": None,
        "last_verified": NOW,
        "project_id": "default",
    } | more
