"""A lock that gives a folder to one process at a time."""

import fcntl
import os
import time
from pathlib import Path
from typing import Self

from deploy.embedded.processes import DYING_S, is_dead, is_dying

PAUSE = 0.02


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
