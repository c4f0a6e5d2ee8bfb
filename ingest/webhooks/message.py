"""The signed message about one event, by the specification Standard Webhooks. A message never holds words of a user."""

import dataclasses
import hmac
import secrets
from base64 import b64decode, b64encode
from datetime import UTC, datetime
from hashlib import sha256
from uuid import UUID

import orjson

from events.types.cards import EventNoted, KnowledgeLearned, StateAsserted
from events.types.envelope import Event
from events.types.tenancy import user_of

_PREFIX = "whsec_"
_SECRET_BYTES = 32


def new_secret() -> str:
    """Returns a new secret: ``whsec_`` and 32 random bytes in base64."""
    return _PREFIX + b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def body_of(event: Event) -> bytes:
    """Returns the JSON of a message. The same event always gives the same bytes.

    ``stream`` is the kind of the stream without its name, because a name may hold words. ``ids`` are the ids in the
    event, by the name of their field, with the turns that the event rests on and the card that it makes.
    """
    data = {
        "user_id": user_of(event.user_id),
        "event_id": event.event_id,
        "stream": event.stream.partition("/")[0],
        "ids": _ids(event),
    }
    return orjson.dumps({"type": event.type, "timestamp": event.recorded_at.astimezone(UTC), "data": data})


def headers_of(event: Event, body: bytes, secret: str, now: datetime) -> list[tuple[str, str]]:
    """Returns the headers of a message that is sent ``now``: its id, its time in Unix seconds, its signature."""
    stamp = str(int(now.timestamp()))
    key = b64decode(secret.removeprefix(_PREFIX))
    signature = hmac.digest(key, f"{event.event_id}.{stamp}.".encode() + body, sha256)
    return [
        ("content-type", "application/json"),
        ("user-agent", "cardlog"),
        ("webhook-id", str(event.event_id)),
        ("webhook-timestamp", stamp),
        ("webhook-signature", f"v1,{b64encode(signature).decode()}"),
    ]


def _ids(event: Event) -> dict[str, object]:
    found: dict[str, object] = {}
    for each in dataclasses.fields(event.payload):
        value = getattr(event.payload, each.name)
        if isinstance(value, UUID) or (
            isinstance(value, tuple) and value and all(isinstance(one, UUID) for one in value)
        ):
            found[each.name] = value
    origin = getattr(event.payload, "origin", event.payload)
    found |= {name: value for name in ("turn_id", "turn_ids") if (value := getattr(origin, name, None))}
    if isinstance(event.payload, StateAsserted | EventNoted | KnowledgeLearned):
        found["card_id"] = event.event_id
    return found
