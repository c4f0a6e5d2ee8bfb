"""A server as a child process that belongs to one data folder."""

import contextlib
import logging
import os
import random
import signal
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Self

import psutil

from deploy.embedded.account import Account, running_as
from deploy.embedded.lock import DYING_S, FolderLock
from deploy.security.private_files import written_privately

logger = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
ATTEMPTS = 5
PAUSE = 0.02
LOG_LIMIT = 8 * 1024 * 1024
_TAKEN = "Address already in use"


class ServerError(Exception):
    """A server did not start, or not in time. The message gives the reason, often with the end of its log."""


class StartStoppedError(Exception):
    """The start of a server was cancelled, because its owner is stopping."""


class EmbeddedServer(ABC):
    """One server over one data folder, on loopback only. It can be restarted, and it is found again after a crash.

    When `start` returns, the server answers. The server runs in its own session, so Ctrl-C reaches this process and
    not the server. When this process is killed, the server continues. The next `start` on the folder recognises the
    old server by its marker and stops it first. The port 0 is any free one. The port None is the port of the last
    start on the folder, or any free one when another program has it by now. `start` waits while the server works, and
    logs that every few seconds. It raises ServerError, FolderInUseError when another process holds the folder, or
    StartStoppedError.
    """

    name: ClassVar[str]
    # The names of its program: the current name, and older names of servers that may still run.
    programs: ClassVar[tuple[str, ...]]
    # The signals that stop it, the gentlest first, each with the seconds before the next signal.
    stop_signals: ClassVar[tuple[tuple[signal.Signals, float], ...]]
    # A server that fails ends at once. A slow start is a recovery after a crash. It may take any time, but at most
    # this many seconds without a sign of work.
    idle_timeout_s: ClassVar[float] = 300.0
    report_every_s: ClassVar[float] = 10.0
    # Log texts of a start that failed because processes of a killed server are not gone yet.
    transient_errors: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        data: Path,
        port: int | None = 0,
        *,
        durable: bool = True,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self.data = data.resolve()
        self.folder = self.data / self.name
        self.log = self.data / f"{self.name}.log"
        self.durable = durable
        self._port_file = self.data / f"{self.name}.port"
        self.port = kept_port(self._port_file) if port is None else port
        self._any_port = self.port == 0
        self._may_move = port is None and not self._any_port
        self._stopping = stopping
        self._lock = FolderLock(self.data / f"{self.name}.lock")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    @abstractmethod
    def url(self) -> str:
        """The URL for clients. It is valid after `start`."""

    @abstractmethod
    def _prepare(self) -> Account | None:
        """Prepares `folder` for a server that runs as the returned account."""

    def _clean_up(self) -> None:  # noqa: B027 - most servers leave nothing that stops the next start
        """Removes files that an ended server left in the folder. No process of the server runs at this point."""

    def _repair_data(self, output: str) -> bool:
        """Repairs the data that stopped a start, by the server's output. Returns True when a new start may succeed."""
        return False

    @abstractmethod
    def _command(self) -> tuple[list[str], dict[str, str]]:
        """Returns the command and the environment for the current port. The process title must show the marker."""

    def _configuration(self) -> bytes | None:
        """Returns the configuration for standard input. It holds secrets that must not be in the arguments."""
        return None

    @abstractmethod
    def _answers(self) -> bool:
        """True when the server answers clients. The first time it also finishes the set-up."""

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    @property
    def marker(self) -> str:
        """The name of the folder in the process title. Any user may read it, and it survives a rename of the folder."""
        entry = self.folder.stat()
        return f"cardlog-{entry.st_dev:x}-{entry.st_ino:x}."

    def poll(self) -> int | None:
        """Returns None while the server runs, else its exit code or minus the signal. -1 means never started."""
        return self._process.poll() if self._process is not None else -1

    def start(self) -> None:
        """Starts the server and returns when it answers. A running server is left unchanged."""
        if self.poll() is None:
            return
        try:
            self._lock.acquire()
            account = self._prepare()
            self._stop_leftovers()
            self._clean_up()
            self._launch(account)
        except OSError as error:
            self.stop()
            raise ServerError(f"{self.name} cannot use {self.data}: {error}") from error
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stops the server and returns when no process of it is left. Idempotent."""
        if self._process is not None:
            for each, seconds in self.stop_signals:
                if self._process.poll() is not None:
                    break
                self._process.send_signal(each)
                try:
                    self._process.wait(seconds)
                except subprocess.TimeoutExpired:
                    continue
            self._stop_leftovers()
            self._process.wait()
            self._process = None
        self._lock.release()

    def restart(self) -> None:
        """Stops the server and starts it on the same port, so that clients find it again."""
        wanted = self._any_port, self._may_move
        self._any_port = self._may_move = False
        try:
            self.stop()
            self.start()
        finally:
            self._any_port, self._may_move = wanted

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _launch(self, account: Account | None) -> None:
        if self.log.exists() and self.log.stat().st_size > LOG_LIMIT:
            self.log.rename(self.log.with_suffix(".log.old"))
        deadline = time.monotonic() + DYING_S
        attempt = 0
        while True:
            if self._any_port:
                self.port = free_port()
            written = self.log.stat().st_size if self.log.exists() else 0
            self._spawn(account)
            if self._await():
                # In a folder that cannot be written, the next start takes another port.
                with contextlib.suppress(RuntimeError), written_privately(self._port_file) as file:
                    file.write(f"{self.port}\n".encode())
                return
            output = self.log.read_bytes()[written:].decode(errors="replace")
            attempt += 1
            taken = _TAKEN in output
            if taken and self._may_move:
                logger.warning(
                    "port %d of %s is taken by another program: it gets another port", self.port, self.name
                )
                self._any_port = True
            # Another process may have taken the free port before the server did.
            if taken and self._any_port and attempt < ATTEMPTS:
                continue
            if any(each in output for each in self.transient_errors) and time.monotonic() < deadline:
                time.sleep(PAUSE)
                self._stop_leftovers()
                self._clean_up()
                continue
            if taken:
                raise ServerError(
                    f"port {self.port} cannot be used (another program has it); choose another with "
                    f"--port-{self.name}, or 0 for any"
                )
            if self._repair_data(output):
                continue
            raise ServerError(f"{self.name} did not start; the end of {self.log}:\n{tail(output)}")

    def _spawn(self, account: Account | None) -> None:
        command, environment = self._command()
        configuration = self._configuration()
        with open(os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as log:
            os.fchmod(log.fileno(), 0o600)
            try:
                self._process = subprocess.Popen(  # noqa: S603
                    command,
                    cwd=self.folder,
                    env=environment,
                    stdin=subprocess.DEVNULL if configuration is None else subprocess.PIPE,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    umask=0o077,
                    **running_as(account),
                )
            except OSError as error:
                raise ServerError(f"{command[0]} cannot be run: {error}") from error
        if configuration is not None and self._process.stdin is not None:
            # A server that ended before it read the configuration gives the reason in its log.
            with contextlib.suppress(BrokenPipeError), self._process.stdin as pipe:
                pipe.write(configuration)

    def _await(self) -> bool:
        """Returns True when the server answers, and False when it ended first.

        Raises ServerError when the server does nothing for too long, and StartStoppedError.
        """
        began = reported = moved = time.monotonic()
        worked = self._worked()
        while self.poll() is None:
            if self._answers():
                return True
            if self._stopping():
                raise StartStoppedError(
                    f"the start of {self.name} was cancelled, because Cardlog is stopping"
                )
            now = time.monotonic()
            if now - reported >= self.report_every_s:
                reported, before, worked = now, worked, self._worked()
                output = tail(self.log.read_text(errors="replace"), lines=1)
                moved = now if worked != before else moved
                if now - moved > self.idle_timeout_s:
                    output = tail(self.log.read_text(errors="replace"))
                    raise ServerError(
                        f"{self.name} was not ready after {now - began:.0f} s and has done nothing for the last "
                        f"{now - moved:.0f} s; the end of {self.log}:\n{output}"
                    )
                state = "works" if moved == now else f"has done nothing for {now - moved:.0f} s"
                logger.warning("%s: starting for %.0f s, and %s: %s", self.name, now - began, state, output)
            time.sleep(PAUSE)
        return False

    def _worked(self) -> float:
        """Returns the processor time that the processes of the server have used."""
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(self.pid)
            used = [each.cpu_times() for each in (process, *process.children(recursive=True))]
            return round(sum(each.user + each.system for each in used), 1)
        return 0.0

    def _stop_leftovers(self) -> None:
        """Stops servers that still run on this folder after a crash of the server or of Cardlog."""
        if not self.folder.exists():
            return
        for each, seconds in self.stop_signals:
            deadline = time.monotonic() + seconds
            roots = self._roots()
            for process in roots:
                try:
                    process.send_signal(each)
                except psutil.NoSuchProcess:
                    continue
                except psutil.AccessDenied as error:
                    raise ServerError(
                        f"process {process.pid} of another user still serves {self.folder}; stop it first"
                    ) from error
            while roots and time.monotonic() < deadline:
                if not self._roots():
                    return
                time.sleep(PAUSE)
            if not roots:
                return
        if left := self._roots():
            raise ServerError(f"process {left[0].pid} still serves {self.folder} and cannot be stopped")

    def _roots(self) -> list[psutil.Process]:
        """Returns the living root processes of this folder's server. A root's parent does not belong to the server."""
        marker, found = self.marker, {}
        for process in psutil.process_iter(["name", "cmdline", "ppid"]):
            if process.info["name"] in self.programs and marker in " ".join(process.info["cmdline"] or ()):
                found[process.pid] = process
        return [process for process in found.values() if process.info["ppid"] not in found]


def kept_port(path: Path) -> int:
    """Returns the port of a server's last start, on which apps find it again, and 0 when the file holds none."""
    try:
        text = path.read_bytes()[:16].strip()
    except OSError:
        return 0
    port = int(text) if text.isdigit() else 0
    return port if port <= 0xFFFF else 0


def free_port() -> int:
    """Returns a free port below the range from which Linux gives ports to connections, unless that range was changed.

    A port of the kernel's own choice may belong to another program's connection when the server starts again.
    """
    choice = random.SystemRandom()
    for port in (*(choice.randint(20_000, 32_767) for _ in range(20)), 0):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe, contextlib.suppress(OSError):
            probe.bind((LOOPBACK, port))
            return int(probe.getsockname()[1])
    raise ServerError("no port of 127.0.0.1 is free")


def tail(text: str, lines: int = 15) -> str:
    return os.linesep.join(text.rstrip().splitlines()[-lines:]) or "(nothing was written)"
