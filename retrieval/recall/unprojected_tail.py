"""What a user said that the card tables do not show yet: in the queue, in the log unread, or read and not folded."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import Any, cast

import redis.asyncio

from events.platform.settings import Settings
from events.platform.sql import statement
from events.platform.streams import REDIS_AWAY, is_cluster, mark_of, read_streams, ready, streams_named
from events.store.log import Connection, event_if_readable
from events.store.rows import rows_of
from events.types.envelope import Event, partition_of
from events.types.extraction import ExtractionFailed, TurnsExtracted
from events.types.turn_contract import TurnInvalidError, parse_turn, pushed_at, session_of, text_of, turn_key
from events.types.turns import TurnRecorded
from ingest.extraction.conversation import CONTEXT_TURNS
from ingest.extraction.extractor_port import RecordedTurn
from projectors.cards.projector import CardsProjector

logger = logging.getLogger(__name__)

MOST_TURNS = 50
"""Turns of one user that are read at recall, the newest."""
MOST_CHARS = 20_000
"""Their text in all: bounds the time of reading, whatever was pasted into a turn."""
QUEUE_DEPTH = 2_000
"""Unsettled entries of the queue that are looked at, whoever's they are."""
LOG_DEPTH = 5_000
"""Events of the user's partition above the checkpoints that are looked at."""
_MOST_EVENTS = 300
_QUEUE_RESTS_S = 5.0
_LOOK_FOR_STREAMS_S = 1.0

_TURN = TurnRecorded.__name__
_TYPES = sorted({_TURN, TurnsExtracted.__name__, ExtractionFailed.__name__} | CardsProjector.types)


@dataclass(frozen=True, slots=True)
class Queued:
    """The valid turns of a user that wait in the queue, oldest first.

    ``cut``: there may be more than were looked at. ``warning``: what kept the queue from being read, if anything.
    """

    turns: tuple[TurnRecorded, ...] = ()
    cut: bool = False
    warning: str | None = None


class QueueTail:
    """The newest unsettled entries of all streams, one user's at a time.

    A Redis that was late or away is left alone for five seconds: its trouble must not cost every question a wait.
    Looks at every stream, for apps may push onto any; those that another layout left behind are looked for every
    second. A stream that cannot be read is a warning, and the others are read.
    """

    def __init__(self, client: redis.asyncio.Redis, settings: Settings, within_s: float) -> None:
        self._redis = client
        self._within = within_s
        self._group = settings.consumer_group
        self._always = read_streams(settings)
        self._others = [
            stream for stream in streams_named(settings.turns_stream) if stream not in self._always
        ]
        self._left_behind: list[str] = []
        self._looked = -_LOOK_FOR_STREAMS_S
        self._opening: asyncio.Task[None] | None = None
        self._rests_until = 0.0
        self._why = ""

    def open(self) -> bool:
        """Begin to look for the nodes of a cluster, unless they are known; False where there is one server.

        That takes longer than a question may wait, so it goes on behind the one that gives up.
        """
        if not is_cluster(self._redis):
            return False
        if self._opening is None or self._opening.done():
            self._opening = asyncio.create_task(ready(self._redis))
            self._opening.add_done_callback(_noted)
        return True

    async def turns_of(self, user_id: str) -> Queued:
        """What waits. Never raises: a queue that cannot be read is a warning."""
        if time.monotonic() < self._rests_until:
            return Queued(warning=self._why)
        try:
            async with asyncio.timeout(self._within):
                if self.open():
                    await asyncio.shield(cast("asyncio.Task[None]", self._opening))
                await self._look_for_streams()
                answers = await self._asked(user_id)
        except (*REDIS_AWAY, TimeoutError, OSError) as error:
            finding = self._opening is not None and not self._opening.done()
            return Queued(warning=self._told(error) if finding else self._rest(error))
        entries = []
        cut, warning = False, None
        for stream, answer in answers.items():
            if isinstance(answer, Exception):
                warning = self._rest(answer) if len(answers) == 1 else self._told(answer, stream)
                continue
            cut = cut or bool(answer[0])
            entries += [(entry_id.decode(), mark_of(stream), words) for entry_id, words in answer[1]]
        turns: dict[str, TurnRecorded] = {}
        now = datetime.now(UTC)
        for entry_id, mark, words in sorted(entries, key=lambda entry: _place(entry[0])):
            turn = _turn_of(entry_id, mark, words, now)
            if turn is not None:
                turns.setdefault(turn.turn_id, turn)
        return Queued(tuple(turns.values()), cut, warning)

    async def _look_for_streams(self) -> None:
        if time.monotonic() - self._looked < _LOOK_FOR_STREAMS_S:
            return
        self._looked = time.monotonic()
        pipe: Any = self._redis.pipeline(transaction=False)
        for stream in self._others:
            pipe.execute_command("EXISTS", stream)
        try:
            there = await pipe.execute()
        except REDIS_AWAY as error:
            # A node is away. What was there is asked for all the same, and says so itself.
            logger.debug("cannot look for streams: %s", error)
            return
        self._left_behind = [stream for stream, found in zip(self._others, there, strict=True) if found]

    async def _asked(self, user_id: str) -> dict[str, Any]:
        """What each stream has of the user, or the error it was asked in vain with."""
        streams = [*self._always, *self._left_behind]
        asked = (self._group, user_id, QUEUE_DEPTH, MOST_TURNS + 1, 4 * MOST_CHARS)
        client: Any = self._redis
        if is_cluster(client):
            # Each by itself: a pipeline fails as a whole where one node is away.
            calls = (
                client.execute_command("EVAL", _lua("waiting_turns"), 1, stream, *asked) for stream in streams
            )
            answers = await asyncio.gather(*calls, return_exceptions=True)
        else:
            pipe = client.pipeline(transaction=False)
            for stream in streams:
                pipe.execute_command("EVAL", _lua("waiting_turns"), 1, stream, *asked)
            answers = await pipe.execute(raise_on_error=False)
        return dict(zip(streams, answers, strict=True))

    def _rest(self, error: Exception) -> str:
        self._why = self._told(error)
        self._rests_until = time.monotonic() + _QUEUE_RESTS_S
        return self._why

    def _told(self, error: Exception, stream: str | None = None) -> str:
        reason = "redis did not answer in time" if isinstance(error, TimeoutError) else _line(error)
        where = "" if stream is None else f" ({stream})"
        why = f"the overlay does not see turns that are still in the queue{where}: {reason}"
        logger.warning("%s", why)
        return why


