"""Event lines: one event as one line of JSON. ``log.line`` writes them for archives and for the relay."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from json.encoder import encode_basestring as _quoted
from uuid import UUID

import orjson

from events.types.json_values import JsonObject

_DATA = b',"data":'
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NAMES = ("event_id", "user_id", "stream", "type", "actor", "dedupe_key", "causation_id", "correlation_id")


class EventLineError(ValueError):
    """The line is no event. The message says why."""


@dataclass(frozen=True, slots=True)
class EventLine:
    """The columns of an event as JSON values, and its payload exactly as stored."""

    fields: JsonObject
    payload: str

    def digest_after(self, before: bytes) -> bytes:
        """Returns the digest of this event when the event before has the digest ``before``: 32 bytes.

        Raises :class:`EventLineError` when a column is missing or has a wrong value.
        """
        try:
            content = (_canonical(self.fields) + self.payload).encode()
        except (ValueError, KeyError, TypeError) as error:
            raise EventLineError(str(error)) from error
        return sha256(before + sha256(content).digest()).digest()

    @property
    def event_id(self) -> UUID:
        """The id of the event. Raises :class:`EventLineError` for a line without one."""
        try:
            return UUID(self.fields["event_id"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise EventLineError(str(error)) from error


def parse_line(line: bytes) -> EventLine:
    """Returns the event in ``line``, with or without a newline. Raises :class:`EventLineError` for any other text."""
    try:
        head, in_one_line, data = line.rstrip(b"\n").removesuffix(b"}").partition(_DATA)
        fields = orjson.loads(head + b"}") if in_one_line else orjson.loads(line)
        return EventLine(fields, data.decode() if in_one_line else fields["text"])
    except (ValueError, KeyError, TypeError) as error:
        raise EventLineError(str(error)) from error


@lru_cache(maxsize=4096)  # All events of one append have the same time.
def _microseconds(text: str) -> int:
    return (datetime.fromisoformat(text) - _EPOCH) // _MICROSECOND


def _canonical(fields: JsonObject) -> str:
    """Returns the columns that the digest covers in addition to the payload, in the notation of ``log.canonical``."""
    names = [None if fields[name] is None else _quoted(fields[name]) for name in _NAMES]
    event_id, user_id, stream, kind, actor, dedupe_key, causation_id, correlation_id = names
    return (
        f"[{fields['partition']}, {fields['position']}, {event_id}, {user_id}, {stream}, {fields['version']}, {kind}, "
        f"{fields['schema_version']}, {dedupe_key or 'null'}, {_microseconds(fields['occurred_at'])}, "
        f"{_microseconds(fields['recorded_at'])}, {actor}, {causation_id or 'null'}, {correlation_id or 'null'}]"
    )
