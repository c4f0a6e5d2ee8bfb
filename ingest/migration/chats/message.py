"""What every reader of an exported chat gives: messages, and an account of all that was left out."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from hashlib import sha256
from typing import Literal

from events.types.turn_contract import TurnInvalidError, fields_of, parse_turn
from events.types.turns import Direction, Role

DateOrder = Literal["dmy", "mdy", "ymd"]
_PLACES = 5
_LONGEST_ID = 200
_PLAIN = re.compile(r"[\w.:-]+", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message of an exported chat. ``place`` names it for a person: a line, or its number in the file.

    ``message_id`` is the same in each later export of the chat, so an import can be repeated.
    """

    source: str
    session_id: str
    message_id: str
    text: str
    said_at: datetime
    place: str
    role: Role = "user"
    speaker: str | None = None
    contact: str | None = None
    direction: Direction | None = None
    metadata: Mapping[str, object] | None = None

    def turn(self, user_id: str, project_id: str, timezone: str, now: datetime) -> dict[str, object]:
        """Returns the message as a turn. Raises :class:`TurnInvalidError` when the turn contract refuses it."""
        turn: dict[str, object] = {
            "user_id": user_id,
            "project_id": project_id,
            "session_id": short_id(self.source, self.session_id),
            "turn_id": short_id(self.source, self.session_id, self.message_id),
            "text": self.text,
            "role": self.role,
            "said_at": self.said_at.isoformat(timespec="milliseconds"),
            "timezone": timezone,
        }
        for name in ("speaker", "contact", "direction", "metadata"):
            if (value := getattr(self, name)) is not None:
                turn[name] = value
        parse_turn(fields_of(turn), entry_time=now, entry_id="0-0")
        return turn


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTerms:
    """What a chat between people does not tell itself: which names are the user's, the chat's name and its clock."""

    me: tuple[str, ...] = ()
    chat: str | None = None
    zone: tzinfo = UTC
    date_order: DateOrder | None = None

    def is_me(self, *names: str) -> bool:
        """True when one of ``names`` is the user's, whatever their capitals are."""
        mine = {each.casefold().strip() for each in self.me}
        return any(name.casefold().strip() in mine for name in names)


@dataclass(slots=True)
class Reason:
    """Why something was left out: how often, where first, and whether a part of the file was broken."""

    count: int = 0
    broken: bool = False
    places: list[str] = field(default_factory=list)


@dataclass(slots=True)
class LeftOut:
    """Counts what a reader leaves out, by reason. The memory does not depend on the size of the file."""

    reasons: dict[str, Reason] = field(default_factory=dict)

    def add(self, reason: str, place: str, *, broken: bool = False) -> None:
        """Counts one thing. ``broken``: the file is at fault, so a person should look at ``place``."""
        found = self.reasons.setdefault(reason, Reason())
        found.count += 1
        found.broken |= broken
        if len(found.places) < _PLACES:
            found.places.append(place)

    def refused(self, error: TurnInvalidError, place: str) -> None:
        """Counts a message that the turn contract refuses."""
        self.add(f"the {error.field} breaks the turn contract", f"{place} ({error.reason})", broken=True)


def short_id(*parts: str) -> str:
    """Returns the parts joined by colons. An id that no path of HTTP can hold becomes a digest after its first part."""
    joined = ":".join(parts)
    fits = len(joined) <= _LONGEST_ID and _PLAIN.fullmatch(joined)
    return joined if fits else f"{parts[0]}:{digest_of(*parts[1:])}"


def digest_of(*parts: str) -> str:
    """Returns 32 hexadecimal digits. Equal parts have equal digests in every installation."""
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def unix_time(value: object) -> datetime | None:
    """Returns the instant of Unix seconds, or None for any other value."""
    try:
        return datetime.fromtimestamp(float(value), UTC) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError, OSError):
        return None


def iso_time(value: object, zone: tzinfo = UTC) -> datetime | None:
    """Returns the instant of an ISO 8601 text, in ``zone`` without an offset, or None for any other value."""
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found.replace(tzinfo=zone) if found is not None and found.tzinfo is None else found
