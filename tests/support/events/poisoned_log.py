"""A log that holds poison beside good events."""

import json
from collections.abc import Sequence
from typing import Any

import orjson

from events.platform.database import Connection
from events.platform.isolation import is_the_datas_fault
from events.store import log
from events.types.codec import describe
from events.types.envelope import NewEvent, partition_of, uuid7
from tests.support import poison

POISON = 300


GOOD = 60


def stored(connection: Connection, bad: Sequence[Any], good: Sequence[NewEvent]) -> int:
    """Append both, mixed, the bad ones each for a user of its own; how many of those the log took.

    What ``log.append`` refuses is put into the table all the same, if the server takes it: another build may have.
    """
    taken = 0
    every = max(1, len(bad) // len(good))
    for number, payload in enumerate(bad):
        if number % every == 0 and number // every < len(good):
            log.append(connection, [good[number // every]])
        event = NewEvent(
            event_id=uuid7(), user_id=f"poison {number}", stream="session/default/s", payload=payload,
            occurred_at=poison.NOW, actor="test",
        )  # fmt: skip
        try:
            log.append(connection, [event])
            taken += 1
        except Exception as error:
            if not is_the_datas_fault(error):
                raise
            taken += forced(connection, event)
    return taken


def forced(connection: Connection, event: NewEvent) -> bool:
    name, version = describe(event.payload)
    try:
        item = {
            "partition": partition_of(event.user_id), "event_id": str(event.event_id), "user_id": event.user_id,
            "stream": event.stream, "type": name, "schema_version": version, "dedupe_key": None,
            "occurred_at": event.occurred_at.isoformat(), "actor": event.actor,
            "data": orjson.loads(orjson.dumps(event.payload)),
        }  # fmt: skip
        connection.execute("SELECT log.append(%s::text::json)", (json.dumps([item]),))
    except Exception as error:
        if not is_the_datas_fault(error):
            raise
        return False
    return True


def good_users(number: int) -> str:
    return f"good {number}"
