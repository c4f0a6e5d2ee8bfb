"""A server as a child process that belongs to one data folder."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

import psutil

from deploy.embedded.account import Account
from deploy.embedded.lock import FolderLock
from deploy.embedded.processes import DYING_S

logger = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
ATTEMPTS = 5
PAUSE = 0.02
LOG_LIMIT = 8 * 1024 * 1024


class ServerError(Exception):
    """A server did not start, or not in time; the message ends with the last lines of its log."""


class StartStoppedError(Exception):
    """The start of a server was given up because its owner was told to stop."""


class EmbeddedServer(ABC):
    """One server over one data folder, on loopback only, restartable, findable again after a crash.

    After `start` returns, the server answers. It runs in a session of its own, so that Ctrl-C reaches us
    and not it, and it outlives us if we are killed: the next `start` on the folder recognises it by its
    marker and stops it before it begins. `start` waits as long as the server is at work, and says so every few
    seconds. It raises ServerError, FolderInUseError while another process has the folder, or StartStoppedError.
    """

    name: ClassVar[str]
    # What its program is called: the current one, and older ones that may be left over.
    programs: ClassVar[tuple[str, ...]]
    # Signals that end it, from polite to rude, each with the seconds it gets before the next.
    farewell: ClassVar[tuple[tuple[signal.Signals, float], ...]]
    # A server that fails ends at once; one that takes long is reading its log after a crash. It may take as long
    # as it needs, but not so many seconds without any sign of work.
    patience: ClassVar[float] = 300.0
    report_every: ClassVar[float] = 10.0
    # What the log says where processes of the server before, killed but not gone yet, are in the way.
    passing: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        data: Path,
        port: int = 0,
        *,
        durable: bool = True,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self.data = data.resolve()
        self.folder = self.data / self.name
        self.log = self.data / f"{self.name}.log"
        self.durable = durable
        self.port = port
        self._any_port = port == 0
        self._stopping = stopping
        self._lock = FolderLock(self.data / f"{self.name}.lock")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    @abstractmethod
    def url(self) -> str:
        """Where clients connect; valid after `start`."""

    @abstractmethod
    def _prepare(self) -> Account | None:
        """Make `folder` ready for a server that runs as the account returned."""

    def _forget(self) -> None:  # noqa: B027 - most servers leave nothing that would stop the next one
        """Remove what a server that is no more left in the folder; nothing of it runs any more."""

    def _mend(self, said: str) -> bool:
        """Repair the data a server ended over, by what it said; True when another start is worth it."""
        return False

    @abstractmethod
    def _command(self) -> tuple[list[str], dict[str, str]]:
        """Program, arguments and environment for the current port; the marker must show in the title."""

    def _configuration(self) -> bytes | None:
        """What the server reads from its standard input, for what others must not see in its arguments."""
        return None

    @abstractmethod
    def _answers(self) -> bool:
        """Whether it serves clients now; finishes the set-up when it does so for the first time."""

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    @property
    def marker(self) -> str:
        """Names the folder in the process title: any user may read that, and it survives a renamed folder."""
        entry = self.folder.stat()
        return f"cardlog-{entry.st_dev:x}-{entry.st_ino:x}."

    def poll(self) -> int | None:
        """None while the server runs; otherwise its exit code, or minus the signal (-1 if never started)."""
        return self._process.poll() if self._process is not None else -1

    def start(self) -> None:
        """Returns when the server answers. Starting one that already runs changes nothing."""
        if self.poll() is None:
            return
        try:
            self._lock.acquire()
            account = self._prepare()
            self._end_left_overs()
            self._forget()
            self._launch(account)
        except OSError as error:
            self.stop()
            raise ServerError(f"{self.name} cannot use {self.data}: {error}") from error
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Returns when no process of the server is left. Idempotent."""
        if self._process is not None:
            for each, seconds in self.farewell:
                if self._process.poll() is not None:
                    break
                self._process.send_signal(each)
                try:
                    self._process.wait(seconds)
                except subprocess.TimeoutExpired:
                    continue
            self._end_left_overs()
            self._process.wait()
            self._process = None
        self._lock.release()

    def restart(self) -> None:
        """Stop and start on the same port, so that clients find it again."""
        wanted, self._any_port = self._any_port, False
        try:
            self.stop()
            self.start()
        finally:
            self._any_port = wanted

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
                return
            said = self.log.read_bytes()[written:].decode(errors="replace")
            attempt += 1
            # Between looking for a free port and taking it, someone else may have taken it.
            if self._any_port and "Address already in use" in said and attempt < ATTEMPTS:
                continue
            if any(each in said for each in self.passing) and time.monotonic() < deadline:
                time.sleep(PAUSE)
                self._end_left_overs()
                self._forget()
                continue
            if self._mend(said):
                continue
            raise ServerError(f"{self.name} did not start; the end of {self.log}:\n{tail(said)}")

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
                    user=account.uid if account else None,
                    group=account.gid if account else None,
                    extra_groups=[] if account else None,
                )
            except OSError as error:
                raise ServerError(f"{command[0]} cannot be run: {error}") from error
        if configuration is not None and self._process.stdin is not None:
            # A server that ended before it read this says why in its log.
            with contextlib.suppress(BrokenPipeError), self._process.stdin as pipe:
                pipe.write(configuration)

    def _await(self) -> bool:
        """True once it answers, False if it ended before. Raises ServerError when it only stands still."""
        began = reported = moved = time.monotonic()
        traces = self._traces()
        while self.poll() is None:
            if self._answers():
                return True
            if self._stopping():
                raise StartStoppedError(f"{self.name} was being started when everything was told to stop")
            now = time.monotonic()
            if now - reported >= self.report_every:
                reported, before, traces = now, traces, self._traces()
                said = tail(self.log.read_text(errors="replace"), lines=1)
                moved = now if traces != before else moved
                if now - moved > self.patience:
                    said = tail(self.log.read_text(errors="replace"))
                    raise ServerError(
                        f"{self.name} was not ready after {now - began:.0f} s and has done nothing for the last "
                        f"{now - moved:.0f} s; the end of {self.log}:\n{said}"
                    )
                state = "is at work" if moved == now else f"has done nothing for {now - moved:.0f} s"
                logger.warning("%s: starting for %.0f s, and %s: %s", self.name, now - began, state, said)
            time.sleep(PAUSE)
        return False

    def _traces(self) -> tuple[float, ...]:
        """What changes while the server works: its log, its processor time, what it read and wrote."""
        traces = [float(self.log.stat().st_size)]
        if self._process is None:
            return tuple(traces)
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(self._process.pid)
            for each in (process, *process.children(recursive=True)):
                times = each.cpu_times()
                traces.append(round(times.user + times.system, 1))
                with contextlib.suppress(psutil.Error, AttributeError):
                    moved = each.io_counters()
                    traces.append(float(moved.read_bytes + moved.write_bytes))
        return tuple(traces)

    def _end_left_overs(self) -> None:
        """End what still runs on this folder since a crash: of the server, of us, or of both."""
        if not self.folder.exists():
            return
        for each, seconds in self.farewell:
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
        """Living processes of this folder's server whose parent is not one of them."""
        marker, found = self.marker, {}
        for process in psutil.process_iter(["name", "cmdline", "ppid"]):
            if process.info["name"] in self.programs and marker in " ".join(process.info["cmdline"] or ()):
                found[process.pid] = process
        return [process for process in found.values() if process.info["ppid"] not in found]


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def tail(text: str, lines: int = 15) -> str:
    return os.linesep.join(text.rstrip().splitlines()[-lines:]) or "(nothing was written)"
