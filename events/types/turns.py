"""The event that records a turn."""

import re
from datetime import datetime
from functools import lru_cache
from typing import Literal

from events.types.codec import event_type, upcaster

GENERAL_MODE = "general"
"""The mode of turns that name none. The statement ``visible`` of retrieval/channels has the same name."""
Role = Literal["user", "assistant", "system"]
ContextLayer = Literal["personal", "work", "social"]
Direction = Literal["incoming", "outgoing"]
_LONGEST_NUMBER = 20
_DIGITS = re.compile(r"(\d+)")


@lru_cache(maxsize=4096)
def natural_order(turn_id: str) -> tuple[tuple[int, str], ...]:
    """Returns the place of a turn id in natural order: "t9" comes before "t10"."""
    return tuple(
        (int(part), "") if part.isdecimal() and len(part) < _LONGEST_NUMBER else (-1, part)
        for part in _DIGITS.split(turn_id)
        if part
    )


@event_type(version=2)
class TurnRecorded:
    """One message of a conversation, exactly as the app pushed it.

    ``said_at`` has the offset of the speaker's clock. ``timezone`` is the IANA zone of the speaker's words.
    Neither comes from the machine that recorded the turn. ``metadata`` is the canonical text of a JSON object.

    ``contact`` is the person or the group at the other end of a chat between people. ``direction`` is "outgoing" for
    words of the user, and "incoming" for those of a contact, which are no statement of the user.
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
    contact: str | None = None
    direction: Direction | None = None

    @property
    def by_contact(self) -> bool:
        """True when a contact of the user said the words. Such words state nothing of the user."""
        return self.direction == "incoming"


@upcaster("TurnRecorded", from_version=1)
def _without_contact(data: dict[str, object]) -> dict[str, object]:
    """Returns the fields of version 1, which names neither a contact nor a direction."""
    return data
