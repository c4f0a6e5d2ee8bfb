"""An event that is odd or too large for the broker delays no other event."""

from __future__ import annotations

from dataclasses import replace

import pytest

from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from tests.support import poison
from tests.support.events.poisoned_log import GOOD, POISON, forced, good_users, stored
from tests.support.kafka.broker import MockBroker
from tests.support.kafka.relays import headers, on_topic, published, relaying
from tests.support.projectors.parking import noted
from tests.support.waiting import eventually

pytestmark = pytest.mark.timeout(120)


def test_the_relay_publishes_every_event(database: str, broker: MockBroker, connection: Connection) -> None:
    settings = replace(Settings(), database_url=database, kafka_brokers=broker.address)
    good = [noted(good_users(n), f"good {n}") for n in range(GOOD)]
    stored(connection, poison.collected(poison.CARDS, POISON), good)
    assert forced(connection, noted("large", "x" * 2_000_000)), (
        "the log's function takes what its library refuses"
    )
    with relaying(settings):
        eventually(published(settings, connection))
    messages = on_topic(settings)
    for partition, found in messages.items():
        assert [int(headers(m)["position"]) for m in found] == list(
            range(1, log.heads(connection)[partition] + 1)
        )
    keys = {m.key().decode(): m.value() for found in messages.values() for m in found}
    assert {good_users(n) for n in range(GOOD)} <= set(keys)
    assert keys["large"] in (b"", None), "it says that there is such an event, and readers look in the log"
