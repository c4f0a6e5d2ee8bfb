"""The topic that carries the log, with one partition for each partition of the log."""

import logging
import time
from importlib.util import find_spec

from events.platform.settings import Settings, SettingsError
from events.types.envelope import PARTITIONS
from projectors.kafka.security import addresses, check_security, client_options

logger = logging.getLogger(__name__)

_PATIENCE_S = 5.0
_MADE_WITHIN_S = 15.0


class BrokerAwayError(RuntimeError):
    """Kafka does not answer. The message names brokers and request. No event is lost."""


class TopicUnfitError(RuntimeError):
    """The topic cannot carry the log. The message says what an operator must change."""


def require_kafka(settings: Settings) -> None:
    """Raises :class:`SettingsError` unless brokers are named, the client packages are installed, and the brokers have
    the TLS that the settings ask for."""
    if not settings.kafka_brokers:
        raise SettingsError("CARDLOG_KAFKA_BROKERS is not set: name Kafka's brokers, host:port with commas")
    addresses(settings)
    for module, package in (("confluent_kafka", "confluent-kafka"), ("faust", "faust-streaming")):
        if find_spec(module) is None:
            raise SettingsError(
                f"CARDLOG_KAFKA_BROKERS is set and {package} is not installed: "
                "install the extra, pip install '.[kafka]'"
            )
    check_security(settings)


def ensure_topic(settings: Settings) -> None:
    """Creates the topic when it is missing, with as many partitions as the log.

    A new topic has the default replication and retention of the brokers. Raises :class:`BrokerAwayError` when Kafka
    does not answer. Raises :class:`TopicUnfitError` when the topic cannot be created or has another number of
    partitions. Only equal partitions prove that no event is missing.
    """
    from confluent_kafka import KafkaError, KafkaException  # noqa: PLC0415 - an extra: not everywhere
    from confluent_kafka.admin import AdminClient  # noqa: PLC0415
    from confluent_kafka.cimpl import NewTopic  # noqa: PLC0415

    name = settings.kafka_topic
    # The client also raises every problem as an error, so its log is silent.
    quiet = logging.getLogger(f"{__name__}.client")
    quiet.setLevel(logging.CRITICAL)
    admin = AdminClient({**client_options(settings), "socket.timeout.ms": 5_000}, logger=quiet)
    deadline = time.monotonic() + _MADE_WITHIN_S
    asked = False
    try:
        while True:
            # A request for one topic by name would create it with any number of partitions. So all are listed.
            found = admin.list_topics(timeout=_PATIENCE_S).topics.get(name)
            if found is not None and found.error is None and found.partitions:
                break
            if not asked:
                asked = True
                future = admin.create_topics([NewTopic(name, num_partitions=PARTITIONS)])[name]
                try:
                    future.result(_MADE_WITHIN_S)
                    logger.info("created the topic %s with %d partitions", name, PARTITIONS)
                except KafkaException as error:
                    if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                        raise TopicUnfitError(
                            f"the topic {name} does not exist and cannot be created ({error.args[0].str()}): "
                            f"create it with {PARTITIONS} partitions"
                        ) from error
            if time.monotonic() > deadline:
                raise BrokerAwayError(f"kafka at {settings.kafka_brokers} does not create the topic {name}")
            time.sleep(0.1)
    except KafkaException as error:
        raise BrokerAwayError(f"kafka at {settings.kafka_brokers} is away: {error.args[0].str()}") from error
    if len(found.partitions) != PARTITIONS:
        raise TopicUnfitError(
            f"the topic {name} has {len(found.partitions)} partitions, the log has {PARTITIONS}: "
            "name another topic with CARDLOG_KAFKA_TOPIC, or delete this one and Cardlog creates it again"
        )
