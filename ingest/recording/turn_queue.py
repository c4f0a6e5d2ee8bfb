"""One Redis stream turns arrive on: reading in a consumer group, acknowledging, trimming, dead letters."""

from __future__ import annotations

import logging
from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any, cast

import redis

from events.platform.streams import keys_of, mark_of
from events.types.turn_contract import MAX_AHEAD, is_date

logger = logging.getLogger(__name__)

# Prefix of an original field inside a dead letter: raw bytes, so it can be pushed again.
DEAD_FIELD = b"field:"
ROLLED_OVER = "rolled_over"
"""Among the counts of a stream: how often it began anew."""
MOST_FIELDS = 1000
"""Fields of a refused entry that are kept; a turn has 13."""
MOST_BYTES = 4 * 1024 * 1024
"""Of its fields together; a turn has 70 KiB."""
_LARGEST = 2**64 - 1  # of both numbers of an id


@dataclass(frozen=True, slots=True)
class Entry:
    """A stream entry as it lies in Redis: raw bytes, nothing decoded yet.

    ``mark`` tells it from an entry of another stream with the same id.
    """

    id: str
    fields: dict[bytes, bytes]
    mark: str = ""

    @property
    def name(self) -> str:
        """What no other entry of any stream is called."""
        return self.id + self.mark


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """What is still in the queue: ``waiting`` was never delivered, ``pending`` is delivered and unacknowledged."""

    waiting: int
    pending: int
    oldest_id: str | None


