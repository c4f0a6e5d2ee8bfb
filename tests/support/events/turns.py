"""Turns as events of the log."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from events.types.envelope import NewEvent, uuid7
from events.types.turns import TurnRecorded

NOW = datetime(2026, 5, 8, 16, 44, 10, tzinfo=UTC)


def recorded(text: str, **more: Any) -> TurnRecorded:
    """What a user said now. The turn is named after its words unless ``more`` has a ``turn_id``."""
    usual: dict[str, Any] = {
        "turn_id": text, "text": text, "role": "user", "said_at": NOW, "timezone": "UTC", "session_id": "s",
        "project_id": "default",
    }  # fmt: skip
    return TurnRecorded(**usual | more)


def turn(user: str, text: str | TurnRecorded, **envelope: Any) -> NewEvent:
    """The event of a turn of ``user``. ``envelope`` changes fields of the event."""
    payload = recorded(text) if isinstance(text, str) else text
    usual: dict[str, Any] = {
        "event_id": uuid7(), "user_id": user, "stream": f"session/default/{payload.session_id}", "payload": payload,
        "occurred_at": payload.said_at, "actor": "test",
    }  # fmt: skip
    return NewEvent(**usual | envelope)