def _noted(task: asyncio.Task[None]) -> None:
    """Whoever waited has been told, or has given up."""
    if not task.cancelled():
        task.exception()


def _line(error: Exception) -> str:
    return f"redis is away: {' '.join(str(error).split())}"


@cache
def _lua(name: str) -> str:
    return files("retrieval.recall").joinpath("lua", f"{name}.lua").read_text("utf-8")


def _place(entry_id: str) -> tuple[int, int]:
    milliseconds, _, number = entry_id.partition("-")
    return int(milliseconds), int(number)


def _turn_of(entry_id: str, mark: str, words: Sequence[bytes], now: datetime) -> TurnRecorded | None:
    """The turn in an entry; None for one the recorder will refuse."""
    try:
        fields = {
            text_of("(field name)", name): text_of("(field)", value)
            for name, value in zip(words[::2], words[1::2], strict=True)
        }
        return parse_turn(fields, entry_time=pushed_at(entry_id, now), entry_id=entry_id + mark, now=now)[1]
    except TurnInvalidError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnprojectedTail:
    """One user's share of what is under way, as it stood at one moment.

    ``turns`` are those nobody has read yet, in log order and with the queue's behind (their positions continue the
    log's); ``before`` the turns of each of their sessions that came earlier. ``events`` were read and are not folded:
    they stand above ``folded``. ``recorded`` are the log's turns by position.
    """

    turns: tuple[RecordedTurn, ...] = ()
    before: Mapping[str, tuple[RecordedTurn, ...]] = field(default_factory=dict)
    recorded: Mapping[int, Event] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    folded: int = 0
    head: int = 0
    warnings: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.turns or self.events)


def folded_at(connection: Connection, user_id: str) -> int:
    """How far a user's card tables stand in the log, in this snapshot."""
    row = connection.execute(
        statement("retrieval.recall", "cards_checkpoint"), {"partition": partition_of(user_id)}
    ).fetchone()
    assert row is not None
    position: int = row[0]
    return position


