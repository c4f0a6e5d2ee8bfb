"""Runs a whole Cardlog: embedded servers unless others are set, workers and both services. Restarts what ends."""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil

from deploy.embedded.lock import FolderLock
from deploy.embedded.postgres import EmbeddedPostgres
from deploy.embedded.processes import DYING_S
from deploy.embedded.redis import EmbeddedRedis
from deploy.embedded.roles import service_url
from deploy.embedded.server import EmbeddedServer, ServerError, StartStoppedError
from deploy.instance import Instance, announce, left_over, withdraw
from events.platform.database import Connection, connect, connect_with_retry, migrate
from events.platform.settings import DATA, Settings, revealed, variable_of
from events.store import authentication
from events.store.anchors import heads_of
from projectors.generations.generations import ensure_live
from projectors.kafka.topic import require_kafka
from projectors.registry import projectors

logger = logging.getLogger(__name__)

LOG_KEY_FILE = "log.key"
WORKERS = ("recorder", "extractor", "projector", "vectors")
_REPORT_EVERY_S = 10.0
_IDLE_S = 60.0  # a service that uses no processor time for this long will not become ready
_IDLE_SHARE = 0.01
_READY_TIMEOUT_S = 900.0
_DEATHS = 5  # the start fails when a service ends this often before its first answer
_STOP_TIMEOUT_S = 10.0
_PR_SET_PDEATHSIG = 1


class StackError(RuntimeError):
    """The stack cannot start. The message gives the reason and the remedy."""


class Child:
    """One process of the stack. It is started again whenever it ends by itself."""

    def __init__(
        self, name: str, arguments: list[str], environment: dict[str, str], listener: socket.socket | None
    ) -> None:
        self.name = name
        self._arguments = arguments
        self._environment = environment
        self._listener = listener
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._delay = 0.0
        self.deaths = 0

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        descriptors = () if self._listener is None else (self._listener.fileno(),)
        self._process = subprocess.Popen(  # noqa: S603 - our own command
            # -P: a folder or file called `deploy` or `events` in the working directory must not be imported.
            [sys.executable, "-P", "-m", "deploy.command", *self._arguments],
            env={**self._environment, "CARDLOG_PROCESS": self.name},
            pass_fds=descriptors,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr.fileno(),  # stdout belongs to the ready line
            preexec_fn=_die_with_parent,  # noqa: PLW1509 - one call of prctl, which takes no lock
        )
        self._started = time.monotonic()

    def watch(self) -> None:
        """Starts the process again if it ended. After a quick end it waits a growing delay first."""
        if self._process is None or self._process.poll() is None:
            return
        lived = time.monotonic() - self._started
        if lived > 5.0:
            self._delay = 0.0
        if lived < self._delay:
            return
        logger.warning(
            "%s (pid %d) ended with %s; starting it again", self.name, self.pid, self._process.returncode
        )
        self._delay = min(max(self._delay * 2, 0.25), 10.0)
        self.deaths += 1
        self.start()

    def worked(self) -> float:
        """Returns the seconds of processor time that the process has used."""
        try:
            times = psutil.Process(self.pid).cpu_times()
        except psutil.Error:
            return 0.0
        return float(times.user + times.system)

    def signal(self, number: int) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    def wait(self, timeout: float) -> bool:
        if self._process is None:
            return True
        try:
            self._process.wait(max(0.0, timeout))
        except subprocess.TimeoutExpired:
            return False
        return True


