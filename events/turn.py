"""The turn contract: what an app may push, checked once, in one place, for the queue and for HTTP alike."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import cast
from zoneinfo import ZoneInfo

from events.types.turns import ContextLayer, Role, TurnRecorded

FIELDS = (
    "user_id", "text", "role", "speaker", "session_id", "project_id", "agent_id", "document_id",
    "context_layer", "mode", "said_at", "timezone", "turn_id",
)  # fmt: skip
ROLES = ("user", "assistant", "system")
LAYERS = ("personal", "work", "social")
MAX_TEXT_BYTES = 64 * 1024
MAX_NAME_BYTES = 512
_YEARS = range(1900, 2201)  # wide enough for any conversation, and clear of datetime's own edges


class TurnInvalidError(ValueError):
    """A turn breaks the contract; ``field`` names where, ``reason`` says why and what is allowed."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


def text_of(field: str, value: bytes | str) -> str:
    """``value`` as text. Raises :class:`TurnInvalidError` for invalid UTF-8, lone surrogates and NUL."""
    if isinstance(value, bytes):
        try:
            value = value.decode("utf-8")
        except UnicodeDecodeError as error:
            raise TurnInvalidError(field, f"is not valid UTF-8 (byte {error.start})") from None
    else:
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise TurnInvalidError(field, f"holds a lone surrogate (character {error.start})") from None
    if "\0" in value:
        raise TurnInvalidError(field, f"holds a NUL character (character {value.index(chr(0))})")
    return value


def parse_turn(fields: Mapping[str, str], *, entry_time: datetime, entry_id: str) -> tuple[str, TurnRecorded]:
    """The user and the turn behind ``fields``, with the contract's defaults filled in.

    Guarantees that what it returns can be appended as it is. Raises :class:`TurnInvalidError` naming the
    first field that breaks the contract.
    """
    for name in fields:
        if name not in FIELDS:
            raise TurnInvalidError(name, f"is not a field of a turn; allowed are {', '.join(FIELDS)}")
    user_id = _name(fields, "user_id")
    if user_id is None:
        raise TurnInvalidError("user_id", "is required")
    text = fields.get("text")
    if text is None:
        raise TurnInvalidError("text", "is required")
    if not text:
        raise TurnInvalidError("text", "must not be empty")
    size = len(text.encode())
    if size > MAX_TEXT_BYTES:
        raise TurnInvalidError("text", f"is {size} bytes long; at most {MAX_TEXT_BYTES} are allowed")
    role = fields.get("role") or "user"
    if role not in ROLES:
        raise TurnInvalidError("role", f"is {_shown(role)}; use one of {', '.join(ROLES)}")
    layer = fields.get("context_layer") or None
    if layer is not None and layer not in LAYERS:
        raise TurnInvalidError("context_layer", f"is {_shown(layer)}; use one of {', '.join(LAYERS)}")
    timezone = fields.get("timezone") or "UTC"
    zone = _zone(timezone)
    if zone is None:
        raise TurnInvalidError("timezone", f"is {_shown(timezone)}; use an IANA name such as Asia/Taipei")
    said_at = _instant(fields["said_at"]) if fields.get("said_at") else entry_time.astimezone(zone)
    return user_id, TurnRecorded(
        turn_id=_name(fields, "turn_id") or entry_id,
        text=text,
        role=cast("Role", role),
        said_at=said_at,
        timezone=timezone,
        session_id=_name(fields, "session_id") or "default",
        project_id=_name(fields, "project_id") or "default",
        speaker=_name(fields, "speaker"),
        agent_id=_name(fields, "agent_id"),
        document_id=_name(fields, "document_id"),
        context_layer=cast("ContextLayer | None", layer),
        mode=_name(fields, "mode"),
    )


def session_of(turn: TurnRecorded) -> str:
    """The log stream of a turn's session."""
    return f"session/{turn.project_id}/{turn.session_id}"


def local_said_at(turn: TurnRecorded) -> datetime:
    """When the turn was said, on the speaker's own wall clock: what "yesterday" in it is reckoned from.

    The named zone where one was given; otherwise the offset the app wrote, which is the clock it was said by.
    """
    zone = _zone(turn.timezone)
    if zone is None or (turn.timezone == "UTC" and turn.said_at.utcoffset()):
        return turn.said_at
    return turn.said_at.astimezone(zone)


def _name(fields: Mapping[str, str], field: str) -> str | None:
    value = fields.get(field)
    if value is None:
        return None
    if not value.strip():
        if field == "user_id":
            raise TurnInvalidError(field, "must not be empty")
        return None
    if len(value.encode()) > MAX_NAME_BYTES:
        raise TurnInvalidError(field, f"is longer than {MAX_NAME_BYTES} bytes")
    return value


def _instant(text: str) -> datetime:
    try:
        instant = datetime.fromisoformat(text.strip())
    except ValueError:
        raise TurnInvalidError(
            "said_at", f"is {_shown(text)}; use ISO 8601 with an offset, such as 2026-05-08T16:44:10+08:00"
        ) from None
    if instant.tzinfo is None:
        raise TurnInvalidError(
            "said_at", f"is {_shown(text)} without an offset; append one, such as +08:00 or Z"
        )
    if instant.year not in _YEARS:
        raise TurnInvalidError("said_at", f"is in the year {instant.year}; use {_YEARS[0]} to {_YEARS[-1]}")
    return instant


@lru_cache(maxsize=1024)
def _zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def _shown(value: str) -> str:
    return repr(value if len(value) <= 40 else value[:40] + "…")


def entry_time(entry_id: str) -> datetime:
    """The instant in a stream entry's id (milliseconds before the dash)."""
    return datetime.fromtimestamp(int(entry_id.split("-", 1)[0]) / 1000, UTC)
