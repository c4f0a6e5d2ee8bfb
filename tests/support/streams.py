"""Writes and reads Redis streams with the types that tests use."""

from collections.abc import Mapping
from typing import cast

from redis import Redis


def add(redis: Redis, stream: str, fields: Mapping[str, str]) -> str:
    """Adds one entry and returns its id. ``redis`` decodes its answers."""
    return str(redis.xadd(stream, dict(fields.items())))


def entries(redis: Redis, stream: str) -> list[dict[str, str]]:
    """Returns the fields of every entry, oldest first. ``redis`` decodes its answers."""
    return [cast("dict[str, str]", fields) for _, fields in redis.xrange(stream) or ()]


def raw_entries(redis: Redis, stream: str) -> list[dict[bytes, bytes]]:
    """Returns the fields of every entry, oldest first. ``redis`` does not decode its answers."""
    return [cast("dict[bytes, bytes]", fields) for _, fields in redis.xrange(stream) or ()]
