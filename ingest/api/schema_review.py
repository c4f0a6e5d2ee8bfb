"""The review of the schemas of core documents, once an hour: topics that recur are proposed or promoted."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import psycopg

from events.platform.settings import Settings
from events.store import log
from events.store.log import Connection
from ingest.core.documents import Documents
from ingest.core.evolution import evolve_changed

logger = logging.getLogger(__name__)

_EVERY_S = 3600.0
_BACK = timedelta(days=2)
"""Documents that changed this long ago are looked at, so a service that was away for a day misses nothing."""


async def keep_evolving(
    connect: Callable[[], Connection], settings: Settings, documents: Callable[[], Documents]
) -> None:
    """Looks at the documents that changed, until it is cancelled. A failure is tried again an hour later."""
    while True:
        await asyncio.sleep(_EVERY_S)
        try:
            await asyncio.to_thread(review, connect, settings, documents)
        except psycopg.Error as error:
            logger.warning("the schemas of documents are not reviewed now: %s", type(error).__name__)


def review(connect: Callable[[], Connection], settings: Settings, documents: Callable[[], Documents]) -> int:
    """Proposes or promotes the candidates of the documents that changed lately. Returns the number of events."""
    now = datetime.now(UTC)
    with connect() as connection:
        count = evolve_changed(connection, documents(), settings.schema_evolution, now - _BACK, now)
        if count:
            log.announce(connection)
    return count
