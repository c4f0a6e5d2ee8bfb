"""Whom a server runs as. No server runs as root, so root lends each an unprivileged account."""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

# What the kernel itself calls nobody; for systems whose user table has no such name.
NOBODY = 65534


@dataclass(frozen=True, slots=True)
class Account:
    uid: int
    gid: int

    def own(self, folder: Path) -> None:
        """Give a folder and all that is in it to this account."""
        os.chown(folder, self.uid, self.gid)
        for parent, folders, files in os.walk(folder):
            for name in (*folders, *files):
                os.chown(os.path.join(parent, name), self.uid, self.gid, follow_symlinks=False)


def service_account(folder: Path, *names: str) -> Account | None:
    """The account that must run a server whose files are in `folder`; None means: as we are.

    It is the first of the names that the system knows, or else nobody. Files that exist already keep their owner,
    so that an account created later changes nothing.
    """
    if os.geteuid() != 0:
        return None
    if folder.exists() and (owner := folder.stat()).st_uid != 0:
        return Account(owner.st_uid, owner.st_gid)
    for name in (*names, "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid)
    return Account(NOBODY, NOBODY)
