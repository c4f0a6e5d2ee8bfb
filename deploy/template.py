"""A process that has loaded the code, the Chinese dictionary and the embedding model once, and forks workers from it.

A worker shares this memory until it writes to it. It stays a process of its own: its end harms no other one.
"""

import ctypes
import gc
import importlib
import json
import logging
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, Any

from events.platform.settings import Settings

logger = logging.getLogger(__name__)

_PR_SET_PDEATHSIG, _PR_SET_NAME, _PR_SET_CHILD_SUBREAPER = 1, 15, 36
_M_ARENA_MAX = -8
_MESSAGE_BYTES = 128 * 1024
_MODULES = (
    "deploy.command",
    "deploy.commands.run.work",
    "deploy.connections",
    "events.platform.settings_sources",
    "httpcore2",
    "ingest.api.write_api",
    "ingest.curator.worker",
    "ingest.extraction.workers.rules_worker",
    "ingest.recording.recorder",
    "ingest.references.proposer",
    "ingest.webhooks.worker",
    "projectors.rebuild.operation_worker",
    "projectors.runner",
    "retrieval.http.read_api",
    "pydantic.v1",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.httptools_impl",
)


class Forked:
    """A process that was forked from a template. Its methods are those of ``subprocess.Popen``."""

    def __init__(self, pid: int, stdout: IO[bytes]) -> None:
        self.pid = pid
        self.stdout = stdout
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Returns the exit status, or None while the process runs."""
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                pid, status = self.pid, 0
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float) -> int:
        """Returns the exit status. Raises ``subprocess.TimeoutExpired`` when the process runs for longer."""
        if self.poll() is None:
            descriptor = os.pidfd_open(self.pid)
            try:
                select.select([descriptor], [], [], timeout)
            finally:
                os.close(descriptor)
        if (status := self.poll()) is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


class Template:
    """The process that forks. Make it before this process has threads, connections and locks.

    Its forks become children of this process, and they end when this process dies.
    """

    def __init__(self, settings: Settings) -> None:
        """Forks the template. It loads the code while this process goes on. Only Linux has what it needs."""
        self._own, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        _control(_PR_SET_CHILD_SUBREAPER, 1)
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            self._own.close()
            _serve(theirs, settings, parent)
        theirs.close()

    def fork(
        self,
        name: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        listener: socket.socket | None,
    ) -> Forked:
        """Returns a process that runs ``cardlog`` with ``arguments``. Raises OSError when the template is gone."""
        reading, writing = os.pipe()
        try:
            asked = json.dumps([name, arguments, dict(environment)]).encode()
            descriptors = [writing, *([] if listener is None else [listener.fileno()])]
            socket.send_fds(self._own, [asked], descriptors)
            pid = int(self._own.recv(64) or b"0")
            if pid <= 0:
                raise OSError("the process that forks the workers is gone")
        except (OSError, ValueError):
            os.close(reading)
            raise
        finally:
            os.close(writing)
        return Forked(pid, os.fdopen(reading, "rb"))

    def close(self) -> None:
        """Ends the template. Its forks go on."""
        self._own.close()
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def reap(known: set[int]) -> None:
    """Takes the exit status of ended processes that nobody waits for: those of a server that was killed."""
    with suppress(ChildProcessError):
        while (found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
            if found.si_pid in known:
                return
            os.waitpid(found.si_pid, 0)


def _serve(control: socket.socket, settings: Settings, parent: int) -> None:
    """Loads what the forks share, and forks until the parent closes its end."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # a Ctrl-C reaches the whole group, and the parent ends this process
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    status = 1
    try:
        _load(settings)
        while asked := socket.recv_fds(control, _MESSAGE_BYTES, 2):
            message, descriptors, _, _ = asked
            if not message:
                break
            _fork(control, json.loads(message), descriptors, parent)
            for each in descriptors:
                os.close(each)
        status = 0
    except BaseException:
        logger.exception("the process that forks the workers fails; each worker loads its own code")
    finally:
        os._exit(status)


def _load(settings: Settings) -> None:
    # A thread would be lost in the forks, and no worker multiplies large matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):
        mallopt(_M_ARENA_MAX, 2)  # each thread else keeps freed memory of its own
    gc.disable()
    for name in _MODULES:
        importlib.import_module(name)
    from events.language.segmentation import dictionary  # noqa: PLC0415 - `cardlog up` itself needs none of these
    from projectors.embedding.embedders import preload  # noqa: PLC0415

    dictionary()
    preload(settings)
    gc.collect()
    gc.freeze()  # a collection would write to the shared memory


def _fork(control: socket.socket, asked: Sequence[Any], descriptors: Sequence[int], parent: int) -> None:
    """Forks a process whose parent is ``parent``: the kernel gives it the orphan of a process in between."""
    reading, writing = os.pipe()
    between = os.fork()
    if between:
        os.close(writing)
        with os.fdopen(reading, "rb") as told:
            forked = told.read()
        os.waitpid(between, 0)
        control.send(forked or b"0")  # only now the process is a child of ``parent``
        return
    os.close(reading)
    if pid := os.fork():
        os.write(writing, str(pid).encode())
        os._exit(0)
    os.close(writing)
    status = 1
    try:
        control.close()
        _become(asked, descriptors, parent)
        importlib.import_module("deploy.command").entry()  # as `python -m deploy.command` does
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        logger.exception("%s could not be started", asked[0])
    finally:
        with suppress(Exception):
            logging.shutdown()
            sys.stdout.flush()
        os._exit(status)


def _become(asked: Sequence[Any], descriptors: Sequence[int], parent: int) -> None:
    """Makes this fork what a new process would be: its signals, arguments, environment, output and log."""
    name, arguments, environment = asked
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _control(_PR_SET_NAME, ctypes.create_string_buffer(name.encode()[:15]))
    output, *listeners = descriptors
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    if listeners:
        arguments = [*arguments, "--fd", str(listeners[0])]
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["cardlog", *arguments]
    sys.orig_argv[:] = [sys.executable, "-P", "-m", "deploy.command", *arguments]
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    logging.getLogger().handlers.clear()
    while os.getppid() != parent:
        # The process in between ends in a moment. Without ``parent``, this one keeps another parent for ever.
        if not os.path.exists(f"/proc/{parent}"):
            os._exit(1)
        select.select([], [], [], 0.001)
    die_with_parent()
    if os.getppid() != parent:
        os._exit(1)


def die_with_parent() -> None:
    """Asks the kernel to stop this process when its parent dies for any reason. Only Linux supports it."""
    if sys.platform == "linux":
        _control(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _control(option: int, value: Any) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
