"""Events with their envelope: what an appender gives, and what a reader gets."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from uuid import UUID

from events.types.codec import Payload

PARTITIONS = 64


@lru_cache(maxsize=65536)
def partition_of(user_id: str) -> int:
    """The partition of a user: the low six bits of the first byte of SHA-256 over the id's UTF-8 bytes.

    Stable for ever and the same in SQL: ``get_byte(sha256(convert_to(user_id, 'UTF8')), 0) & 63``.
    """
    return sha256(user_id.encode()).digest()[0] & 63


def uuid7() -> UUID:
    """A version 7 UUID (RFC 9562): 48 bits of Unix milliseconds, then 74 random bits."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10))
    return UUID(
        int=(milliseconds & 0xFFFFFFFFFFFF) << 80
        | 0x7000 << 64
        | (random >> 68 & 0xFFF) << 64
        | 0b10 << 62
        | random & 0x3FFFFFFFFFFFFFFF
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event to append.

    ``dedupe_key``: appended at most once per user, whatever is retried. An event whose ``causation_id``
    names an event of the same batch is dropped together with it when that one is a duplicate.
    ``expected_version``: the append fails unless the stream stands at that version.
    """

    event_id: UUID
    user_id: str
    stream: str
    payload: Payload
    occurred_at: datetime
    actor: str
    dedupe_key: str | None = None
    causation_id: UUID | None = None
    correlation_id: UUID | None = None
    expected_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event of the log. ``position`` counts 1, 2, 3 … within ``partition``, with no hole."""

    partition: int
    position: int
    event_id: UUID
    user_id: str
    stream: str
    version: int
    type: str
    schema_version: int
    dedupe_key: str | None
    occurred_at: datetime
    recorded_at: datetime
    actor: str
    causation_id: UUID | None
    correlation_id: UUID | None
    payload: Payload


@dataclass(frozen=True, slots=True)
class Appended:
    """Where an event went; for a duplicate, where the first one stands (0 when only its cause is known)."""

    partition: int
    position: int
    version: int
    recorded_at: datetime | None
    duplicate: bool
