"""Runs a whole Cardlog: embedded servers unless others are set, workers and both services. Restarts what ends."""

import logging
import os
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil

from deploy.child import Child, end, part
from deploy.embedded.lock import DYING_S, FolderLock
from deploy.embedded.postgres import EmbeddedPostgres
from deploy.embedded.redis import EmbeddedRedis
from deploy.embedded.server import EmbeddedServer, ServerError, StartStoppedError
from deploy.instance import Instance, announce, left_over, withdraw
from deploy.security import first_key
from deploy.security.private_files import private_folder
from deploy.security.roles import WORKERS_AND_SERVICES, sign_tenants, url_of_role
from deploy.template import Template, reap
from events.platform.counting import counted
from events.platform.database import Connection, connect, connect_with_retry, migrate, statement
from events.platform.encryption import require_encryption
from events.platform.settings import DATA, Settings, revealed, variable_of
from events.sealing import key_encryption, keystore, sealer
from events.store import authentication
from events.store.anchors import heads_of
from ingest.erasure import tombstones
from ingest.erasure.erasure import Eraser, ErasureRefusedError
from ingest.erasure.subjects import replay
from projectors.generations.generations import ensure_live
from projectors.kafka.broker import require_kafka
from projectors.registry import derived, projectors

logger = logging.getLogger(__name__)

LOG_KEY_FILE = "log.key"
TOMBSTONES_FILE = "tombstones.jsonl"
KEK_FILE = "kek.key"
WORKERS = ("recorder", "extractor", "projector", "vectors")
_REPORT_EVERY_S = 10.0
_IDLE_S = 60.0  # a service that uses no processor time for this long will not become ready
_IDLE_SHARE = 0.01
_READY_TIMEOUT_S = 900.0
_DEATHS = 5  # the start fails when a service ends this often before its first answer
_STOPPING = "Cardlog stops before it was ready"
_STOP_IDLE_S = 10.0
_STOP_TIMEOUT_S = 60.0
_WORKERS_AFTER_S = 5.0  # the workers start at the latest so long after the services


class StackError(RuntimeError):
    """The stack cannot start. The message gives the reason and the remedy."""


