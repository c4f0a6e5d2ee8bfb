"""The relay and the workers speak TLS to Kafka, and a broker without TLS is refused when TLS is asked for."""

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from events.platform.settings import Settings, SettingsError
from projectors.kafka.broker import check_security, client_options, credentials, ensure_topic
from projectors.kafka.feed import StreamFeed
from projectors.kafka.relay import Message, Publisher
from projectors.kafka.worker import listen
from tests.support.kafka.broker import TOPIC, MockBroker
from tests.support.tables import examples
from tests.support.tls.certificates import Certificate, certificate
from tests.support.waiting import eventually


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certificate(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def settings(shown: Certificate) -> Iterator[Settings]:
    """Settings of a broker whose only address speaks TLS."""
    broker = MockBroker(tls=shown.context)
    broker.start()
    yield Settings(
        kafka_brokers=broker.address,
        kafka_topic=TOPIC,
        kafka_security="ssl",
        kafka_ca_file=str(shown.authority),
    )
    broker.close()


def test_events_go_to_kafka_and_back_over_tls(settings: Settings, tmp_path: Path) -> None:
    check_security(settings)
    ensure_topic(settings)
    publisher = Publisher(settings)
    batch = [Message(0, n, f"id {n}", "ada", "TurnRecorded", 1, "{}") for n in range(1, 4)]
    assert publisher.publish(batch, lambda trouble: True)
    publisher.close()
    feed: StreamFeed[object] = StreamFeed(look_every_s=1000, capacity=len(batch))
    stop = threading.Event()
    reading = threading.Thread(
        target=lambda: asyncio.run(listen(settings, "reader", feed, stop.is_set, tmp_path))
    )
    reading.start()
    try:
        eventually(lambda: feed.full)
    finally:
        stop.set()
        reading.join(60)
    assert not reading.is_alive()


def test_a_broker_without_tls_or_with_a_foreign_certificate_is_refused(
    settings: Settings, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    plain = MockBroker()
    plain.start()
    request.addfinalizer(plain.close)
    for changed in (
        replace(settings, kafka_brokers=plain.address),
        replace(settings, kafka_ca_file=str(certificate(tmp_path).authority)),
        replace(settings, kafka_ca_file=""),
    ):
        with pytest.raises(SettingsError, match=r"CARDLOG_KAFKA_SECURITY asks for TLS \(ssl\)") as refused:
            check_security(changed)
        assert "CARDLOG_KAFKA_CA_FILE" in str(refused.value)


def test_a_broker_that_is_away_is_not_refused(shown: Certificate) -> None:
    away = Settings(kafka_brokers="127.0.0.1:1", kafka_security="ssl", kafka_ca_file=str(shown.authority))
    check_security(away)


@examples
def test_what_cannot_be_safe_is_refused(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        check_security(replace(Settings(kafka_brokers="kafka.invalid:9092"), **changed))


def test_both_clients_get_the_login_and_nobody_sees_it(shown: Certificate) -> None:
    settings = Settings(
        kafka_brokers="kafka.invalid:9092", kafka_security="sasl_ssl", kafka_user="cardlog", kafka_password="s3cret",
        kafka_ca_file=str(shown.authority),
    )  # fmt: skip
    options = client_options(settings)
    assert options["security.protocol"] == "sasl_ssl"
    assert options["sasl.mechanisms"] == "SCRAM-SHA-512"
    assert type(options["sasl.password"]) is str
    assert options["sasl.password"] == "s3cret"
    login = credentials(settings)
    assert (login.username, login.password, login.protocol.value) == ("cardlog", "s3cret", "SASL_SSL")
    assert "s3cret" not in repr(settings)
