"""Checks if a process still works. A process id in use alone does not show it."""

import signal
from pathlib import Path

import psutil

DYING_S = 15.0
"""The longest wait for the end of a killed process. With much memory on a busy machine it needs seconds."""


def is_dead(pid: int) -> bool:
    """True when no process has this id, or only a zombie.

    A parent that never reaps its children leaves zombies permanently. The first process of a container is often such
    a parent.
    """
    try:
        return psutil.Process(pid).status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False


def is_dying(pid: int) -> bool:
    """True when a living process was already killed: SIGKILL is pending, or its memory is gone."""
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
