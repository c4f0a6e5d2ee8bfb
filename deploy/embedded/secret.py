"""Passwords that are kept in a data folder."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

_USABLE = re.compile(r"[A-Za-z0-9_-]{16,}")


def kept_secret(path: Path) -> str:
    """Returns the random password in the file, and creates it if needed. Only the file's owner can read the file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return _made(path)
    with open(descriptor, encoding="ascii", errors="replace") as file:
        os.fchmod(descriptor, 0o600)
        kept = file.read(256).strip()
    return kept if _USABLE.fullmatch(kept) else _made(path)


def _made(path: Path) -> str:
    password = secrets.token_urlsafe(24)
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"{password}\n")
        file.flush()
        os.fsync(file.fileno())
    new.rename(path)
    return password