class Stack:
    """A whole Cardlog over one data folder. ``stopping`` lets a signal handler end the start.

    :meth:`start` returns only when both services answer. When :meth:`stop` returns, every started process is gone.
    """

    def __init__(
        self, settings: Settings, data: Path, *, port_write: int, port_read: int, stopping: Callable[[], bool]
    ) -> None:
        self._settings = settings
        self._data = data.resolve()
        self._ports = (port_write, port_read)
        self._stopping = stopping
        self._lock = FolderLock(self._data / "lock")
        self._servers: list[EmbeddedServer] = []
        self._again: dict[
            EmbeddedServer, tuple[float, float]
        ] = {}  # (time of the next attempt, delay after it in seconds)
        self._children: list[Child] = []
        self.instance: Instance | None = None

    def start(self) -> Instance | None:
        """Starts everything and returns the instance, or None when ``stopping`` became true during the start.

        Raises :class:`StackError`, ServerError, FolderInUseError, and errors of the migration.
        """
        try:
            return self._start()
        except StartStoppedError:
            return None

    def _start(self) -> Instance | None:
        if self._settings.kafka_brokers:
            require_kafka(self._settings)
        self._data.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock.acquire()
        before = left_over(self._data)
        listeners = [
            _listen(port, option, patient=before is not None and port in before.ports)
            for port, option in zip(self._ports, ("--port-write", "--port-read"), strict=True)
        ]
        settings = self._with_servers(self._settings)
        connection = connect_with_retry(
            settings.admin_database_url or settings.database_url, application="up", stopping=self._stopping
        )
        if connection is None:
            return None
        with connection:
            for name in migrate(connection):
                logger.info("applied %s", name)
            if not self._settings.database_url:
                settings = self._guarded(settings, connection)
        with connect(settings.database_url, application="up") as connection:
            for projector in projectors(settings):
                ensure_live(connection, projector)
        environment = {**os.environ, **_environment(settings), DATA: str(self._data)}
        urls = [f"http://127.0.0.1:{listener.getsockname()[1]}" for listener in listeners]
        for name in (*WORKERS, "relay") if settings.kafka_brokers else WORKERS:
            self._children.append(Child(name, ["work", name], environment, None))
        for name, listener in zip(("write", "read"), listeners, strict=True):
            arguments = ["serve", name, "--fd", str(listener.fileno())]
            self._children.append(Child(f"serve {name}", arguments, environment, listener))
        for child in self._children:
            child.start()
        if not self._await(urls):
            return None
        self.instance = Instance(
            write_url=urls[0],
            read_url=urls[1],
            redis_url=revealed(settings.redis_url),
            database_url=revealed(settings.database_url),
            pid=os.getpid(),
            started=psutil.Process().create_time(),
            data=str(self._data),
            admin_database_url=settings.admin_database_url,
            log_key_file=settings.log_key_file,
        )
        announce(self.instance)
        return self.instance

    def processes(self) -> dict[str, int | None]:
        """Returns the pid of every process of the stack, by name."""
        found = {child.name: child.pid for child in self._children}
        found.update(
            {type(server).__name__.removeprefix("Embedded").lower(): server.pid for server in self._servers}
        )
        return found

    def watch(self) -> None:
        """Starts every ended process again. Call it a few times a second."""
        for server in self._servers:
            if server.poll() is not None and not self._stopping():
                self._restart(server)
        for child in self._children:
            child.watch()

    def _restart(self, server: EmbeddedServer) -> None:
        """Starts a server that ended. After a failure it tries again with a growing delay; the others continue."""
        due, delay = self._again.get(server, (0.0, 1.0))
        if time.monotonic() < due:
            return
        logger.warning("%s ended; starting it again", type(server).__name__)
        try:
            server.restart()
        except StartStoppedError:
            return
        except ServerError as error:
            logger.warning("%s; trying again in %.0f s", error, delay)
            self._again[server] = (time.monotonic() + delay, min(delay * 2, 60.0))
        else:
            self._again.pop(server, None)

    def stop(self) -> None:
        """Stops workers and services, and then the servers. Idempotent."""
        if self.instance is not None:
            withdraw(self.instance)
            self.instance = None
        for child in self._children:
            child.signal(signal.SIGTERM)
        deadline = time.monotonic() + _STOP_TIMEOUT_S
        for child in self._children:
            if not child.wait(deadline - time.monotonic()):
                logger.warning("%s does not stop; killing it", child.name)
                child.signal(signal.SIGKILL)
                child.wait(_STOP_TIMEOUT_S)
        self._children.clear()
        for server in reversed(self._servers):
            server.stop()
        self._servers.clear()
        self._lock.release()

    def _with_servers(self, settings: Settings) -> Settings:
        if not settings.database_url:
            postgres = EmbeddedPostgres(self._data, stopping=self._stopping)
            postgres.start()
            self._servers.append(postgres)
            settings = replace(settings, database_url=postgres.url, admin_database_url=postgres.url)
        if not settings.redis_url:
            redis = EmbeddedRedis(self._data, stopping=self._stopping)
            redis.start()
            self._servers.append(redis)
            settings = replace(settings, redis_url=redis.url)
        return settings

    def _guarded(self, settings: Settings, owner: Connection) -> Settings:
        """Returns settings with the role of workers and services instead of the owner, and with a log key."""
        key = Path(settings.log_key_file) if settings.log_key_file else self._data / LOG_KEY_FILE
        if not key.exists():
            authentication.create(key, heads_of(owner))
            logger.info("created %s: keep a copy of it outside the database server", key)
        authentication.load(key)
        url = service_url(owner, settings.database_url)
        return replace(settings, database_url=url, log_key_file=str(key.resolve()))

    def _await(self, urls: list[str]) -> bool:
        """Waits for both services while they work, and logs the missing ones every few seconds.

        Returns False when ``stopping`` becomes true. Raises :class:`StackError` for a service that ends again and
        again, or that does nothing for too long.
        """
        began = reported = moved = time.monotonic()
        worked = 0.0
        waiting = dict(
            zip(urls, [child for child in self._children if child.name.startswith("serve")], strict=True)
        )
        while waiting:
            if self._stopping():
                return False
            self.watch()
            waiting = {url: child for url, child in waiting.items() if not _answers(f"{url}/readyz")}
            now = time.monotonic()
            for child in waiting.values():
                if child.deaths >= _DEATHS:
                    raise StackError(
                        f"{child.name} ended {child.deaths} times before it answered; see the log above"
                    )
            if waiting and now - reported >= _REPORT_EVERY_S:
                work = sum(child.worked() for child in waiting.values())
                if abs(work - worked) > _IDLE_SHARE * (now - reported):
                    moved = now
                reported, worked = now, work
                names = " and ".join(child.name for child in waiting.values())
                if now - moved > _IDLE_S or now - began > _READY_TIMEOUT_S:
                    raise StackError(
                        f"{names} did not answer within {now - began:.0f} s, and used no processor time for "
                        f"{now - moved:.0f} s; see the log above"
                    )
                logger.warning("%s: starting for %.0f s", names, now - began)
            if waiting:
                time.sleep(0.05)
        return True


