"""The unprojected tail: what a user said that the card tables do not show yet.

Turns may wait in the turn queue, turns in the log may be unread, and card events may not be folded yet.
"""

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
from psycopg import AsyncConnection
from psycopg.rows import dict_row
from psycopg.sql import SQL

from events.platform.database import Connection, rows_of, statement
from events.platform.settings import Settings
from events.platform.streams import REDIS_AWAY, is_cluster, mark_of, read_streams, ready, streams_named
from events.references.reference_log import names_under
from events.sealing.entries import opened_entry
from events.store.log import event_if_readable
from events.types.envelope import Event, partition_of
from events.types.extraction import ExtractionFailed, TurnsExtracted
from events.types.insights import STREAM as INSIGHTS
from events.types.modes import STREAM as MODES
from events.types.queue_entry import QueueKey, names_tenant
from events.types.tenancy import DEFAULT_TENANT, tenant_of, user_of
from events.types.turn_contract import TurnInvalidError, parse_turn, pushed_at, session_of, text_of, turn_key
from events.types.turns import TurnRecorded
from ingest.extraction.conversation import CONTEXT_TURNS
from ingest.extraction.extractor_port import RecordedTurn
from projectors.cards.projector import CardsProjector

logger = logging.getLogger(__name__)

MOST_TURNS = 50
"""A recall reads at most this many turns of one user, the newest."""
MOST_CHARS = 20_000
"""The total length of these turns. It bounds the time of reading long turns."""
QUEUE_DEPTH = 2_000
"""A recall looks at most at this many unacknowledged entries of a queue, of all users."""
LOG_DEPTH = 5_000
"""A recall looks at most at this many events of the user's partition above the checkpoints."""
_MOST_EVENTS = 300
_LATE_BACKOFF_S = 5.0
_REFUSED_BACKOFF_S = 0.5  # a refused connection costs a recall almost no time
_LOOK_FOR_STREAMS_S = 1.0

_STATEMENT = statement("retrieval.recall", "unprojected_events")
_UNPROJECTED = SQL(_STATEMENT.format(of_tables=SQL("false AS referring, true AS disputed")).as_string())
_SETTLED = SQL(_STATEMENT.format(of_tables=statement("retrieval.recall", "of_tables")).as_string())
_PLACE = frozenset(("head", "extracted", "folded", "recorded", "concluded", "moded", "referring", "disputed"))
_TURN = TurnRecorded.__name__
_TYPES = sorted({_TURN, TurnsExtracted.__name__, ExtractionFailed.__name__} | CardsProjector.types)


@dataclass(frozen=True, slots=True)
class Queued:
    """The valid turns of a user in the turn queues, oldest first.

    ``cut`` is true when there may be more turns. ``warning`` says why a queue could not be read.
    """

    turns: tuple[TurnRecorded, ...] = ()
    cut: bool = False
    warning: str | None = None


