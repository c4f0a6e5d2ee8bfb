"""A lock that gives a folder to one process at a time, and checks if a process still works."""

import fcntl
import os
import signal
import time
from pathlib import Path
from typing import Self

import psutil

PAUSE = 0.02
DYING_S = 15.0
"""The longest wait for the end of a killed process. With much memory on a busy machine it needs seconds."""


class FolderInUseError(Exception):
    """Another living process holds the folder. The message names it."""


class FolderLock:
    """Holds a folder for this process until `release`, or until the process dies for any reason.

    The kernel keeps the lock (flock). A file left over from a crash therefore means nothing, and a reused process id
    does no harm. `acquire` raises FolderInUseError at once when another process holds the folder, and after 15 s when
    that process was killed and is still not gone.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Acquires the lock. Idempotent for this object; another lock object of this process is another holder."""
        if self._descriptor is not None:
            return
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.fchmod(descriptor, 0o600)
            self._take(descriptor)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def _take(self, descriptor: int) -> None:
        deadline = time.monotonic() + DYING_S
        while True:
            try:
                return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
                ending = not holder.isdecimal() or is_dead(int(holder)) or is_dying(int(holder))
                if not ending or time.monotonic() > deadline:
                    raise FolderInUseError(
                        f"{self._path.parent} is in use by process {holder or 'unknown'}; "
                        "stop that process, or choose another folder."
                    ) from None
                time.sleep(PAUSE)

    def release(self) -> None:
        """Releases the lock. Idempotent. The file stays, or two processes could lock two files of one name."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


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
