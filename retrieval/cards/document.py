"""A card as the HTTP services show it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from retrieval.cards.alerts import aging, outdated

SHOWN = (
    "card_id", "kind", "content", "entity", "concept_key", "value", "cardinality", "tags", "occurred_at",
    "occurred_until", "effective_at", "superseded_at", "last_verified", "created_at", "project_id", "session_id",
    "agent_id", "document_id", "context_layer", "speaker", "turn_ids", "source_span", "provenance", "confidence",
    "weight", "mentions", "mode", "said_at",
)  # fmt: skip
OF_KIND = {
    "state": ("ended",),
    "event": ("episode", "topics", "importance", "sentiment"),
    "knowledge": ("title", "aliases", "definition"),
}
COLUMNS = (
    *SHOWN,
    *(name for names in OF_KIND.values() for name in names),
    "retracted",
    "contested",
    "caused_by",
)


def card_document(card: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """What there is to say of a card at ``now``, with the flags of age: aging, outdated."""
    document = {name: card[name] for name in (*SHOWN, *OF_KIND[card["kind"]])}
    document["aging"] = aging(card, now)
    document["outdated"] = outdated(card, now)
    return document
