"""The event that records an erasure, and the payload of erased events. Both never say what was said."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Literal
from uuid import UUID

from events.types.codec import event_type


@dataclass(frozen=True, slots=True)
class Erased:
    """The payload of an event whose key was destroyed. Nobody can read the payload again.

    The class is no event type: the log never holds it. Readers of the log skip an event with this payload.
    """

    reason: str


ErasureKind = Literal["user", "person", "turn", "before"]
ErasureReason = Literal["request", "retention", "restored_backup"]

STREAM = "erasure"
"""The stream of a user's tombstones."""


@event_type(version=1)
class SubjectErased:
    """Events of the event's user were erased: their payloads cannot be opened any more.

    ``positions`` are the positions of the erased events in this event's partition. None means every earlier event of
    the user. ``subject`` is a digest of :func:`digest_of`. ``by`` names an API key, or the command. ``reason`` is one
    of few words, because the event stays forever.
    """

    erasure_id: UUID
    kind: ErasureKind
    subject: str
    by: str
    reason: ErasureReason = "request"
    positions: tuple[int, ...] | None = None


def digest_of(kind: str, name: str) -> str:
    """Returns the digest under which a tombstone names its subject: SHA-256 in hexadecimal digits."""
    return sha256(f"cardlog erasure\x1f{kind}\x1f{name}".encode()).hexdigest()
