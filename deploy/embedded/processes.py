"""Whether a process still does anything: a process id that is taken says little of that."""

from __future__ import annotations

import signal
from pathlib import Path

import psutil

DYING_S = 15.0
"""How long a process that was killed may take to be gone: one with much memory on a busy machine needs seconds."""


def is_dead(pid: int) -> bool:
    """Whether no process has this id, or only one that ended and was not collected by its parent yet.

    A parent that never collects leaves such zombies for ever: the first process of a container often is one.
    """
    try:
        return psutil.Process(pid).status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False


def is_dying(pid: int) -> bool:
    """Whether a process that is not dead yet was killed already: the signal waits for it, or its memory is gone."""
    try:
        process = psutil.Process(pid)
        if not process.cmdline():
            return True
        status = Path(f"/proc/{pid}/status").read_text()
    except psutil.NoSuchProcess:
        return True
    except (OSError, psutil.AccessDenied):
        return False
    pending = 0
    for line in status.splitlines():
        key, _, value = line.partition(":")
        if key in ("SigPnd", "ShdPnd"):
            pending |= int(value, 16)
    return bool(pending & (1 << (signal.SIGKILL - 1)))