def read_unprojected_tail(
    connection: Connection, user_id: str, queued: Queued, folded: int | None = None
) -> UnprojectedTail:
    """One user's backlog: what the queue held a moment ago, and what the log holds now.

    ``folded`` is where the card tables stand, when they are elsewhere than the log.

    The queue must have been looked at first: a turn that moves on meanwhile is then seen twice rather than
    not at all. Raises what the database raises.
    """
    warnings = [queued.warning] if queued.warning else []
    rows = _rows(connection, user_id, queued.turns, folded)
    first = rows[0]
    place = (first["head"], first["extracted"], first["folded"])
    cut = queued.cut
    in_log = set(first["recorded"])
    low = min(place[1], place[2])
    events = [_event(row) for row in reversed(rows) if row["position"] is not None]
    cut = cut or len(rows) == _MOST_EVENTS or place[0] - low > LOG_DEPTH
    turns, cut_turns = _newest(
        _unread(user_id, events, place[1]) + _queued(user_id, queued.turns, in_log, place[0])
    )
    if cut or cut_turns:
        warnings.append(
            f"more of what was said is under way than the overlay reads: {len(turns)} turns, the newest, are laid over"
        )
    recorded = {event.position: event for event in events if event.type == _TURN}
    return UnprojectedTail(
        turns=tuple(turns),
        before=_before(connection, user_id, turns, recorded),
        recorded=recorded,
        events=tuple(e for e in events if e.position > place[2] and e.type in CardsProjector.types),
        folded=place[2],
        head=place[0],
        warnings=tuple(warnings),
    )


def _rows(
    connection: Connection, user_id: str, queued: Sequence[TurnRecorded], folded: int | None
) -> list[dict[str, Any]]:
    return rows_of(
        connection,
        statement("retrieval.recall", "unprojected_events"),
        {
            "partition": partition_of(user_id),
            "user_id": user_id,
            "keys": [turn_key(turn.turn_id) for turn in queued],
            "folded": folded,
            "types": _TYPES,
            "depth": LOG_DEPTH,
            "limit": _MOST_EVENTS,
        },
    )


def _event(row: dict[str, Any]) -> Event:
    return event_if_readable({name: value for name, value in row.items() if name not in _PLACE})


_PLACE = frozenset(("head", "extracted", "folded", "recorded"))


def _unread(user_id: str, events: Sequence[Event], extracted: int) -> list[RecordedTurn]:
    """The turns above the extractor's checkpoint that no extractor has dealt with."""
    done = {
        position
        for event in events
        if isinstance(event.payload, TurnsExtracted | ExtractionFailed)
        for position in event.payload.turn_positions
    }
    return [
        RecordedTurn(user_id, event.position, event.payload)
        for event in events
        if isinstance(event.payload, TurnRecorded)
        and event.position > extracted
        and event.position not in done
    ]


def _queued(user_id: str, queued: Sequence[TurnRecorded], in_log: set[str], head: int) -> list[RecordedTurn]:
    new = [turn for turn in queued if turn_key(turn.turn_id) not in in_log]
    return [RecordedTurn(user_id, head + place, turn) for place, turn in enumerate(new, 1)]


def _newest(turns: Sequence[RecordedTurn]) -> tuple[list[RecordedTurn], bool]:
    """The newest turns that are read in bounded time, in order, and whether others were left out."""
    kept: list[RecordedTurn] = []
    chars = 0
    for turn in reversed(turns[-MOST_TURNS:]):
        if chars + len(turn.turn.text) <= MOST_CHARS:
            chars += len(turn.turn.text)
            kept.append(turn)
    return kept[::-1], len(kept) < len(turns)


def _before(
    connection: Connection, user_id: str, turns: Sequence[RecordedTurn], recorded: Mapping[int, Event]
) -> dict[str, tuple[RecordedTurn, ...]]:
    """Up to six turns of each session before the first that is read."""
    firsts: dict[str, int | None] = {}
    for turn in turns:
        event = recorded.get(turn.position)
        firsts.setdefault(session_of(turn.turn), None if event is None else event.version)
    if not firsts:
        return {}
    rows = rows_of(
        connection,
        statement("retrieval.recall", "preceding_turns"),
        {
            "partition": partition_of(user_id),
            "user_id": user_id,
            "streams": list(firsts),
            "versions": list(firsts.values()),
            "limit": CONTEXT_TURNS,
        },
    )
    own = {turn.turn.turn_id for turn in turns}
    before: dict[str, list[RecordedTurn]] = {}
    for row in rows:
        event = event_if_readable(row)
        # One that left the queue for the log in this very moment is read, not remembered.
        if isinstance(event.payload, TurnRecorded) and event.payload.turn_id not in own:
            before.setdefault(event.stream, []).append(RecordedTurn(user_id, event.position, event.payload))
    return {stream: tuple(said) for stream, said in before.items()}
