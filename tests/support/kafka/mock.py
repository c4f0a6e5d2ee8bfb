"""A broker that speaks Kafka's protocol and keeps everything in memory: librdkafka's own, as a process.

``python -m tests.support.kafka.mock ADVERTISED_PORT TOPIC PARTITIONS`` prints the port it listens on, and serves
until it is killed. It tells clients to come to the advertised port, where a forwarder stands that outlives it.
"""

import ctypes
import signal
import sys
from pathlib import Path

import confluent_kafka

_PRODUCER = 0
_GATHERING_MS = 200  # that long a new group waits for more members; three seconds by default


def library() -> ctypes.CDLL:
    """The librdkafka that came with the client; brokers of its kind are made through its C functions only."""
    folder = Path(confluent_kafka.__file__).parents[1] / "confluent_kafka.libs"
    [path] = folder.glob("librdkafka*.so*")
    found = ctypes.CDLL(str(path))
    pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    for name, result, arguments in (
        ("rd_kafka_conf_new", pointer, []),
        ("rd_kafka_conf_set", number, [pointer, text, text, text, ctypes.c_size_t]),
        ("rd_kafka_new", pointer, [number, pointer, text, ctypes.c_size_t]),
        ("rd_kafka_mock_cluster_new", pointer, [pointer, number]),
        ("rd_kafka_mock_topic_create", number, [pointer, text, number, number]),
        ("rd_kafka_mock_cluster_bootstraps", text, [pointer]),
        ("rd_kafka_mock_group_initial_rebalance_delay_ms", None, [pointer, ctypes.c_int32]),
        ("rd_kafka_mock_broker_set_host_port", number, [pointer, ctypes.c_int32, text, number]),
    ):
        function = getattr(found, name)
        function.restype, function.argtypes = result, arguments
    return found


def main(advertised: str, topic: str, partitions: str) -> None:
    kafka = library()
    reason = ctypes.create_string_buffer(512)
    configuration = kafka.rd_kafka_conf_new()
    # The client that hosts the broker has no broker to connect to, and would log a warning.
    assert kafka.rd_kafka_conf_set(configuration, b"log_level", b"3", reason, len(reason)) == 0
    handle = kafka.rd_kafka_new(_PRODUCER, configuration, reason, len(reason))
    assert handle, reason.value.decode()
    cluster = kafka.rd_kafka_mock_cluster_new(handle, 1)
    assert cluster
    bootstrap = kafka.rd_kafka_mock_cluster_bootstraps(cluster).decode()
    assert kafka.rd_kafka_mock_broker_set_host_port(cluster, 1, b"127.0.0.1", int(advertised)) == 0
    kafka.rd_kafka_mock_group_initial_rebalance_delay_ms(cluster, _GATHERING_MS)
    assert kafka.rd_kafka_mock_topic_create(cluster, topic.encode(), int(partitions), 1) == 0
    print(bootstrap.rpartition(":")[2], flush=True)
    signal.pause()


if __name__ == "__main__":
    main(*sys.argv[1:])
