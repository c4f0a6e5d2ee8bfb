"""The parts of a start: their reports, and the processes, which are started again whenever they end."""

import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO

import psutil

from deploy.template import Forked, Template, die_with_parent

logger = logging.getLogger(__name__)


@contextmanager
def part(name: str) -> Iterator[None]:
    """Logs that the part ``name`` starts, and after it how long it took. A part that fails logs no end."""
    logger.info("%s: starting …", name)
    began = time.monotonic()
    yield
    logger.info("%s: ready after %.1f s", name, time.monotonic() - began)


_TAIL = 12
_LAST_LINES_S = 1.0
_WORKS_SHARE = 0.005  # of the time: a stuck process uses less for its heartbeats, and a starved one more


class Child:
    """One process of the stack. It is started again whenever it ends by itself."""

    def __init__(
        self,
        name: str,
        arguments: list[str],
        environment: dict[str, str],
        listener: socket.socket | None,
        template: Template | None = None,
    ) -> None:
        """``listener`` becomes the option ``--fd``. Without ``template`` the process loads its own code."""
        self.name = name
        self._template = template
        self._arguments = arguments
        self._environment = environment
        self._listener = listener
        self._process: subprocess.Popen[bytes] | Forked | None = None
        self._started = 0.0
        self._delay = 0.0
        self.deaths = 0
        self._lines: deque[bytes] = deque(maxlen=_TAIL)
        self._reader: threading.Thread | None = None

    @property
    def tail(self) -> str:
        """The last lines that the process wrote."""
        return b"".join(self._lines).decode("utf-8", "replace").rstrip() or "(nothing was written)"

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        environment = {**self._environment, "CARDLOG_PROCESS": self.name}
        self._process = self._forked(environment) or self._alone(environment)
        self._started = time.monotonic()
        self._reader = threading.Thread(
            target=self._pass_on, args=(self._process.stdout,), name=self.name, daemon=True
        )
        self._reader.start()

    def _forked(self, environment: dict[str, str]) -> Forked | None:
        if self._template is None:
            return None
        try:
            return self._template.fork(self.name, self._arguments, environment, self._listener)
        except OSError as error:
            logger.warning("%s loads its own code: %s", self.name, error)
            self._template = None
            return None

    def _alone(self, environment: dict[str, str]) -> subprocess.Popen[bytes]:
        descriptors = () if self._listener is None else (self._listener.fileno(),)
        listening = [word for each in descriptors for word in ("--fd", str(each))]
        return subprocess.Popen(  # noqa: S603 - our own command
            # -P: a folder or file called `deploy` or `events` in the working directory must not be imported.
            [sys.executable, "-P", "-m", "deploy.command", *self._arguments, *listening],
            env=environment,
            pass_fds=descriptors,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - one call of prctl, which takes no lock
        )

    def _pass_on(self, output: IO[bytes]) -> None:
        """Copies the output of the process to standard error, because standard output belongs to the ready line."""
        with output:
            for line in output:
                self._lines.append(line)
                with contextlib.suppress(OSError):
                    os.write(sys.stderr.fileno(), line)

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
        if self._reader is not None:
            self._reader.join(_LAST_LINES_S)  # a process that it left behind may hold the pipe open
        return True


def end(children: Sequence[Child], *, idle_s: float, most_s: float) -> None:
    """Asks all ``children`` to end, and waits while they work: on a busy machine the end of a batch takes long.

    A child that has used no processor time for ``idle_s`` is killed, and so is one that still works after ``most_s``.
    """
    for child in children:
        child.signal(signal.SIGTERM)
    left, deadline = list(children), time.monotonic() + most_s
    while left:
        before = {child: child.worked() for child in left}
        until = min(time.monotonic() + idle_s, deadline)
        left = [child for child in left if not child.wait(until - time.monotonic())]
        for child in list(left):
            if time.monotonic() >= deadline or child.worked() - before[child] < idle_s * _WORKS_SHARE:
                logger.warning("%s does not stop; killing it", child.name)
                child.signal(signal.SIGKILL)
                child.wait(idle_s)
                left.remove(child)
