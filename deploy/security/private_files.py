"""Files that only their owner may read: what people said stands in them, or what proves it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_OWNER_ONLY = 0o600


@contextmanager
def written_privately(path: Path) -> Iterator[BinaryIO]:
    """A file for its owner alone, whatever the umask, that takes the name ``path`` when it is whole and on the disk.

    An older file stays until then, and for good where the block raises. Raises RuntimeError where it cannot be written.
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
