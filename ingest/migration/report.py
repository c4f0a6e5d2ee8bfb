"""What became of the turns of a migration, or would become: read from the log, so it lags behind no projection."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from events.core.places import related_paths
from events.core.state import Change, QueueEntry
from events.platform.database import Connection, rows_of, statement
from events.resources.migration import KeptSentence, MigrationReport
from events.store import log
from events.store.log import event_if_readable, history
from events.types.cards import EventNoted, StateAsserted
from events.types.envelope import Event, NewEvent, partition_of
from events.types.extraction import ExtractionFailed, TurnsExtracted
from events.types.tombstones import Erased
from events.types.turn_contract import parse_turn, turn_key
from events.types.turns import TurnRecorded
from ingest.core.aggregate import Documents
from ingest.extraction.conversation import CONTEXT_TURNS
from ingest.extraction.extraction_events import events_of, failure_of, stream_of
from ingest.extraction.extractor_port import Extractor, RecordedTurn, SessionBatch, TurnsUnreadableError
from ingest.extraction.known_memory import KnownMemory
from ingest.migration.turns import Migration
from ingest.recording.recorder import recorded_event

_PACKAGE = "ingest.migration"
_TYPES = [cls.__name__ for cls in (TurnsExtracted, ExtractionFailed, EventNoted, StateAsserted)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What became of the sentences. ``pending`` turn ids wait for their extraction, ``failed`` ones have none.

    ``erased`` ones were erased before and are not taken again. ``applied`` are the changes of the document and
    ``queued`` the entries of its queue that rest on the sentences.
    """

    pending: Sequence[str]
    failed: Sequence[str]
    erased: Sequence[str]
    kept: Sequence[KeptSentence]
    applied: Sequence[Change] = ()
    queued: Sequence[QueueEntry] = ()
    version: int = 0
    position: int = 0

    def resource(self) -> MigrationReport:
        """Returns the report as the answer shows it."""
        return MigrationReport.made_from(self, pending=len(self.pending))


@dataclass(slots=True)
class Follower:
    """Follows the turns of a migration in the log. Each look reads on where the last one ended."""

    owner: str
    migration: Migration
    _found: dict[str, int] = field(default_factory=dict)
    _erased: set[str] = field(default_factory=set)
    _extracted: set[str] = field(default_factory=set)
    _failed: set[str] = field(default_factory=set)
    _episodes: set[str] = field(default_factory=set)
    _concepts: dict[str, set[str]] = field(default_factory=dict)
    _read_to: int | None = None

    def known(self, connection: Connection) -> set[str]:
        """Returns the turn ids that the log has, those of erased turns too."""
        missing = [each for each in self.migration.turns if each not in self._found]
        if missing:
            keys = [turn_key(each) for each in missing]
            values = {"partition": partition_of(self.owner), "user_id": self.owner, "keys": keys}
            for row in rows_of(connection, statement(_PACKAGE, "turns_of_keys"), values):
                turn_id = row["dedupe_key"].removeprefix(turn_key(""))
                self._found[turn_id] = row["position"]
                if isinstance(event_if_readable(row).payload, Erased):
                    self._erased.add(turn_id)
        return set(self._found)

    def pending(self, connection: Connection) -> list[str]:
        """Reads on in the log. Returns the turn ids that wait for their extraction, in order."""
        known = self.known(connection)
        readable = [self._found[each] for each in known - self._erased]
        after = min(readable, default=0) if self._read_to is None else self._read_to
        if readable:
            for event in history(connection, self.owner, after=after, types=_TYPES):
                self.take([event])
                self._read_to = event.position
        done = self._extracted | self._failed | self._erased
        return [each for each in self.migration.turns if each not in done]

    def take(self, events: Iterable[Event]) -> None:
        ours = self.migration.turns.keys()
        for event in events:
            payload = event.payload
            if isinstance(payload, TurnsExtracted):
                self._extracted |= ours & set(payload.turn_ids)
            elif isinstance(payload, ExtractionFailed):
                self._failed |= ours & set(payload.turn_ids)
            elif isinstance(payload, EventNoted | StateAsserted):
                for turn_id in ours & set(payload.origin.turn_ids):
                    if isinstance(payload, EventNoted) and payload.episode:
                        self._episodes.add(turn_id)
                    if payload.concept_key:
                        self._concepts.setdefault(turn_id, set()).add(payload.concept_key)

    def report(self, connection: Connection, documents: Documents) -> Report:
        """Returns the results of the turns up to now, in the transaction of the caller."""
        pending = self.pending(connection)
        # An id that no entry has makes the open entries come along.
        present = documents.present(connection, self.owner, history=True, entries=[UUID(int=0)])
        turns = self.migration.turns
        return Report(
            pending=pending,
            failed=[each for each in turns if each in self._failed - self._extracted],
            erased=[each for each in turns if each in self._erased],
            kept=[
                KeptSentence(
                    turn_id=each,
                    text=turn["text"],
                    related_paths=[*related_paths(self._concepts.get(each, ()))],
                )
                for each, turn in turns.items()
                if each in self._episodes
            ],
            applied=[each for each in present.history if not turns.keys().isdisjoint(each.turn_ids)],
            queued=[each for each in present.fold.waiting if not turns.keys().isdisjoint(each.turn_ids)],
            version=present.state.version,
            position=present.folded_to,
        )


MOST_REHEARSED = 200
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
