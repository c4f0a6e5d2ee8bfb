"""Files that only their owner may read. They hold words of users, or proofs of the log."""

from __future__ import annotations

import os
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
