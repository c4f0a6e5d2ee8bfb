"""The turn contract: the fields that a turn may have, and their bounds. The queue and HTTP use the same check."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from difflib import get_close_matches
from functools import cache, lru_cache
from hashlib import sha256
from typing import TypeVar, get_args
from zoneinfo import ZoneInfo, available_timezones

from events.types.instants import InstantInvalidError, instant_of
from events.types.metadata import MetadataInvalidError, metadata_text
from events.types.tenancy import SEPARATOR
from events.types.turns import ContextLayer, Direction, Role, TurnRecorded

FIELDS = (
    "user_id", "text", "role", "speaker", "session_id", "project_id", "agent_id", "document_id",
    "context_layer", "mode", "said_at", "timezone", "turn_id", "metadata", "contact", "direction",
)  # fmt: skip
ROLES: tuple[Role, ...] = get_args(Role)
_T = TypeVar("_T", bound=str)
DEFAULT_SESSION = "default"
"""The session of turns whose app names none."""
MAX_TEXT_BYTES = 64 * 1024
MAX_NAME_BYTES = 512
MAX_AHEAD = timedelta(days=1)
"""``said_at`` may be this far ahead of the arrival of its turn. Clocks differ, and dates differ by timezone."""
_LONGEST_ZONE = 255
_LONGEST_PART = 600
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_INSTANT = datetime(9999, 12, 30, tzinfo=UTC)
_LAST_MS = 253_402_300_799_000


class TurnInvalidError(ValueError):
    """A turn breaks the turn contract. ``field`` names the field; ``reason`` says why and gives the remedy."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


def text_of(
    field: str, value: bytes | str, refuse: Callable[[str, str], Exception] = TurnInvalidError
) -> str:
    """Returns ``value`` as text. Raises what ``refuse`` makes of field and reason, for what is no text.

    That is invalid UTF-8, a lone surrogate, and a NUL character.
    """
    try:
        if isinstance(value, bytes):
            value = value.decode("utf-8")
        else:
            value.encode("utf-8")
    except UnicodeDecodeError as error:
        raise refuse(field, f"is not valid UTF-8 (byte {error.start}); send UTF-8") from None
    except UnicodeEncodeError as error:
        raise refuse(field, f"holds a lone surrogate (character {error.start})") from None
    if "\0" in value:
        raise refuse(field, f"holds a NUL character (character {value.index(chr(0))})")
    return value


def parse_turn(
    fields: Mapping[str, str], *, entry_time: datetime, entry_id: str, now: datetime | None = None
) -> tuple[str, TurnRecorded]:
    """Returns (user id, turn) of ``fields``, with the defaults of the contract for missing fields.

    Guarantees that the log accepts the turn unchanged and that every later stage accepts it. ``entry_time`` is the
    instant of the push. ``now`` is the instant of the check, by default ``entry_time``. Raises
    :class:`TurnInvalidError` for the first field that breaks the contract.
    """
    _check_names(fields)
    user_id = _name(fields, "user_id")
    if user_id is None:
        raise TurnInvalidError("user_id", "is required")
    if SEPARATOR in user_id:
        raise TurnInvalidError(
            "user_id",
            f"holds the control character U+001F (character {user_id.index(SEPARATOR)}); leave it out",
        )
    text = fields.get("text")
    if text is None:
        raise TurnInvalidError("text", "is required")
    if not text:
        raise TurnInvalidError("text", "must not be empty")
    size = len(text.encode())
    if size > MAX_TEXT_BYTES:
        raise TurnInvalidError("text", f"is {size} bytes long; at most {MAX_TEXT_BYTES} are allowed")
    role = _choice(fields, "role", ROLES) or "user"
    layer = _choice(fields, "context_layer", get_args(ContextLayer))
    contact, direction = _contact(fields)
    timezone = fields.get("timezone") or "UTC"
    zone = known_zone(timezone)
    if zone is None:
        raise TurnInvalidError("timezone", f"is {_shown(timezone)}; {zone_hint(timezone)}")
    if fields.get("said_at", "").strip():
        said_at = _instant(fields["said_at"], now or entry_time)
        if fields.get("timezone") == "UTC":
            said_at = said_at.astimezone(UTC)
    else:
        said_at = entry_time.astimezone(zone)
        if _has_seconds(said_at):
            said_at = entry_time.astimezone(UTC)
    return user_id, TurnRecorded(
        turn_id=_name(fields, "turn_id") or entry_id,
        text=text,
        role=role,
        said_at=said_at,
        timezone=timezone,
        session_id=_name(fields, "session_id") or DEFAULT_SESSION,
        project_id=_name(fields, "project_id") or "default",
        speaker=_name(fields, "speaker") or (contact if direction == "incoming" else None),
        agent_id=_name(fields, "agent_id"),
        document_id=_name(fields, "document_id"),
        context_layer=layer,
        mode=_name(fields, "mode"),
        metadata=_metadata(fields),
        contact=contact,
        direction=direction,
    )


