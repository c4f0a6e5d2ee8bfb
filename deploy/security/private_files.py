"""Files of verbs. Only their owner may read them: they hold words of users, or proofs of the log."""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from events.platform.settings import SettingsError

_OWNER_ONLY = 0o600
_LARGEST = 4096


@contextmanager
def written_privately(path: Path) -> Iterator[BinaryIO]:
    """Yields a file that only its owner may read, with any umask. It gets the name ``path`` when it is synced to disk.

    An older file keeps the name until then, and keeps it when the block raises. Raises RuntimeError when the file
    cannot be written.
    """
    partial = path.with_name(path.name + ".part")
    try:
        partial.unlink(missing_ok=True)
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
        with open(descriptor, "wb") as file:
            os.fchmod(descriptor, _OWNER_ONLY)
            yield file
            file.flush()
            os.fsync(descriptor)
        partial.replace(path)
    except OSError as error:
        raise RuntimeError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def writing(name: str) -> Iterator[BinaryIO]:
    """Yields standard output for ``-``, else a private file that gets its name when it is complete."""
    if name == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(name)
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        with path.open("wb") as device:
            yield device
        return
    with written_privately(path) as file:
        yield file


@contextmanager
def reading(name: str) -> Iterator[BinaryIO]:
    """Yields standard input for ``-``, else the file. Raises RuntimeError when it cannot be read."""
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        file = open(name, "rb")  # noqa: SIM115 - opened here to report the reason of a failure, closed below
    except OSError as error:
        raise RuntimeError(f"{name} cannot be read: {error.strerror}") from None
    with file:
        yield file


def private_folder(folder: Path) -> None:
    """Makes ``folder`` unless it exists, and takes the right to write from its group when the folder is this user's.

    Raises RuntimeError when it cannot be made, and for a folder that others may write to: they could swap keys, and
    links could stand for files.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        why = "it is a file" if folder.is_file() else error.strerror
        raise RuntimeError(f"{folder} cannot be the data folder: {why}; choose another with --data") from None
    entry = folder.stat()
    if entry.st_mode & stat.S_IWOTH or (entry.st_mode & stat.S_IWGRP and entry.st_uid != os.geteuid()):
        raise RuntimeError(
            f"other users may write to {folder}, and could have put files of theirs in it: "
            f"see that every file is yours and run chmod go-w {folder}, or choose another folder with --data"
        )
    if entry.st_mode & stat.S_IWGRP:
        folder.chmod(stat.S_IMODE(entry.st_mode) & ~stat.S_IWGRP)


def own_text(path: Path) -> str:
    """Returns the content of a file that this user or root wrote. Root reads the file of any user.

    Raises OSError for another user's file, for a link and for a missing file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, encoding="utf-8") as file:
        if os.geteuid() != 0 and os.fstat(descriptor).st_uid not in (0, os.geteuid()):
            raise PermissionError(f"{path} belongs to another user")
        return file.read()


def key_in(path: Path) -> str:
    """Returns the last word of a key file. Raises :class:`SettingsError` when the file cannot be read or is empty."""
    try:
        with path.open("rb") as file:
            words = file.read(_LARGEST).decode("utf-8", "replace").split()
    except OSError as error:
        raise SettingsError(
            f"the key file {path} cannot be read ({error.strerror}): set CARDLOG_KEY_FILE to a file that this user may "
            "read, or CARDLOG_API_KEY to a key"
        ) from None
    if not words:
        raise SettingsError(f"the key file {path} is empty: its last word must be an API key")
    return words[-1]
