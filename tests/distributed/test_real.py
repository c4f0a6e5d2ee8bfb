"""Apache Kafka creates topics. A topic with another number of partitions is refused."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from events.platform.settings import Settings
from events.types.envelope import PARTITIONS
from projectors.kafka.broker import BrokerAwayError, TopicUnfitError, ensure_topic
from tests.support.kafka.real import RealBroker, why_not

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def real() -> Iterator[RealBroker]:
    if reason := why_not():
        pytest.skip(reason)
    broker = RealBroker()
    broker.start()
    yield broker
    broker.close()


def partitions(broker: RealBroker, topic: str) -> int:
    found = AdminClient({"bootstrap.servers": broker.address}).list_topics(timeout=10).topics
    return len(found[topic].partitions) if topic in found else 0


def settings(broker: RealBroker, topic: str) -> Settings:
    return replace(Settings(), kafka_brokers=broker.address, kafka_topic=topic)


def test_a_topic_that_is_missing_is_made_once(real: RealBroker) -> None:
    for _ in range(2):
        ensure_topic(settings(real, "made"))
    assert partitions(real, "made") == PARTITIONS


def test_a_topic_of_another_shape_is_refused_and_left_as_it_is(real: RealBroker) -> None:
    admin = AdminClient({"bootstrap.servers": real.address})
    admin.create_topics([NewTopic("small", num_partitions=3)])["small"].result(30)
    with pytest.raises(TopicUnfitError, match="has 3 partitions, the log has 64"):
        ensure_topic(settings(real, "small"))
    assert partitions(real, "small") == 3


def test_a_name_no_topic_may_have_is_refused(real: RealBroker) -> None:
    with pytest.raises(
        TopicUnfitError, match=r"not a name: .* cannot be created .*create it with 64 partitions"
    ):
        ensure_topic(settings(real, "not a name:"))


def test_an_absent_broker_is_distinguished(real: RealBroker) -> None:
    with pytest.raises(BrokerAwayError, match="is away"):
        ensure_topic(replace(settings(real, "made"), kafka_brokers="127.0.0.1:1"))