class TurnQueue:
    """One stream and one consumer group; safe for any number of consumers.

    Guarantees that an entry leaves the group only through :meth:`settle`, and the stream only after it
    left every group. All methods raise ``redis.RedisError`` when Redis is away.
    """

    def __init__(self, client: redis.Redis, stream: str, group: str) -> None:
        self._redis = client
        self.stream = stream
        self._mark = mark_of(stream)
        self._keys = keys_of(client, stream)
        self._group = group

    def open(self) -> None:
        """Make the group, from the very first entry: what was pushed before the first start counts too."""
        try:
            # Looking first: in a full memory Redis refuses to make even a group that is there already.
            if self._group in {_text(group["name"]) for group in self._redis.xinfo_groups(self.stream)}:
                return
        except redis.ResponseError as error:
            if "no such key" not in str(error):
                raise
        try:
            self._redis.xgroup_create(self.stream, self._group, id="0", mkstream=True)
        except redis.ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise

    def read_own(self, consumer: str, count: int) -> list[Entry]:
        """What ``consumer`` was given before and never settled: its legacy after a crash and restart."""
        return self._read(consumer, "0", count, None)

    def read(self, consumer: str, count: int, block_ms: int) -> list[Entry]:
        """Up to ``count`` new entries, waiting at most ``block_ms`` for the first."""
        return self._read(consumer, ">", count, block_ms)

    def reclaim(self, consumer: str, idle_ms: int, count: int) -> list[Entry]:
        """Take over entries that another consumer has held for ``idle_ms`` without settling them."""
        reply: Any = self._redis.xautoclaim(
            self.stream, self._group, consumer, min_idle_time=idle_ms, count=count
        )
        return self._entries(reply[1])

    def forget(self, idle_ms: int) -> int:
        """Remove consumers from the group that hold nothing and were not heard of for ``idle_ms``; how many went.

        Every process that ever read is one, and Redis keeps them for good. One that comes back is made again.
        """
        return int(
            cast(
                "Any",
                self._redis.eval(lua_script("delete_idle_consumers"), 1, self.stream, self._group, idle_ms),
            )
        )

    def settle(
        self, entries: Sequence[Entry], dead: Sequence[tuple[Entry, str, str]], duplicates: Set[str]
    ) -> None:
        """Acknowledge ``entries`` and move ``dead`` ones, with field and reason, to the dead stream.

        Counts ``entries``, those whose ids are in ``duplicates`` as such. What somebody else settled in the
        meantime is left alone. Works in a full memory, for nothing else makes room there.
        """
        # Without MULTI, in which a full memory refuses every command: each script is atomic by itself. And without a
        # pipeline, for that of a cluster takes no scripts.
        keys = self._keys
        if entries:
            counted = [
                word
                for entry in entries
                for word in (entry.id, "duplicates" if entry.id in duplicates else "recorded")
            ]
            self._redis.eval(lua_script("settle"), 2, keys.stream, keys.counts, self._group, *counted)
        for entry, field, reason in dead:
            letter = _letter(entry, field, reason)
            self._redis.eval(
                lua_script("dead_letter"),
                3,
                keys.stream,
                keys.dead,
                keys.counts,
                self._group,
                entry.id,
                *letter,
            )

    def trim(self) -> int:
        """Drop what every group has acknowledged; returns how many entries went."""
        keep_from: list[tuple[int, int]] = []
        for group in self._redis.xinfo_groups(self.stream):
            name = group["name"]
            pending = self._redis.xpending(self.stream, name)
            if pending["pending"]:
                keep_from.append(_parts(pending["min"]))
            else:
                milliseconds, sequence = _parts(group["last-delivered-id"])
                keep_from.append((milliseconds, sequence + 1))
        if not keep_from:
            return 0
        milliseconds, sequence = min(keep_from)
        if sequence > _LARGEST:
            milliseconds, sequence = min((milliseconds + 1, 0), (_LARGEST, _LARGEST))
        return int(self._redis.xtrim(self.stream, minid=f"{milliseconds}-{sequence}", approximate=False))

    def roll_over(self) -> bool:
        """Begin the stream anew at the present where its last id is more than a day ahead; whether it did.

        Redis counts ids on from the largest there ever was, and takes none beyond the last possible one. Nothing is
        lost: it waits until every group has settled what it was given, and what nobody was given yet moves along.
        """
        ahead = int(MAX_AHEAD.total_seconds() * 1000)
        done: Any = self._redis.eval(
            lua_script("roll_over"), 2, self.stream, self._keys.counts, ahead, self._mark
        )
        return int(done) == 1

    def life(self) -> str:
        """What tells an id that is no date from the same id before the stream rolled over. Empty before that."""
        return life_mark(self._redis.hget(self._keys.counts, ROLLED_OVER))

    def backlog(self) -> QueueDepth:
        """How much is in the queue. Raises ``redis.RedisError``; never answers zero for unknown."""
        try:
            groups = self._redis.xinfo_groups(self.stream)
        except redis.ResponseError as error:
            if "no such key" not in str(error):
                raise
            return QueueDepth(0, 0, None)
        pending, oldest, delivered = 0, None, None
        for group in groups:
            if _text(group["name"]) == self._group:
                delivered = _text(group["last-delivered-id"])
                pending = int(group["pending"])
                if pending:
                    summary = self._redis.xpending(self.stream, self._group)
                    oldest = _text(summary["min"])
        # What was delivered is soon trimmed, what waits may be millions: count the small side.
        waiting = int(self._redis.xlen(self.stream)) - self._delivered(delivered)
        if oldest is None:
            first: Any = self._redis.xrange(
                self.stream, min="-" if delivered is None else f"({delivered}", count=1
            )
            oldest = _text(first[0][0]) if first else None
        return QueueDepth(max(0, waiting), pending, oldest)

    def _delivered(self, last: str | None) -> int:
        """How many delivered entries still lie in the stream."""
        if last is None:
            return 0
        count, after = 0, "-"
        while page := cast("list[Any]", self._redis.xrange(self.stream, min=after, max=last, count=1_000)):
            count += len(page)
            after = f"({_text(page[-1][0])}"
        return count

    def now(self) -> datetime:
        """The time on the clock that entry ids are taken from: in a cluster, that of the stream's own node."""
        said: Any = self._redis.eval(lua_script("now"), 1, self.stream)
        seconds, microseconds = map(int, said)
        return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=microseconds)

    def counts(self) -> dict[str, int]:
        """Turns recorded, duplicates, entries found dead, retried and dropped, and how often the stream rolled over."""
        found = self._redis.hgetall(self._keys.counts)
        return {"recorded": 0, "duplicates": 0} | {_text(name): int(count) for name, count in found.items()}

    def dead_count(self) -> int:
        """Entries in the dead stream now."""
        return int(self._redis.xlen(self._keys.dead))

    def settled_up_to(self, entry_id: str) -> bool:
        """Whether everything pushed up to ``entry_id`` is recorded or dead; in a stream that rolled over since,
        whether all that was pushed is."""
        if not is_date(entry_id, now := self.now()) and (last := self.last_id()) and is_date(last, now):
            backlog = self.backlog()
            return not backlog.waiting and not backlog.pending
        for group in self._redis.xinfo_groups(self.stream):
            if _text(group["name"]) == self._group:
                if _parts(group["last-delivered-id"]) < _parts(entry_id):
                    return False
                if not group["pending"]:
                    return True
                summary = self._redis.xpending(self.stream, self._group)
                return not summary["pending"] or _parts(summary["min"]) > _parts(entry_id)
        return False

    def last_id(self) -> str | None:
        """The id of the last entry ever pushed; None before the first."""
        try:
            info = self._redis.xinfo_stream(self.stream)
        except redis.ResponseError as error:
            if "no such key" not in str(error):
                raise
            return None
        last = _text(info["last-generated-id"])
        return None if last == "0-0" else last

    def _read(self, consumer: str, start: str, count: int, block_ms: int | None) -> list[Entry]:
        reply = cast(
            "list[Any] | dict[Any, Any] | None",
            self._redis.xreadgroup(self._group, consumer, {self.stream: start}, count=count, block=block_ms),
        )
        if not reply:
            return []
        pairs = list(reply.items()) if isinstance(reply, dict) else reply
        page = pairs[0][1]
        # Newer protocol versions nest the page once more.
        if page and isinstance(page[0], list) and page[0] and isinstance(page[0][0], tuple | list):
            page = page[0]
        return self._entries(page)

    def _entries(self, page: Sequence[Any]) -> list[Entry]:
        # A pending entry that was deleted from the stream by hand comes back without fields.
        return [
            Entry(_text(item[0]), dict(item[1] or {}), self._mark)
            for item in page
            if item and item[0] is not None
        ]


