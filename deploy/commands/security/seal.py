"""``cardlog log seal``: copies a log into a sealed one."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from deploy.options import Given
from deploy.progress import Progress
from deploy.security.sealed_copy import seal_log
from events.platform.counting import counted
from events.platform.database import connect, migrate
from events.platform.settings import Settings, SettingsError
from events.sealing import sealer as sealing
from events.store import log
from events.store.verification import verify


def run_seal(
    to: Annotated[
        str, Parameter(name="--to", metavar="URL", help="an empty PostgreSQL database for the sealed copy")
    ],
    *,
    cardlog: Given[Settings],
) -> int:
    """Copy the log into an empty database with every payload sealed, and verify the copy.

    Stop the apps and the workers first: later events are not copied. The log itself does not change. Afterwards set
    CARDLOG_DATABASE_URL to the copy, create a log key for it with `cardlog log key new FILE`, start again, and destroy
    the unsealed database and its backups.
    """
    sealer = sealing.in_use()
    if sealer is None:
        raise SettingsError(
            "there is no key-encryption key: create one with `cardlog log kek new FILE`, then set "
            "CARDLOG_KEK_FILE"
        )
    with (
        connect(cardlog.database_url, application="log seal") as source,
        connect(to, application="log seal") as target,
    ):
        migrate(target)
        with Progress("events") as progress:
            done = seal_log(source, target, sealer, progress)
        total = sum(log.heads(target).values())
        with Progress("events verified") as progress:
            result = verify(target, lambda count: progress(count, total), sealer=sealer)
    for fault in result.faults:
        print(fault)
    if result.faults:
        return 1
    print(f"copied {counted(done.added, 'event')}: {result.sealed} are sealed, {result.erased} are erased")
    return 0
