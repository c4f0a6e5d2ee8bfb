"""A broker of Apache Kafka in KRaft mode, from its jars, as a process. Needs Java 17, Maven and Maven Central, once."""

import re
import shutil
import signal
import socket
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from deploy.embedded.server import free_port
from tests.support.waiting import eventually

ROOT = Path(__file__).resolve().parents[3]
JARS = ROOT / ".cache" / "kafka"
POM = Path(__file__).with_name("pom.xml")
CLUSTER = "Y2FyZGxvZ2NhcmRsb2dzMQ"  # any 16 bytes, in base64
_OLDEST_JAVA = 17
_FETCH_WITHIN_S = 300


@cache
def why_not() -> str | None:
    """Returns the reason why Kafka cannot run here, or None. Fetches the jars the first time."""
    for program in ("java", "mvn"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    told = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr
    version = re.search(r'version "(\d+)', told)
    if version is None or int(version[1]) < _OLDEST_JAVA:
        return f"Java {_OLDEST_JAVA} is needed, this is {told.splitlines()[:1]}"
    if not any(JARS.glob("kafka_*.jar")):
        JARS.mkdir(parents=True, exist_ok=True)
        fetched = subprocess.run(
            [
                *("mvn", "--batch-mode", "--quiet", "--file", str(POM)),
                *("dependency:copy-dependencies", f"-DoutputDirectory={JARS}"),
            ],
            capture_output=True, text=True, timeout=_FETCH_WITHIN_S,
        )  # fmt: skip
        if fetched.returncode != 0:
            return f"Maven cannot fetch Kafka: {(fetched.stdout + fetched.stderr)[-300:]}"
    return None


class RealBroker:
    """One process, broker and controller. Acknowledged messages survive a kill."""

    keeps = True

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="cardlog-kafka-"))
        ports = [free_port(), free_port()]
        self.address = f"127.0.0.1:{ports[0]}"
        self._properties = self._folder / "server.properties"
        self._properties.write_text(
            _PROPERTIES.format(broker=ports[0], controller=ports[1], folder=self._folder)
        )
        self._process: subprocess.Popen[bytes] | None = None
        self._java("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", str(self._properties)).wait(60)

    def start(self) -> None:
        self._process = self._java("kafka.Kafka", str(self._properties))
        eventually(self._answers)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        assert self._process is not None
        self._process.wait()
        self._process = None

    def signal(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def close(self) -> None:
        if self._process is not None:
            self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _java(self, main: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self._folder / "kafka.log").open("ab") as log:
            return subprocess.Popen(
                ["java", "-Xmx384m", "-XX:+UseSerialGC", "-cp", f"{JARS}/*", main, *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self._folder / "kafka.log").read_text()[-2000:]
        host, _, port = self.address.partition(":")
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            return False
        return True


_PROPERTIES = Path(__file__).with_name("server.properties").read_text("utf-8")
