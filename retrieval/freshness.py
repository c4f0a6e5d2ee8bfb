"""Reading one's own writes by waiting: until the turns or the command behind a token have become cards."""

from __future__ import annotations

import asyncio
import base64
import binascii
import time
from typing import Any

import orjson

from events.envelope import partition_of
from events.problem import invalid
from events.sql import statement
from retrieval.connections import Pool, connected
from retrieval.patience import WITHIN_S, patiently

_LOOK_EVERY_S = 0.01


def awaited_by(token: str, user_id: str) -> str | int | None:
    """What a token stands for of ``user_id``: the last turn of a push, or the position of a command's event.

    None when it holds nothing of theirs. Raises a 422 problem for a token that nobody gave out.
    """
    try:
        document = orjson.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except (binascii.Error, ValueError):
        document = None
    if not isinstance(document, dict) or not all(type(value) in (str, int) for value in document.values()):
        raise invalid("wait_for", "is no token; give one that the write service answered with")
    awaited: str | int | None = document.get(user_id)
    return awaited


async def projected(pool: Pool, user_id: str, awaited: str | int, within: float) -> bool:
    """Wait until a turn is recorded, extracted and folded into cards, or the event at a position is folded;
    False if that takes too long."""
    until = time.monotonic() + within
    target = awaited if isinstance(awaited, int) else None

    async def look() -> tuple[Any, ...] | None:
        # A server that went away has no connection to give, however long one waits.
        async with connected(pool, min(within, WITHIN_S)) as connection:
            cursor = await connection.execute(
                statement("retrieval", "freshness"),
                {"partition": partition_of(user_id), "user_id": user_id, "key": f"turn/{awaited}"},
            )
            found: tuple[Any, ...] | None = await cursor.fetchone()
            return found

    while True:
        row = await patiently(look)
        if row is not None:
            turn, extracted, folded, head = row
            if target is None and extracted is not None and extracted >= turn:
                # What the extractor made of the turn was appended together with its checkpoint: it is below this head.
                target = head
            if target is not None and folded is not None and folded >= target:
                return True
        if time.monotonic() > until:
            return False
        await asyncio.sleep(_LOOK_EVERY_S)