class QueueTail:
    """Reads the newest unacknowledged entries of one user from all turn queues.

    After a late answer, Redis is not asked for five seconds. Otherwise every recall would wait for Redis. After any
    other error, Redis is not asked for half a second. All Redis streams are read, because apps may push onto any.
    Streams of another layout are looked for every second. A stream that cannot be read becomes a warning, and the
    other streams are still read.
    """

    def __init__(self, client: redis.asyncio.Redis, settings: Settings, within_s: float) -> None:
        self._redis = client
        self._within_s = within_s
        self._group = settings.consumer_group
        self._always = read_streams(settings)
        self._others = [
            stream for stream in streams_named(settings.turns_stream) if stream not in self._always
        ]
        self._left_behind: list[str] = []
        self._looked_at = -_LOOK_FOR_STREAMS_S
        self._opening: asyncio.Task[None] | None = None
        self._silent_until = 0.0
        self._why = ""

    def open(self) -> bool:
        """Starts to find the nodes of a cluster, unless they are known. Returns False for a single server.

        Finding the nodes takes longer than a recall may wait. The search therefore continues when the recall gives up.
        """
        if not is_cluster(self._redis):
            return False
        if self._opening is None or self._opening.done():
            self._opening = asyncio.create_task(ready(self._redis))
            self._opening.add_done_callback(_retrieve_error)
        return True

    async def turns_of(self, user_id: str, key: QueueKey | None = None) -> Queued:
        """Returns the waiting turns of a user. Never raises. A queue that cannot be read becomes a warning.

        ``key`` checks the tenants of the entries. Without it, only turns of the default tenant are returned.
        """
        if time.monotonic() < self._silent_until:
            return Queued(warning=self._why)
        try:
            async with asyncio.timeout(self._within_s):
                if self.open():
                    await asyncio.shield(cast("asyncio.Task[None]", self._opening))
                await self._look_for_streams()
                answers = await self._ask(user_id)
        except (*REDIS_AWAY, TimeoutError, OSError) as error:
            finding = self._opening is not None and not self._opening.done()
            return Queued(warning=self._warn(error) if finding else self._back_off(error))
        entries = []
        cut, warning = False, None
        for stream, answer in answers.items():
            if isinstance(answer, Exception):
                warning = self._back_off(answer) if len(answers) == 1 else self._warn(answer, stream)
                continue
            cut = cut or bool(answer[0])
            entries += [(entry_id.decode(), mark_of(stream), words) for entry_id, words in answer[1]]
        turns: dict[str, TurnRecorded] = {}
        now = datetime.now(UTC)
        for entry_id, mark, words in sorted(entries, key=lambda entry: tuple(map(int, entry[0].split("-")))):
            turn = _turn_of(entry_id, mark, words, now, tenant_of(user_id), key)
            if turn is not None:
                turns.setdefault(turn.turn_id, turn)
        return Queued(tuple(turns.values()), cut, warning)

    async def _look_for_streams(self) -> None:
        if time.monotonic() - self._looked_at < _LOOK_FOR_STREAMS_S:
            return
        self._looked_at = time.monotonic()
        pipe: Any = self._redis.pipeline(transaction=False)
        for stream in self._others:
            pipe.execute_command("EXISTS", stream)
        try:
            there = await pipe.execute()
        except REDIS_AWAY as error:
            # A node is away. The streams found before are still asked, and their errors become warnings.
            logger.debug("cannot look for streams: %s", error)
            return
        self._left_behind = [stream for stream, found in zip(self._others, there, strict=True) if found]

    async def _ask(self, user_id: str) -> dict[str, Any]:
        """Returns the answer or the error of each stream, by name."""
        streams = [*self._always, *self._left_behind]
        asked = (
            self._group, user_of(user_id), QUEUE_DEPTH, MOST_TURNS + 1, 4 * MOST_CHARS, tenant_of(user_id),
        )  # fmt: skip
        client: Any = self._redis
        if is_cluster(client):
            # A pipeline would fail as a whole when one node is away. Each stream is asked by itself.
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

    def _back_off(self, error: Exception) -> str:
        self._why = self._warn(error)
        late = isinstance(error, (TimeoutError, redis.exceptions.TimeoutError))
        self._silent_until = time.monotonic() + (_LATE_BACKOFF_S if late else _REFUSED_BACKOFF_S)
        return self._why

    def _warn(self, error: Exception, stream: str | None = None) -> str:
        late = isinstance(error, TimeoutError)
        reason = "redis did not answer in time" if late else f"redis is away: {' '.join(str(error).split())}"
        where = "" if stream is None else f" ({stream})"
        why = f"the overlay does not see turns that are still in the queue{where}: {reason}"
        logger.warning("%s", why)
        return why


def _retrieve_error(task: asyncio.Task[None]) -> None:
    """Retrieves the error of a task. Otherwise asyncio logs the error a second time."""
    if not task.cancelled():
        task.exception()


@cache
def _lua(name: str) -> str:
    return files("retrieval.recall").joinpath("lua", f"{name}.lua").read_text("utf-8")


def _turn_of(
    entry_id: str, mark: str, words: Sequence[bytes], now: datetime, tenant: str, key: QueueKey | None
) -> TurnRecorded | None:
    """Returns the turn of an entry of ``tenant``, or None when the recorder will refuse the turn."""
    try:
        entry = opened_entry(dict(zip(words[::2], words[1::2], strict=True)))
        fields = {text_of("(field name)", name): text_of("(field)", value) for name, value in entry.items()}
        named = DEFAULT_TENANT
        if names_tenant(fields):
            if key is None:
                return None
            named, fields = key.opened(fields)
        if named != tenant:
            return None
        return parse_turn(fields, entry_time=pushed_at(entry_id, now), entry_id=entry_id + mark, now=now)[1]
    except TurnInvalidError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnprojectedTail:
    """The unprojected tail of one user at one moment.

    ``turns`` are the turns that no extractor has read, in log order. The turns of the queue come last, and their
    positions continue the positions of the log. ``before`` are the earlier turns of each session, by stream. ``events``
    are the card events above ``folded``, the checkpoint of the card tables. ``recorded`` are the turns of the log by
    position. ``head`` is the head of the partition. ``concluded`` is True when the user has an insight, and
    ``moded`` when the log names modes of the user. ``disputed`` is False when the user has no open arbitration.
    """

    turns: tuple[RecordedTurn, ...] = ()
    before: Mapping[str, tuple[RecordedTurn, ...]] = field(default_factory=dict)
    recorded: Mapping[int, Event] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    folded: int = 0
    head: int = 0
    concluded: bool = False
    moded: bool = True
    disputed: bool = True
    warnings: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.turns or self.events)