def fields_of(document: Mapping[str, object]) -> dict[str, str]:
    """Returns the fields of a turn that is a JSON object. A field that is null is absent.

    ``metadata`` is a JSON object, and every other value is a string. Raises :class:`TurnInvalidError`.
    """
    fields: dict[str, str] = {}
    _check_names(document)
    for name, value in document.items():
        if value is None:
            continue
        if name == "metadata":
            if not isinstance(value, dict):
                raise TurnInvalidError(name, 'must be a JSON object, such as {"ticket": "A-17"}')
            fields[name] = _metadata({name: value}) or ""
        elif not isinstance(value, str):
            raise TurnInvalidError(name, "must be a string")
        else:
            fields[name] = text_of(name, value)
    return {name: value for name, value in fields.items() if value or name != "metadata"}


def session_of(turn: TurnRecorded) -> str:
    """Returns the log stream of a turn's session. Each pair of project and session has a stream of its own."""
    return f"session/{part_of_key(turn.project_id)}/{part_of_key(turn.session_id)}"


def turn_key(turn_id: str) -> str:
    """Returns the idempotency key of a turn in the log."""
    return f"turn/{turn_id}"


def part_of_key(name: str) -> str:
    """Returns ``name`` as one part of a key whose parts are joined with slashes. Different names give different parts.

    The function percent-encodes only ``/`` and ``%``, so ordinary names do not change. A part has at most 600 bytes:
    an index entry holds two such parts and the user id. A longer name becomes its digest after ``%~``. No encoded
    name begins with ``%~``.
    """
    part = name.replace("%", "%25").replace("/", "%2F")
    if len(part) * 4 <= _LONGEST_PART or len(part.encode()) <= _LONGEST_PART:
        return part
    return f"%~{sha256(name.encode()).hexdigest()}"


def local_said_at(turn: TurnRecorded) -> datetime:
    """Returns ``said_at`` on the speaker's wall clock. The word "yesterday" in the turn is relative to this clock.

    The clock is the turn's named zone. For a turn without one, which has the zone UTC, it is the offset of ``said_at``.
    """
    zone = known_zone(turn.timezone)
    if zone is None or (turn.timezone == "UTC" and turn.said_at.utcoffset()):
        return turn.said_at
    return turn.said_at.astimezone(zone)


def clock_of(turn: TurnRecorded) -> str:
    """Returns the name of the clock of :func:`local_said_at`: an IANA zone or an offset such as ``+08:00``."""
    local = local_said_at(turn)
    zone = local.tzinfo
    return zone.key if isinstance(zone, ZoneInfo) else _offset(local.utcoffset() or timedelta())


def on_clock(instant: datetime, clock: str | None) -> datetime:
    """Returns ``instant`` on a clock of :func:`clock_of`. Returns it unchanged for None and for an unknown clock."""
    if clock is None:
        return instant
    try:
        return instant.astimezone(known_zone(clock) or datetime.strptime(clock, "%z").tzinfo)
    except (ValueError, OverflowError):
        return instant


@lru_cache(maxsize=128)
def _offset(offset: timedelta) -> str:
    return timezone(offset).tzname(None)[len("UTC") : len("UTC+00:00")] or "+00:00"


def _check_names(fields: Iterable[str]) -> None:
    for name in fields:
        if name not in FIELDS:
            raise TurnInvalidError(
                _shown(name)[1:-1], f"is not a field of a turn; allowed are {', '.join(FIELDS)}"
            )


