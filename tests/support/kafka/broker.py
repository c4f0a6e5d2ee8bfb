"""Brokers for tests: processes that can be stopped, killed and started again at the same address."""

import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from events.types.envelope import PARTITIONS
from tests.support.kafka.forwarder import Forwarder

TOPIC = "cardlog.events"


class Broker(Protocol):
    """A broker at ``address``. Its kind decides which messages survive a kill."""

    address: str
    keeps: bool

    def start(self) -> None: ...

    def kill(self) -> None: ...

    def signal(self, number: int) -> None: ...

    def close(self) -> None: ...


class MockBroker:
    """librdkafka's broker. The topic exists from the start. A kill loses every message and offset."""

    keeps = False

    def __init__(
        self, *, partitions: int = PARTITIONS, topic: str = TOPIC, tls: ssl.SSLContext | None = None
    ) -> None:
        self._topic, self._partitions = topic, partitions
        self._forwarder = Forwarder(tls)
        self._process: subprocess.Popen[str] | None = None
        self.address = f"127.0.0.1:{self._forwarder.port}"

    def start(self) -> None:
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.support.kafka.mock"),
                *(str(self._forwarder.port), self._topic, str(self._partitions)),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self._forwarder.open(int(self._process.stdout.readline()))

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.wait()
        self._process.stdout.close()
        self._process = None
        self._forwarder.shut()

    def signal(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def close(self) -> None:
        if self._process is not None:
            self.kill()


@contextmanager
def stalled(broker: Broker) -> Iterator[None]:
    """The broker holds every connection and answers nothing."""
    broker.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        broker.signal(signal.SIGCONT)
