"""The event that records a turn."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from events.types.codec import event_type

Role = Literal["user", "assistant", "system"]
ContextLayer = Literal["personal", "work", "social"]


@event_type(version=1)
class TurnRecorded:
    """One message of a conversation, exactly as the app pushed it.

    ``said_at`` has the offset of the speaker's clock. ``timezone`` is the IANA zone of the speaker's words.
    Neither comes from the machine that recorded the turn. ``metadata`` is the canonical text of a JSON object.
    """

    turn_id: str
    text: str
    role: Role
    said_at: datetime
    timezone: str
    session_id: str
    project_id: str
    speaker: str | None = None
    agent_id: str | None = None
    document_id: str | None = None
    context_layer: ContextLayer | None = None
    mode: str | None = None
    metadata: str | None = None
