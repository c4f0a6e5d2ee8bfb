"""Finds the earlier events that new events of a worker replace, just before they are appended."""

import logging
from collections.abc import Iterable, Sequence

from events.platform.database import Connection
from events.platform.isolation import is_the_datas_fault
from events.store import log
from events.types.envelope import Event, NewEvent
from ingest.extraction.conversation import recorded
from ingest.extraction.event_linking import linked, wants_target
from ingest.extraction.known_memory import KnownMemory

logger = logging.getLogger(__name__)


def with_targets(
    connection: Connection,
    memory: KnownMemory,
    turns: Sequence[Event],
    events: Sequence[NewEvent],
    earlier: Iterable[NewEvent],
) -> list[NewEvent]:
    """Returns ``events``, the events of ``turns``, with the earlier events that they replace.

    The log counts up to now, and so do ``earlier``: events of the same user that are not appended yet. The log is read
    only when an event replaces something. Data of the user that cannot be read leave the events as they are. Raises the
    error of the server when the server is away.
    """
    if not wants_target(events):
        return [*events]
    said = [recorded(turn) for turn in turns]
    try:
        with connection.transaction():
            known = memory.of(connection, turns[0].partition, said)
    except Exception as error:
        if not is_the_datas_fault(error):
            raise
        logger.warning("earlier events of a user cannot be read: %s", log.reason_of(error))
        return [*events]
    return linked(events, known.with_events(earlier, said[-1].turn.said_at))
