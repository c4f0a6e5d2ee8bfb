"""What the write service does without a request: erasures that are due, and reviews of tiers and of schemas."""

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import psycopg

from events.platform.database import Connection
from events.platform.settings import Settings
from events.platform.streams import REDIS_AWAY
from events.store import log
from ingest.core.aggregate import Documents
from ingest.core.evolution import evolve_changed
from ingest.erasure import retention
from ingest.erasure.erasure import Eraser, ErasureRefusedError
from ingest.erasure.tombstones import TombstoneFileError
from ingest.references import tiers

logger = logging.getLogger(__name__)

MINUTE_S, HOUR_S = 60.0, 3600.0
SOON_S = 10.0
"""After this time a service does each chore for the first time. Its start and its first requests come before."""
_BACK = timedelta(days=2)
"""Documents that changed this long ago are looked at, so a service that was away for a day misses nothing."""

Connect = Callable[[], Connection]


async def keep(every_s: float, name: str, chore: Callable[[], None]) -> None:
    """Does a chore soon, and then each ``every_s``, until it is cancelled. A failure is tried again after this time."""
    wait_s = min(SOON_S, every_s)
    while True:
        await asyncio.sleep(wait_s)
        wait_s = every_s
        try:
            await asyncio.to_thread(chore)
        except (psycopg.Error, ErasureRefusedError, TombstoneFileError, *REDIS_AWAY) as error:
            logger.warning("%s: not now, because of %s", name, log.reason_of(error))


def erase_what_is_due(connect: Connect, eraser: Callable[[], Eraser]) -> None:
    """Runs the rules of retention once a day, and cleans the queue for erasures that found Redis away."""
    with connect() as connection:
        if resumed := eraser().resume(connection):
            logger.info("cleaned the queue for %d erased users", resumed)
        for rule, outcome in retention.run_when_due(eraser(), connection):
            if outcome.users:
                logger.info(
                    "retention of %d days, tenant %s, mode %s: erased turns of %d users",
                    rule.keep_days, rule.tenant, rule.mode, len(outcome.users),
                )  # fmt: skip


def review_tiers(connect: Connect, settings: Settings) -> None:
    """Moves references between tiers by their use."""
    with connect() as connection:
        tiers.review(connection, settings, datetime.now(UTC))


def review_schemas(connect: Connect, settings: Settings, documents: Callable[[], Documents]) -> None:
    """Proposes or promotes the topics that recur in the documents that changed lately."""
    now = datetime.now(UTC)
    with connect() as connection:
        if evolve_changed(connection, documents(), settings.schema_evolution, now - _BACK, now):
            log.announce(connection)