class Stack:
    """A whole Cardlog over one data folder. ``stopping`` lets a signal handler end the start.

    The port 0 is any free one. The embedded servers keep the ports of the last start where theirs is None.
    :meth:`start` returns only when both services answer. When :meth:`stop` returns, every started process is gone.
    """

    def __init__(
        self,
        settings: Settings,
        data: Path,
        *,
        port_write: int,
        port_read: int,
        port_redis: int | None = None,
        port_postgres: int | None = None,
        stopping: Callable[[], bool],
    ) -> None:
        self._template: Template | None = None
        self._settings = settings
        self._data = data.resolve()
        self._ports = (port_write, port_read)
        self._port_redis, self._port_postgres = port_redis, port_postgres
        self._stopping = stopping
        self._lock = FolderLock(self._data / "lock")
        self._servers: list[EmbeddedServer] = []
        self._again: dict[
            EmbeddedServer, tuple[float, float]
        ] = {}  # (time of the next attempt, delay after it in seconds)
        self._children: list[Child] = []
        self._workers: list[Child] = []  # not started yet
        self._reader_url = ""
        self.instance: Instance | None = None

    def start(self) -> Instance | None:
        """Starts everything and returns the instance, or None when ``stopping`` became true during the start.

        Raises :class:`StackError`, ServerError, FolderInUseError, and errors of the migration.
        """
        try:
            return self._start()
        except StartStoppedError:
            return None

    def _start(self) -> Instance:
        require_encryption(self._settings)
        if self._settings.kafka_brokers:
            require_kafka(self._settings)
        self._require_embedded("database_url", "--port-postgres", self._port_postgres)
        self._require_embedded("redis_url", "--port-redis", self._port_redis)
        private_folder(self._data)
        if sys.platform == "linux":  # it forks now: this process has no threads, connections and locks yet
            self._template = Template(self._settings)
        self._lock.acquire()
        if not self._settings.tombstones_file:
            self._settings = replace(self._settings, tombstones_file=str(self._data / TOMBSTONES_FILE))
        before = left_over(self._data)
        listeners = [
            _listen(port, option, patient=before is not None and port in before.ports)
            for port, option in zip(self._ports, ("--port-write", "--port-read"), strict=True)
        ]
        settings = self._with_servers(self._settings)
        key_file = self._data / first_key.FILE
        with part("the tables"):
            settings = self._with_tables(settings, key_file)
        urls = [f"http://127.0.0.1:{listener.getsockname()[1]}" for listener in listeners]
        settings = replace(settings, write_url=urls[0], read_url=urls[1])
        environment = {**os.environ, **_environment(settings), DATA: str(self._data)}
        # A question needs the read service, which takes longest: the workers start when a service answers.
        for name, listener in zip(("write", "read"), listeners, strict=True):
            own = (
                {variable_of("database_url"): self._reader_url} if name == "read" and self._reader_url else {}
            )
            self._children.append(
                Child(f"serve {name}", ["serve", name], environment | own, listener, self._template)
            )
        names = [
            *WORKERS,
            *(["relay"] if settings.kafka_brokers else []),
            *(["curator"] if settings.curator else []),
            "webhooks",
        ]
        self._workers = [Child(name, ["work", name], environment, None, self._template) for name in names]
        with part("both services"):
            for child in self._children:
                child.start()
            self._await(urls)
        self._start_workers()
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
            tombstones_file=settings.tombstones_file,
            kek_file=settings.kek_file,
            key_file=str(key_file),
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
        if self._template is not None:
            reap({pid for pid in self.processes().values() if pid is not None})

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
        end(self._children, idle_s=_STOP_IDLE_S, most_s=_STOP_TIMEOUT_S)
        self._children.clear()
        for server in reversed(self._servers):
            server.stop()
        self._servers.clear()
        if self._template is not None:
            self._template.close()
            self._template = None
        self._lock.release()

    def _with_tables(self, settings: Settings, key_file: Path) -> Settings:
        """Makes or migrates the tables, and returns the settings of workers and services."""
        connection = connect_with_retry(
            settings.admin_database_url or settings.database_url, application="up", stopping=self._stopping
        )
        if connection is None:
            raise StartStoppedError(_STOPPING)
        with connection:
            if applied := migrate(connection):
                logger.info("applied %s", counted(len(applied), "migration"))
            first_key.ensured(connection, key_file)
            if not self._settings.database_url:
                settings = self._guarded(settings, connection)
            elif not settings.kek_file and not settings.kek:
                logger.info(
                    "payloads are not sealed: make a key-encryption key with `cardlog log kek new FILE`"
                )
            sealer.use_settings(settings)
            try:
                keystore.require_keys(connection)
            except key_encryption.KeyUnavailableError as error:
                kek = settings.kek_file or variable_of("kek")
                raise StackError(f"{kek} is not the key-encryption key of this log: {error}") from error
        authentication.use_file(settings.log_key_file)
        with connect(settings.database_url, application="up") as connection:
            for projector in projectors(settings):
                ensure_live(connection, projector)
            self._erase_again(settings, connection)
        return settings

    def _start_workers(self) -> None:
        for child in self._workers:
            self._children.append(child)
            child.start()
        self._workers = []

    def _require_embedded(self, setting: str, option: str, port: int | None) -> None:
        """Raises :class:`StackError` when an option gives the port of a server that this stack does not start."""
        if port is not None and getattr(self._settings, setting):
            raise StackError(
                f"{option} is the port of the embedded server, and {variable_of(setting)} names another server: "
                "leave one of them out"
            )

    def _with_servers(self, settings: Settings) -> Settings:
        if not settings.database_url:
            postgres = EmbeddedPostgres(self._data, self._port_postgres, stopping=self._stopping)
            with part("PostgreSQL"):
                postgres.start()
            self._servers.append(postgres)
            settings = replace(settings, database_url=postgres.url, admin_database_url=postgres.url)
        if not settings.redis_url:
            memory_mib = settings.redis_memory_mib
            redis = EmbeddedRedis(
                self._data, self._port_redis, stopping=self._stopping, memory_mib=memory_mib
            )
            with part("Redis"):
                redis.start()
            self._servers.append(redis)
            settings = replace(settings, redis_url=redis.url)
        return settings

    def _guarded(self, settings: Settings, owner: Connection) -> Settings:
        """Returns settings with the role of workers and services, and with the keys of the log and of its payloads."""
        key = Path(settings.log_key_file) if settings.log_key_file else self._data / LOG_KEY_FILE
        lost = not key.exists() and owner.execute(statement("events.store", "authenticated_head")).fetchone()
        if lost:
            raise StackError(
                f"the events of the log are authenticated, and their log key {key} is missing: bring the file "
                "back from its copy, or name it in CARDLOG_LOG_KEY_FILE. Without a copy, make an empty file of this "
                "name: a new key is then made, and no key authenticates the earlier events"
            )
        if not key.exists() or not key.stat().st_size:
            key.unlink(missing_ok=True)
            authentication.create(key, heads_of(owner))
            logger.info("created %s: keep a copy of it outside the database server", key)
        sign_tenants(owner, key)
        self._reader_url = url_of_role(owner, settings.database_url, "cardlog_reader", ("reader",))
        url = url_of_role(owner, settings.database_url, "cardlog_service", WORKERS_AND_SERVICES)
        settings = replace(settings, database_url=url, log_key_file=str(key.resolve()))
        return settings if settings.kek else replace(settings, kek_file=self._kek_file(settings, owner))

    def _kek_file(self, settings: Settings, owner: Connection) -> str:
        """Returns the file with the key-encryption key. The first start makes it.

        Raises :class:`StackError` when the file is missing and the log holds payloads that were sealed under it.
        """
        file = Path(settings.kek_file) if settings.kek_file else self._data / KEK_FILE
        if not file.exists():
            if keystore.any_key(owner):
                raise StackError(
                    f"the log holds sealed payloads, and their key-encryption key {file} is missing: bring the file "
                    "back from its backup, or name it in CARDLOG_KEK_FILE"
                )
            key_encryption.create(file)
            logger.info(
                "created %s: payloads are sealed under it; keep a copy of it apart from the database", file
            )
        return str(file.resolve())

    def _erase_again(self, settings: Settings, connection: Connection) -> None:
        """Erases what a restored backup brought back, before any worker or service reads it."""
        eraser = Eraser(settings, derived(settings))
        try:
            for outcome in replay(eraser, connection, tombstones.read(Path(settings.tombstones_file))):
                if outcome.users:
                    logger.warning(
                        "an older backup was restored: erasure %s was repeated", outcome.erasure_id
                    )
        except ErasureRefusedError as error:
            raise StackError(
                f"an older backup was restored, and its erasures cannot be repeated: {error}"
            ) from error
        eraser.keep_tombstones(connection)

    def _await(self, urls: list[str]) -> None:
        """Waits for both services while they work, and logs the missing ones every few seconds.

        Raises StartStoppedError when ``stopping`` becomes true, and :class:`StackError` for a service that ends again
        and again, or that does nothing for too long.
        """
        began = reported = moved = time.monotonic()
        worked = 0.0
        waiting = dict(
            zip(urls, [child for child in self._children if child.name.startswith("serve")], strict=True)
        )
        while waiting:
            if self._stopping():
                raise StartStoppedError(_STOPPING)
            self.watch()
            waiting = {url: child for url, child in waiting.items() if not _answers(f"{url}/readyz")}
            now = time.monotonic()
            if len(waiting) < len(urls) or now - began > _WORKERS_AFTER_S:
                self._start_workers()
            for child in waiting.values():
                if child.deaths >= _DEATHS:
                    raise StackError(
                        f"{child.name} ended {child.deaths} times before it answered; its last lines:\n{child.tail}"
                    )
            if waiting and now - reported >= _REPORT_EVERY_S:
                work = sum(child.worked() for child in waiting.values())
                if abs(work - worked) > _IDLE_SHARE * (now - reported):
                    moved = now
                reported, worked = now, work
                names = " and ".join(child.name for child in waiting.values())
                if now - moved > _IDLE_S or now - began > _READY_TIMEOUT_S:
                    lines = "\n".join(child.tail for child in waiting.values())
                    raise StackError(
                        f"{names} did not answer within {now - began:.0f} s, and used no processor time for "
                        f"{now - moved:.0f} s; the last lines:\n{lines}"
                    )
                logger.warning("%s: starting for %.0f s", names, now - began)
            if waiting:
                time.sleep(0.05)


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
        variable_of("tombstones_file"): settings.tombstones_file,
        variable_of("kek_file"): settings.kek_file,
        # The services of the stack listen on this machine only, and the stack asks them without TLS.
        variable_of("tls_cert_file"): "",
        variable_of("tls_key_file"): "",
        variable_of("auth"): settings.auth,
        variable_of("write_url"): settings.write_url,
        variable_of("read_url"): settings.read_url,
        variable_of("api_key"): "",  # services check keys and send none
        "PYTHONUNBUFFERED": "1",
    }
