"""Turns and other payloads as events of the log."""

from datetime import UTC, datetime
from typing import Any

from events.types.codec import describe
from events.types.envelope import Event, NewEvent, Payload, partition_of, uuid7
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


def stored(payload: Payload, **envelope: Any) -> Event:
    """The first event of the log, with this payload. ``envelope`` changes its fields."""
    usual: dict[str, Any] = {
        "partition": 0, "position": 1, "event_id": uuid7(), "user_id": "u", "stream": "s", "version": 1,
        "type": describe(payload)[0], "schema_version": 1, "dedupe_key": None, "occurred_at": NOW, "recorded_at": NOW,
        "actor": "test", "causation_id": None, "correlation_id": None, "payload": payload,
    }  # fmt: skip
    return Event(**usual | envelope)


def neighbours(count: int) -> list[str]:
    """Users of one partition."""
    wanted = partition_of("seed")
    return [user for user in (f"user{n}" for n in range(10_000)) if partition_of(user) == wanted][:count]
