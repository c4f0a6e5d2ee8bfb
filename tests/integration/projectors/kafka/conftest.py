"""A broker for the tests of the relay."""

from collections.abc import Iterator

import pytest

from tests.support.kafka.broker import MockBroker


@pytest.fixture
def broker() -> Iterator[MockBroker]:
    broker = MockBroker()
    broker.start()
    yield broker
    broker.close()