def _name(fields: Mapping[str, str], field: str) -> str | None:
    value = fields.get(field)
    if value is None:
        return None
    if not value.strip():
        if field == "user_id":
            raise TurnInvalidError(field, "must not be empty")
        return None
    if len(value.encode()) > MAX_NAME_BYTES:
        raise TurnInvalidError(field, f"is longer than {MAX_NAME_BYTES} bytes; use a shorter one")
    return value


def _choice(fields: Mapping[str, str], field: str, choices: tuple[_T, ...]) -> _T | None:
    given = fields.get(field) or None
    found = next((each for each in choices if each == given), None)
    if given is not None and found is None:
        raise TurnInvalidError(field, f"is {_shown(given)}; use one of {', '.join(map(str, choices))}")
    return found


def _contact(fields: Mapping[str, str]) -> tuple[str | None, Direction | None]:
    """Returns the contact and the direction. The words of a contact need a name that is not a word for the user."""
    contact = _name(fields, "contact")
    direction: Direction | None = _choice(fields, "direction", get_args(Direction))
    if direction == "incoming" and contact is None:
        raise TurnInvalidError("contact", "is required with the direction incoming; name who sent the words")
    return contact, direction


def _metadata(fields: Mapping[str, object]) -> str | None:
    try:
        return metadata_text(fields.get("metadata"))
    except MetadataInvalidError as error:
        raise TurnInvalidError("metadata", str(error)) from None


def _has_seconds(instant: datetime) -> bool:
    offset = instant.utcoffset()
    return offset is not None and offset.total_seconds() % 60 != 0


def _instant(text: str, now: datetime) -> datetime:
    try:
        instant = instant_of(text)
    except InstantInvalidError as error:
        raise TurnInvalidError("said_at", str(error)) from None
    if instant > now + MAX_AHEAD:
        raise TurnInvalidError(
            "said_at",
            f"is {_shown(text)}, more than a day ahead of {now.astimezone(UTC).isoformat(timespec='seconds')}; "
            "send the instant of the words, or leave said_at out: the turn is then dated by its arrival",
        )
    return instant


@lru_cache(maxsize=1024)
def _known_zone(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def known_zone(name: str) -> ZoneInfo | None:
    """Returns the IANA zone of this name, or None when there is none."""
    # "localtime" is the zone of this machine, not of the speaker. The length check keeps long names out of the cache.
    return None if name == "localtime" or len(name) > _LONGEST_ZONE else _known_zone(name)


@cache
def _cities() -> dict[str, str]:
    return {zone.rpartition("/")[2].casefold(): zone for zone in sorted(available_timezones()) if "/" in zone}


@lru_cache(maxsize=256)
def zone_hint(name: str) -> str:
    """Returns the remedy for a name that is no IANA zone: the zone of the city that it names or nearly names."""
    cities = _cities()
    asked = name[:40].strip().rpartition("/")[2].replace(" ", "_").casefold()
    near = get_close_matches(asked, cities, 1, 0.8)
    return f"did you mean {cities[near[0]]}?" if near else "use an IANA name such as Asia/Taipei"


def _shown(value: str) -> str:
    return repr(value if len(value) <= 40 else value[:40] + "…")


def entry_time(entry_id: str) -> datetime:
    """Returns the instant in the id of a Redis stream entry: the Unix milliseconds before the dash.

    An id beyond the calendar of ``datetime`` gives the last instant, 9999-12-30.
    """
    milliseconds = int(entry_id.split("-", 1)[0])
    return min(_EPOCH + timedelta(milliseconds=min(milliseconds, _LAST_MS)), _LAST_INSTANT)


def pushed_at(entry_id: str, now: datetime) -> datetime:
    """Returns the instant at which the entry ``entry_id`` was pushed. ``now`` is the clock of the entry's Redis.

    The id holds the instant. An id more than a day ahead of ``now`` is not a date, and Redis derives the following ids
    from it. For such an entry the function returns ``now``.
    """
    return entry_time(entry_id) if is_date(entry_id, now) else now


def is_date(entry_id: str, now: datetime) -> bool:
    """True when an entry's id holds the instant of its push. An id more than a day ahead of ``now`` does not."""
    return entry_time(entry_id) <= now + MAX_AHEAD
