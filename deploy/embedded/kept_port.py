"""The port of an embedded server, kept in the data folder from one start to the next."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_LONGEST = 16


class KeptPort:
    """The file with the port of a server's last start. Apps find the server again on this port."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> int:
        """Returns the kept port, or 0 when there is none or the file holds something else."""
        try:
            with self._path.open("rb") as file:
                text = file.read(_LONGEST).strip()
        except OSError:
            return 0
        port = int(text) if text.isdigit() else 0
        return port if port <= 0xFFFF else 0

    def write(self, port: int) -> None:
        """Keeps ``port``. In a folder that cannot be written, the next start takes another port."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with contextlib.suppress(OSError), open(os.open(self._path, flags, 0o600), "w") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(f"{port}\n")
