"""Events with their envelope: an event to append, an event of the log, and the result of an append."""

import os
import threading
import time
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from typing import Any
from uuid import UUID

from events.types.records import record

Payload = Any
PARTITIONS = 64


@lru_cache(maxsize=65536)
def partition_of(user_id: str) -> int:
    """Returns the partition of a user: the low six bits of the first byte of SHA-256 over the id's UTF-8 bytes.

    The partition of a user never changes. SQL computes the same number:
    ``get_byte(sha256(convert_to(user_id, 'UTF8')), 0) & 63``.
    """
    return sha256(user_id.encode()).digest()[0] & 63


class _Uuid7Clock:
    """Makes the numbers behind :func:`uuid7`: 48 bits of Unix milliseconds and 74 random bits, always rising."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def next(self) -> int:
        with self._lock:
            drawn = (time.time_ns() // 1_000_000) << 74 | int.from_bytes(os.urandom(10)) >> 6
            if drawn <= self._last:
                drawn = self._last + 1 + int.from_bytes(os.urandom(4))
            self._last = drawn
            return drawn


_clock = _Uuid7Clock()


def uuid7() -> UUID:
    """Returns a version 7 UUID (RFC 9562) that is greater than every earlier one of this process.

    Cards with equal scores are ordered by their ids. Rising ids make that the order in which the cards were made.
    """
    number = _clock.next()
    return UUID(
        int=(number >> 74 & 0xFFFFFFFFFFFF) << 80
        | 0x7000 << 64
        | (number >> 62 & 0xFFF) << 64
        | 0b10 << 62
        | number & 0x3FFFFFFFFFFFFFFF
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """An event to append.

    ``dedupe_key`` is the idempotency key: the log appends the event at most once for its user, after any retry.
    ``causation_id`` may name an event of the same batch. When that event is a duplicate, the append drops both.
    ``expected_version``: the append fails unless the stream has this version.
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


@record
class Event:
    """An event of the log. ``position`` counts 1, 2, 3 … within ``partition`` and has no hole."""

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
    """The place of an appended event. For a duplicate, the place of the first event with the same key.

    ``position`` and ``version`` are 0 for a duplicate of which only the cause is known.
    """

    partition: int
    position: int
    version: int
    recorded_at: datetime | None
    duplicate: bool
