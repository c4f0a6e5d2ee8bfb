"""The erasures that nobody asks for: rules of retention once a day, and what an outage of Redis left undone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import psycopg

from events.platform.streams import REDIS_AWAY
from events.store.log import Connection
from ingest.erasure import retention
from ingest.erasure.erasure import Eraser, ErasureRefusedError
from ingest.erasure.tombstones import TombstoneFileError

logger = logging.getLogger(__name__)

_LOOK_EVERY_S = 60.0


async def keep_erasing(connect: Callable[[], Connection], eraser: Callable[[], Eraser]) -> None:
    """Looks once a minute whether something is due, until it is cancelled. A failure is tried again a minute later."""
    while True:
        await asyncio.sleep(_LOOK_EVERY_S)
        await asyncio.to_thread(erase_what_is_due, connect, eraser)


def erase_what_is_due(connect: Callable[[], Connection], eraser: Callable[[], Eraser]) -> None:
    """Runs the rules that are due, and cleans the queue for erasures that found Redis away. Raises nothing."""
    try:
        with connect() as connection:
            if resumed := eraser().resume(connection):
                logger.info("cleaned the queue for %d erased users", resumed)
            for rule, outcome in retention.run_when_due(eraser(), connection):
                if outcome.users:
                    logger.info(
                        "retention of %d days, tenant %s, mode %s: erased turns of %d users",
                        rule.keep_days, rule.tenant, rule.mode, len(outcome.users),
                    )  # fmt: skip
    except (psycopg.Error, ErasureRefusedError, TombstoneFileError, *REDIS_AWAY) as error:
        logger.warning("erasures that are due wait: %s", error)