def _answers(url: str) -> bool:
    """True when the service answers. A refusal that names a stuck stage counts as an answer.

    An operator may start the stack to repair that stage.
    """
    try:
        with urllib.request.urlopen(url, timeout=3.0) as answer:  # noqa: S310 - our own loopback address
            return bool(answer.status == 200)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return b'"stage"' in refusal.read()
    except (urllib.error.URLError, OSError):
        return False


def _listen(port: int, option: str, *, patient: bool) -> socket.socket:
    """Returns a listening socket that the stack keeps open. A restarted service keeps its port and its callers.

    With `patient`, it waits while the services of a killed stack still hold the port. Raises :class:`StackError`.
    """
    deadline = time.monotonic() + DYING_S
    while True:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen(128)
        except OSError as error:
            listener.close()
            if patient and time.monotonic() < deadline:
                time.sleep(0.05)
                continue
            raise StackError(
                f"port {port} cannot be used ({error.strerror}); choose another with {option}, or 0 for any"
            ) from None
        except OverflowError:
            listener.close()
            raise StackError(f"{option} {port} is not a port: use 0 to 65535") from None
        listener.set_inheritable(True)
        return listener


def _environment(settings: Settings) -> dict[str, str]:
    return {
        variable_of("database_url"): revealed(settings.database_url),
        variable_of("admin_database_url"): "",  # workers and services must not have the owner's password
        variable_of("redis_url"): revealed(settings.redis_url),
        variable_of("log_key_file"): settings.log_key_file,
        "PYTHONUNBUFFERED": "1",
    }


def _die_with_parent() -> None:
    """Asks the kernel to stop this child when the stack dies for any reason. Only Linux supports it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
