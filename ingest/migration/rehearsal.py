"""A dry run of a migration: everything that would happen, in a transaction that is rolled back."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from events.platform.database import Connection
from events.store import log
from events.types.envelope import NewEvent, partition_of
from events.types.turn_contract import parse_turn
from events.types.turns import TurnRecorded
from ingest.core.documents import Documents
from ingest.extraction.conversation import CONTEXT_TURNS
from ingest.extraction.extraction_events import events_of, failure_of, stream_of
from ingest.extraction.extractor_port import Extractor, RecordedTurn, SessionBatch, TurnsUnreadableError
from ingest.extraction.known_memory import KnownMemory
from ingest.migration.report import Follower, Report
from ingest.migration.turns import Migration
from ingest.recording.recorder import recorded_event

MOST = 200
"""The most sentences of a dry run: it extracts them while the caller waits."""
_AT_ONCE = 20


def rehearse(
    connection: Connection, documents: Documents, extractor: Extractor, migration: Migration, now: datetime
) -> Report:
    """Returns what the migration would do now. Nothing stays in the log.

    Nothing of the user is locked while ``extractor`` works. Raises
    :class:`ingest.extraction.extractor_port.ExtractorUnavailableError`.
    """
    owner = migration.terms.owner
    follower = Follower(owner, migration)
    known = follower.known(connection)
    turns = [
        parse_turn(fields, entry_time=now, entry_id="0-0")[1]
        for turn_id, fields in migration.turns.items()
        if turn_id not in known
    ]
    made = list(_extracted(connection, extractor, owner, turns))
    said = [recorded_event(owner, turn) for turn in turns]
    with connection.transaction(force_rollback=True):
        log.append(connection, [*said, *made])
        return follower.report(connection, documents)


def _extracted(
    connection: Connection, extractor: Extractor, owner: str, turns: Sequence[TurnRecorded]
) -> Iterator[NewEvent]:
    recorded = [RecordedTurn(owner, 0, turn) for turn in turns]
    memory = KnownMemory()
    for begin in range(0, len(recorded), _AT_ONCE):
        some = tuple(recorded[begin : begin + _AT_ONCE])
        before = tuple(recorded[max(0, begin - CONTEXT_TURNS) : begin])
        batch = SessionBatch(some, before, memory.of(connection, partition_of(owner), some))
        try:
            yield from events_of(batch, extractor.extract(batch), extractor)
        except TurnsUnreadableError as error:
            for each in some:
                yield failure_of(
                    owner,
                    0,
                    each.turn.turn_id,
                    stream_of(each.turn),
                    each.turn.said_at,
                    str(error),
                    extractor,
                )