def folded_at(connection: Connection, user_id: str) -> int:
    """Returns the checkpoint of the live card tables for the partition of a user, in this snapshot."""
    row = connection.execute(
        statement("retrieval.recall", "cards_checkpoint"), {"partition": partition_of(user_id)}
    ).fetchone()
    assert row is not None
    position: int = row[0]
    return position


def read_unprojected_tail(
    connection: Connection, user_id: str, queued: Queued, folded: int | None = None
) -> UnprojectedTail:
    """Returns the unprojected tail of one user: the turns of the queue, and what the log holds above the checkpoints.

    ``folded`` is the checkpoint of the card tables. None means that the tables and the log are in one database.

    The caller reads the queue first. A turn that moves from the queue to the log meanwhile is then seen twice and
    counted once. In the other order it could be missed. Raises psycopg.Error.
    """
    warnings = [queued.warning] if queued.warning else []
    rows = rows_of(connection, _UNPROJECTED, _parameters(user_id, queued.turns, folded))
    first = rows[0]
    head, extracted, folded_to = first["head"], first["extracted"], first["folded"]
    in_log = set(first["recorded"])
    events = [
        event_if_readable({name: value for name, value in row.items() if name not in _PLACE})
        for row in reversed(rows)
        if row["position"] is not None
    ]
    cut = queued.cut or len(rows) == _MOST_EVENTS or head - min(extracted, folded_to) > LOG_DEPTH
    new = [turn for turn in queued.turns if turn_key(turn.turn_id) not in in_log]
    waiting = [RecordedTurn(user_id, head + place, turn) for place, turn in enumerate(new, 1)]
    turns, cut_turns = _newest(_unread(user_id, events, extracted) + waiting)
    if cut or cut_turns:
        warnings.append(
            f"more turns are unprojected than the overlay reads: the answer includes the newest {len(turns)}"
        )
    recorded = {event.position: event for event in events if event.type == _TURN}
    return UnprojectedTail(
        turns=tuple(turns),
        before=_before(connection, user_id, turns, recorded),
        recorded=recorded,
        events=tuple(e for e in events if e.position > folded_to and e.type in CardsProjector.types),
        folded=folded_to,
        head=head,
        concluded=first["concluded"],
        moded=first["moded"],
        warnings=tuple(warnings),
    )


async def nothing_above(
    connection: AsyncConnection, user_id: str, *, references: bool, past: bool, tables: bool = True
) -> UnprojectedTail | None:
    """Returns the tail of a user whose tables show the whole answer, and None when they do not.

    ``references`` says that references may answer: those of the user's teams, and for a question about the ``past``
    those of then, are in no table of the user. Without ``tables`` those of the first fold are not there. The user has
    no queued turns, and the connection is to the primary. Raises psycopg.Error.
    """
    async with connection.cursor(row_factory=dict_row) as cursor:
        asked = {"references": references, "past": past, **names_under("reference")}
        await cursor.execute(_SETTLED if tables else _UNPROJECTED, _parameters(user_id) | asked)
        first = await cursor.fetchone()
    assert first is not None
    if first["referring"]:
        return None
    extracted, folded = first["extracted"], first["folded"]
    if first["position"] is not None or first["head"] - min(extracted, folded) > LOG_DEPTH:
        return None
    return UnprojectedTail(
        folded=folded,
        head=first["head"],
        concluded=first["concluded"],
        moded=first["moded"],
        disputed=first["disputed"],
    )


def _parameters(
    user_id: str, queued: Sequence[TurnRecorded] = (), folded: int | None = None
) -> dict[str, object]:
    return {
        "partition": partition_of(user_id),
        "user_id": user_id,
        "keys": [turn_key(turn.turn_id) for turn in queued],
        "folded": folded,
        "insights": INSIGHTS,
        "modes": MODES,
        "types": _TYPES,
        "depth": LOG_DEPTH,
        "limit": _MOST_EVENTS,
    }


def _unread(user_id: str, events: Sequence[Event], extracted: int) -> list[RecordedTurn]:
    """Returns the turns above the extractor's checkpoint that no extractor has read."""
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


def _newest(turns: Sequence[RecordedTurn]) -> tuple[list[RecordedTurn], bool]:
    """Returns the newest turns within the bounds, in order. The flag is true when turns were left out."""
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
    """Returns up to CONTEXT_TURNS turns of each session before its first unread turn, by stream."""
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
        # A turn that moved from the queue to the log meanwhile is an unread turn, not an earlier one.
        if isinstance(event.payload, TurnRecorded) and event.payload.turn_id not in own:
            before.setdefault(event.stream, []).append(RecordedTurn(user_id, event.position, event.payload))
    return {stream: tuple(said) for stream, said in before.items()}
