"""The last line before a prompt: facts that contradict each other, facts that may be out of date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from events.language.concepts import normalise_value

AGING_AFTER = timedelta(days=180)
"""A value that gets replaced, not spoken of for this long, is asked about again."""
OUTDATED_AFTER = timedelta(days=90)
"""Knowledge that was not verified for this long may be out of date."""


def aging(card: Mapping[str, Any], now: datetime) -> bool:
    """Whether a current single value is so old that the user should be asked about it."""
    return bool(
        card["cardinality"] == "single_value"
        and (card["superseded_at"] is None or card["superseded_at"] > now)
        and now - card["last_verified"] > AGING_AFTER
    )


def outdated(card: Mapping[str, Any], now: datetime) -> bool:
    """Whether a piece of knowledge is so old that it should be checked before it is relied on."""
    return bool(card["kind"] == "knowledge" and now - card["last_verified"] > OUTDATED_AFTER)


def contradictions(cards: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Single values of one concept, one entity and one project that are both said to hold and say different things."""
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for card in cards:
        if card["cardinality"] == "single_value" and card["superseded_at"] is None:
            groups.setdefault((card["project_id"], card["concept_key"], card["entity"]), []).append(card)
    return [
        {
            "concept_key": key,
            "entity": entity,
            "card_ids": [card["card_id"] for card in group],
            "reason": "different values stand side by side: "
            + ", ".join(str(card["value"]) for card in group),
        }
        for (_, key, entity), group in groups.items()
        if len(group) > 1 and len({normalise_value(key, card["value"]) for card in group}) > 1
    ]