def life_mark(rolled_over: bytes | str | None) -> str:
    """The mark of a stream's life, told how often it rolled over."""
    return "" if rolled_over is None else f"~{_text(rolled_over)}"


def _letter(entry: Entry, field: str, reason: str) -> list[bytes | str]:
    """The fields of a dead letter, flat. A script takes a few thousand words, and a command so many bytes: what is more
    is cut off, and told."""
    if len(entry.fields) > MOST_FIELDS:
        reason = f"{reason} (the first {MOST_FIELDS} of {len(entry.fields)} fields are kept)"
    kept: list[bytes | str] = []
    room = MOST_BYTES
    for name, value in islice(entry.fields.items(), MOST_FIELDS):
        if len(name) + len(value) > room:
            reason = f"{reason} (the first {MOST_BYTES} bytes of its fields are kept)"
            if len(name) < room:
                kept += [DEAD_FIELD + name, value[: room - len(name)]]
            break
        room -= len(name) + len(value)
        kept += [DEAD_FIELD + name, value]
    return ["entry_id", entry.id, "field", field, "reason", reason, *kept]


@cache
def lua_script(name: str) -> str:
    """A Lua script of this package."""
    return files("ingest.recording").joinpath("lua", f"{name}.lua").read_text("utf-8")


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _parts(entry_id: bytes | str) -> tuple[int, int]:
    milliseconds, _, sequence = _text(entry_id).partition("-")
    return int(milliseconds), int(sequence or 0)
