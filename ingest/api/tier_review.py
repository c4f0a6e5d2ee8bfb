"""The review of the tiers of references, once an hour."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime

import psycopg

from events.platform.settings import Settings
from events.store.log import Connection
from ingest.references.tiers import review

logger = logging.getLogger(__name__)

_EVERY_S = 3600.0


async def keep_reviewing(connect: Callable[[], Connection], settings: Settings) -> None:
    """Moves references between tiers by their use, until it is cancelled. A failure is tried again an hour later."""

    def once() -> None:
        with connect() as connection:
            review(connection, settings, datetime.now(UTC))

    while True:
        await asyncio.sleep(_EVERY_S)
        try:
            await asyncio.to_thread(once)
        except psycopg.Error as error:
            logger.warning("the tiers of references are not reviewed now: %s", type(error).__name__)
