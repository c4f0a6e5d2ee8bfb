"""The context of a session batch: the earlier turns of its session, and the modes that its turns may belong to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from cachetools import LRUCache

from events.modes.mode_log import registries_of
from events.modes.registry import NOTHING, Modes
from events.platform.database import Connection, rows_of, statement
from events.store import log
from events.types.envelope import Event, partition_of
from events.types.extraction import TurnsExtracted
from events.types.tombstones import STREAM
from events.types.turns import TurnRecorded
from ingest.extraction.extraction_events import extraction_stream
from ingest.extraction.extractor_port import RecordedTurn
from ingest.extraction.turn_modes import NO_MODES, RECENT, ModeContext, mode_context

CONTEXT_TURNS = 20
"""Number of earlier turns of the session that an extractor sees."""

Session = tuple[str, str]  # user, stream
_MOST_BYTES = 16 * 1024 * 1024
_TURN_BYTES = 1_000  # of a turn in memory, beside its text
_NEVER = 2**62  # above every position


def recorded(event: Event) -> RecordedTurn:
    assert isinstance(event.payload, TurnRecorded)
    return RecordedTurn(event.user_id, event.position, event.payload)


@dataclass(frozen=True, slots=True)
class _Recent:
    """The latest turns of a session up to ``version`` of its stream, without what was erased up to ``position``."""

    version: int
    position: int
    turns: tuple[RecordedTurn, ...]
    size: int


_UNKNOWN = _Recent(0, _NEVER, (), 0)


class RecentTurns:
    """The latest turns of the sessions that were extracted last, so that the next turn needs no turn read again.

    Not thread-safe. An erasure of any turn of a user makes the turns of the user be read again.
    """

    def __init__(self) -> None:
        self._sessions: LRUCache[Session, _Recent] = LRUCache(_MOST_BYTES, getsizeof=attrgetter("size"))

    def of(self, first: Event) -> _Recent:
        found = self._sessions.get((first.user_id, first.stream), _UNKNOWN)
        return found if found.version < first.version else _UNKNOWN

    def forget(self, first: Event) -> None:
        self._sessions.pop((first.user_id, first.stream), None)

    def keep(self, before: tuple[RecordedTurn, ...], turns: Sequence[Event]) -> None:
        """Keeps ``turns`` of one session, whose preceding turns were ``before``, unless another turn is among them."""
        first, last = turns[0], turns[-1]
        latest = (*before, *map(recorded, turns))[-CONTEXT_TURNS:]
        size = sum([_TURN_BYTES + len(each.turn.text) for each in latest])
        self.forget(first)
        if last.version - first.version == len(turns) - 1 and size <= _MOST_BYTES:
            recent = _Recent(last.version, first.position, latest, size)
            self._sessions[first.user_id, first.stream] = recent


def preceding(
    connection: Connection, firsts: Sequence[Event], recent: RecentTurns | None = None
) -> list[tuple[RecordedTurn, ...]]:
    """Returns up to :data:`CONTEXT_TURNS` turns of the session before each event of ``firsts``, oldest first.

    Turns that ``recent`` knows are not read again.
    """
    known = [_UNKNOWN if recent is None else recent.of(event) for event in firsts]
    found = [list(each.turns) for each in known]
    asked = [place for place, event in enumerate(firsts) if event.version > 1]
    if not asked:
        return [() for _ in firsts]
    rows = rows_of(
        connection,
        statement("ingest.extraction", "preceding_turns"),
        {
            "partitions": [firsts[place].partition for place in asked],
            "users": [firsts[place].user_id for place in asked],
            "streams": [firsts[place].stream for place in asked],
            "versions": [firsts[place].version for place in asked],
            "known": [known[place].version for place in asked],
            "positions": [known[place].position for place in asked],
            "tombstones": STREAM,
            "limit": CONTEXT_TURNS,
        },
    )
    erased = {asked[row["ordinal"] - 1] for row in rows if row["stream"] == STREAM}
    if erased and recent is not None:
        for place in erased:
            recent.forget(firsts[place])
        return preceding(connection, firsts, recent)
    for row in rows:
        place = asked[row.pop("ordinal") - 1]
        event = log.event_if_readable(row)
        if isinstance(event.payload, TurnRecorded):
            found[place].append(recorded(event))
    return [tuple(turns[-CONTEXT_TURNS:]) for turns in found]


def mode_contexts(
    connection: Connection, firsts: Sequence[Event], everybody: Mapping[str, str]
) -> list[ModeContext]:
    """Returns the modes for the batches that begin with the turns ``firsts``, in their order.

    ``everybody`` are the modes of the installation. The recent modes are read only for users who have modes.
    """
    registries = registries_of(connection, {event.user_id for event in firsts})
    found = []
    for event in firsts:
        modes = Modes(registries.get(event.user_id, NOTHING), everybody)
        turn = event.payload
        if not modes or not isinstance(turn, TurnRecorded):
            found.append(NO_MODES)
            continue
        recent = _recent(connection, event) if event.version > 1 else []
        meant = [None if name is None else modes.meaning(turn.project_id, name) for name in recent]
        found.append(mode_context(modes, turn.project_id, meant))
    return found


def _recent(connection: Connection, first: Event) -> list[str | None]:
    """Returns the modes of the session's turns before ``first``, oldest first. None: nothing told a mode."""
    rows = rows_of(
        connection,
        statement("ingest.extraction", "recent_extractions"),
        {
            "partition": partition_of(first.user_id),
            "user_id": first.user_id,
            "stream": extraction_stream(first.stream),
            "limit": RECENT,
        },
    )
    recent: list[str | None] = []
    for row in rows:
        payload = log.event_if_readable(row).payload
        if isinstance(payload, TurnsExtracted) and min(payload.turn_positions, default=0) < first.position:
            recent[:0] = payload.modes
    return recent[-RECENT:]
