"""Turns for the model, and the model's answers."""

from datetime import datetime
from typing import Any

from events.types.cards import EventNoted, StateAsserted
from events.types.turns import Role
from ingest.extraction.extractor_port import Extraction, RecordedTurn
from tests.support.events.turns import recorded
from tests.support.ingest.messages_api import MessagesApi, calls


def said(
    text: str,
    number: int = 1,
    *,
    role: Role = "user",
    speaker: str | None = None,
    at: str = "2026-05-08T16:44:10+08:00",
    timezone: str = "Asia/Taipei",
) -> RecordedTurn:
    turn = recorded(
        text,
        turn_id=f"t{number}",
        role=role,
        said_at=datetime.fromisoformat(at),
        timezone=timezone,
        speaker=speaker,
    )
    return RecordedTurn("ana", number, turn)


def state(quote: str, value: str, **more: Any) -> dict[str, Any]:
    return {
        "turn": 1, "quote": quote, "content": f"Lives in {value}", "entity": "user", "concept_key": "residence",
        "value": value, "cardinality": "single_value", "statement": "asserted", **more,
    }  # fmt: skip


def event(quote: str, **more: Any) -> dict[str, Any]:
    return {"turn": 1, "quote": quote, "content": quote, "entity": "user", "importance": 5, **more}


def answering(api: MessagesApi, **lists: list[dict[str, Any]]) -> None:
    api.trouble = lambda _: calls({"states": [], "events": [], "knowledge": [], **lists})


def states(extraction: Extraction) -> list[StateAsserted]:
    return [card for card in extraction.cards if isinstance(card, StateAsserted)]


def noted(extraction: Extraction) -> list[EventNoted]:
    return [card for card in extraction.cards if isinstance(card, EventNoted) and not card.episode]
