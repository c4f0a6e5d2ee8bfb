"""The brokers of Kafka: TLS, login, and the topic with one partition for each partition of the log."""

import logging
import socket
import ssl
import time
from importlib.util import find_spec
from typing import Any

from events.platform.encryption import is_local, is_tls_failure, untrusted
from events.platform.settings import Settings, SettingsError, revealed, variable_of
from events.types.envelope import PARTITIONS

_WITHIN_S = 3.0


def check_security(settings: Settings) -> None:
    """Raises :class:`SettingsError` when Kafka is without the TLS or the login that the settings ask for.

    A broker that is away is not at fault. One broker that speaks TLS with an accepted certificate is enough.
    """
    brokers = addresses(settings)
    if settings.require_tls and not _encrypts(settings) and not all(is_local(host) for host, _ in brokers):
        raise SettingsError(
            f"{variable_of('kafka_security')} is {settings.kafka_security}, and {variable_of('require_tls')} is on: "
            "use ssl or sasl_ssl"
        )
    if _logs_in(settings) and not (settings.kafka_user and settings.kafka_password):
        raise SettingsError(
            f"{variable_of('kafka_security')} is {settings.kafka_security}, which needs a login: set "
            f"{variable_of('kafka_user')} and {variable_of('kafka_password')}"
        )
    if not _encrypts(settings):
        return
    context = tls_context(settings)
    failure: Exception | None = None
    for host, port in brokers:
        try:
            with (
                socket.create_connection((host, port), _WITHIN_S) as plain,
                context.wrap_socket(plain, server_hostname=host),
            ):
                return
        except (OSError, ssl.SSLError) as error:
            # A broker without TLS closes the connection, because it cannot read the greeting of TLS as a request.
            if is_tls_failure(error) or isinstance(error, ConnectionResetError):
                failure = error
    if failure is not None:
        raise untrusted(
            variable_of("kafka_security"),
            settings.kafka_security,
            str(failure),
            f"name a listener with TLS in {variable_of('kafka_brokers')}, and the file of its authority in "
            f"{variable_of('kafka_ca_file')}",
        )


def client_options(settings: Settings) -> dict[str, str]:
    """Returns the options of librdkafka's clients: brokers, TLS and login."""
    options: dict[str, str] = {
        "bootstrap.servers": settings.kafka_brokers,
        "security.protocol": settings.kafka_security,
    }
    if _encrypts(settings) and settings.kafka_ca_file:
        options["ssl.ca.location"] = settings.kafka_ca_file
    if _logs_in(settings):
        options |= {
            "sasl.mechanisms": settings.kafka_sasl_mechanism,
            "sasl.username": settings.kafka_user,
            "sasl.password": revealed(settings.kafka_password),
        }
    return options


def credentials(settings: Settings) -> Any:
    """Returns the ``broker_credentials`` of a Faust app; None without TLS and login."""
    import faust  # noqa: PLC0415 - an extra: not everywhere

    context = tls_context(settings) if _encrypts(settings) else None
    if _logs_in(settings):
        return faust.SASLCredentials(
            username=settings.kafka_user,
            password=revealed(settings.kafka_password),
            ssl_context=context,
            mechanism=settings.kafka_sasl_mechanism,
        )
    return None if context is None else faust.SSLCredentials(context)


def tls_context(settings: Settings) -> ssl.SSLContext:
    """Returns a context that checks the broker's certificate and name. Raises :class:`SettingsError`."""
    try:
        return ssl.create_default_context(cafile=settings.kafka_ca_file or None)
    except (OSError, ssl.SSLError) as error:
        raise SettingsError(
            f"{variable_of('kafka_ca_file')} names {settings.kafka_ca_file}, which holds no certificate that can be "
            f"read ({error}): name a PEM file"
        ) from None


def _encrypts(settings: Settings) -> bool:
    return settings.kafka_security in {"ssl", "sasl_ssl"}


def _logs_in(settings: Settings) -> bool:
    return settings.kafka_security in {"sasl_plaintext", "sasl_ssl"}


def addresses(settings: Settings) -> list[tuple[str, int]]:
    """Returns host and port of each broker of the settings."""
    brokers = (broker.strip().rpartition(":") for broker in settings.kafka_brokers.split(","))
    return [(host.strip("[]"), int(port)) for host, _, port in brokers]


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
