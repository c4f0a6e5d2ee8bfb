"""Chooses the account that a server runs as. No server runs as root; root uses an unprivileged account."""

import os
import pwd
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The kernel's id of nobody, for systems whose user table has no such name.
NOBODY = 65534


@dataclass(frozen=True, slots=True)
class Account:
    uid: int
    gid: int

    def own(self, folder: Path) -> None:
        """Gives a folder and everything in it to this account."""
        os.chown(folder, self.uid, self.gid)
        for parent, folders, files in os.walk(folder):
            for name in (*folders, *files):
                os.chown(os.path.join(parent, name), self.uid, self.gid, follow_symlinks=False)


def running_as(account: Account | None) -> dict[str, Any]:
    """Returns the arguments of ``subprocess`` that run a program as ``account``. None: as this process runs."""
    if account is None:
        return {}
    return {"user": account.uid, "group": account.gid, "extra_groups": []}


def service_account(folder: Path, *names: str) -> Account | None:
    """Returns the account for a server whose files are in `folder`. None means the account of this process.

    As root it is the first known account of `names`, else nobody. Existing files keep their owner, so an account that
    is created later changes nothing.
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
