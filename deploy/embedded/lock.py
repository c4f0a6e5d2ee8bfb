"""One process at a time for a folder."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from deploy.embedded.processes import DYING_S, is_dead, is_dying

PAUSE = 0.02


class FolderInUseError(Exception):
    """Another living process holds the folder; the message says which, in one sentence."""


class FolderLock:
    """Holds a folder for this process until released or until the process dies, however it dies.

    The kernel keeps the lock (flock), so a file left over from a crash means nothing, and process ids that
    were given out again cannot confuse it. `acquire` raises FolderInUseError at once when someone else has it,
    and after 15 s when that one was killed and does not get done with dying.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Idempotent for this object; another one in this process counts as someone else."""
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
                going = not holder.isdecimal() or is_dead(int(holder)) or is_dying(int(holder))
                if not going or time.monotonic() > deadline:
                    raise FolderInUseError(
                        f"{self._path.parent} is in use by process {holder or 'unknown'}; "
                        "stop that one, or choose another folder."
                    ) from None
                time.sleep(PAUSE)

    def release(self) -> None:
        """Idempotent. The file stays: removing it would let two processes lock two files of one name."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
