"""Runs the command in a fork of the test's process, which has loaded all modules already."""

import io
import os
import select
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NoReturn

import cardlog_client  # noqa: F401 - so that no fork has to load it
import deploy.command_line
import deploy.logs  # noqa: F401 - the same
from deploy.command import main
from events.platform import settings_sources
from events.sealing import sealer
from events.store import authentication


def forked(
    words: Sequence[str], environment: Mapping[str, str], *, input: str = "", timeout: float = 240
) -> subprocess.CompletedProcess[str]:
    """Returns what a process of the command with ``words`` would print, and its exit status.

    The start of a process takes a second of processor time, and a fork takes a hundredth. Raises TimeoutExpired like
    ``subprocess.run``.
    """
    _prepare()
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(input.encode())
        given.seek(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python 3.12 warns of threads. They only serve the test.
            pid = os.fork()
        if pid == 0:
            for target, file in enumerate((given, out, err)):
                os.dup2(file.fileno(), target)
            _run(words, environment)
        ended = os.pidfd_open(pid)
        try:
            if not select.select([ended], [], [], timeout)[0]:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(list(words), timeout)
        finally:
            os.close(ended)
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        for file in (out, err):
            file.seek(0)
        return subprocess.CompletedProcess(words, status, out.read().decode(), err.read().decode())


@cache
def _prepare() -> None:
    """Makes the model of the settings, which is more work than most verbs, once for all forks."""
    settings_sources.read({}, [])


def _run(words: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Runs the command in the fork, without what the test has set, and ends the fork."""
    status = 1
    try:
        warnings.resetwarnings()
        warnings.simplefilter("ignore")
        sys.stdin, sys.stdout, sys.stderr = (
            io.TextIOWrapper(open(number, mode, closefd=False), write_through=True)  # noqa: SIM115
            for number, mode in ((0, "rb"), (1, "wb"), (2, "wb"))
        )
        os.environ.clear()
        os.environ.update(environment)
        authentication.use(None)
        sealer.use(None)
        status = main(words)
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
