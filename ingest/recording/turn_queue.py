"""The turn queue: one Redis stream that is read in a consumer group, acknowledged and trimmed."""

import logging
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any, cast

import redis

from events.platform.streams import keys_of, mark_of
from events.sealing.entries import VISIBLE
from events.types.turn_contract import MAX_AHEAD, is_date

logger = logging.getLogger(__name__)

# Prefix of an original field inside a dead letter. The field keeps its raw bytes, so it can be pushed again.
DEAD_FIELD = b"field:"
ROLLED_OVER = "rolled_over"
"""The name of the count of roll-overs of a stream."""
MOST_FIELDS = 1000
"""Number of fields of a refused entry that a dead letter keeps. A turn has 13 fields."""
MOST_BYTES = 1023 * 1024
"""Bytes of all fields together that a dead letter keeps. A turn has at most 70 KiB. The embedded Redis takes no value
above 1 MiB."""
LARGEST_ENTRY = 2 * 1024 * 1024
"""Bytes of the largest entry that is read whole. A sealed turn has at most 0.6 MiB, and a dead letter 1 MiB."""
_PAGE = 500
_PAGE_BYTES = 16 * 1024 * 1024
_TAKEN_BYTES = 4 * 1024 * 1024  # Bytes of pushed turns that one Lua script moves.
_LARGEST = 2**64 - 1  # The largest value of each of the two numbers of an id.


@dataclass(frozen=True, slots=True)
class Entry:
    """A stream entry as Redis stores it: raw bytes, not decoded.

    ``mark`` distinguishes the entry from an entry of another stream with the same id. ``size`` is the number of bytes
    of all names and values. ``fields`` may hold less of an entry above :data:`LARGEST_ENTRY`.
    """

    id: str
    fields: dict[bytes, bytes]
    mark: str = ""
    size: int = 0

    @property
    def name(self) -> str:
        """The name of the entry, unique over all streams."""
        return self.id + self.mark


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """Number of turns of one queue that are not acknowledged.

    ``waiting`` turns were never delivered. ``pending`` turns were delivered. ``oldest_id`` is the id of the oldest of
    them, or None when the queue is empty.
    """

    waiting: int
    pending: int
    oldest_id: str | None


class TurnQueue:
    """One Redis stream and one consumer group, safe for any number of consumers.

    An entry leaves the group only through :meth:`settle`. An entry leaves the stream only after it left every group.
    All methods raise ``redis.RedisError`` when Redis is away.
    """

    def __init__(self, client: redis.Redis, stream: str, group: str) -> None:
        self._redis = client
        self.stream = stream
        self._mark = mark_of(stream)
        self._keys = keys_of(client, stream)
        self._group = group

    def open(self) -> None:
        """Creates the group at the first entry, so turns pushed before the first start are read too."""
        try:
            self._redis.eval(lua_script("create_group"), 1, self.stream, self._group)
        except redis.ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise

    def read_own(self, consumer: str, count: int) -> list[Entry]:
        """Returns up to ``count`` entries that ``consumer`` received before a crash and never settled."""
        return self._received(consumer, "0", count)

    def read(self, consumer: str, count: int, block_ms: int) -> list[Entry]:
        """Returns up to ``count`` new entries, and at most some 16 MiB. Waits at most ``block_ms`` for the first."""
        first = self._read_one(consumer, block_ms)
        if not first or count == 1:
            return first
        return first + self._received(consumer, ">", count - 1)

    def reclaim(self, consumer: str, idle_ms: int, count: int) -> list[Entry]:
        """Takes over up to ``count`` entries that another consumer has held for ``idle_ms`` without settling them."""
        taken = self._redis.xautoclaim(
            self.stream, self._group, consumer, min_idle_time=idle_ms, count=count, justid=True
        )
        return self.read_own(consumer, count) if taken else []

    def delete_idle_consumers(self, idle_ms: int) -> int:
        """Deletes consumers without pending entries that were idle for ``idle_ms``. Returns the number deleted.

        Every process that ever read is a consumer, and Redis never deletes consumers by itself. Redis creates a deleted
        consumer again when it reads.
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
        """Acknowledges ``entries``, and moves each of ``dead`` (entry, field, reason) to the dead stream.

        Each entry counts once, as a duplicate when its id is in ``duplicates``. Entries that another consumer settled
        meanwhile are skipped. ``settle`` works with full memory, because only settling makes room there.
        """
        # MULTI is not used: with full memory, Redis refuses every command in MULTI. Each Lua script is atomic by
        # itself. A pipeline is not used: the pipeline of a cluster takes no Lua scripts.
        keys = self._keys
        if entries:
            counted = [
                word
                for entry in entries
                for word in (entry.id, "duplicates" if entry.id in duplicates else "recorded")
            ]
            self._redis.eval(lua_script("settle"), 2, keys.stream, keys.counts, self._group, *counted)
        for entry, field, reason in dead:
            kept, note = kept_fields(entry.fields)
            words: list[str | bytes] = ["entry_id", entry.id, "field", field, "reason", reason + note, *kept]
            self._redis.eval(
                lua_script("dead_letter"),
                3,
                keys.stream,
                keys.dead,
                keys.counts,
                self._group,
                entry.id,
                *words,
            )

    def trim(self) -> tuple[int, int]:
        """Deletes the entries that every group has acknowledged. Returns (number deleted, number newly lost).

        A lost entry left the stream unsettled, and no erasure took it: somebody trimmed the stream, or deleted it.
        The number is 0 on a Redis before 7, which does not count the entries that were added.
        """
        keep_from: list[tuple[int, int]] = []
        for group in self._redis.xinfo_groups(self.stream):
            name = group["name"]
            pending = self._redis.xpending(self.stream, name)
            if pending["pending"]:
                keep_from.append(id_parts(pending["min"]))
            else:
                milliseconds, sequence = id_parts(group["last-delivered-id"])
                keep_from.append((milliseconds, sequence + 1))
        if not keep_from:
            return 0, 0
        milliseconds, sequence = min(keep_from)
        if sequence > _LARGEST:
            milliseconds, sequence = min((milliseconds + 1, 0), (_LARGEST, _LARGEST))
        keys = self._keys
        first = f"{milliseconds}-{sequence}"
        done: Any = self._redis.eval(lua_script("trim"), 2, keys.stream, keys.counts, self._group, first)
        return int(done[0]), int(done[1])

    def pushed_count(self) -> int:
        """Returns the number of turns on the list of the restricted pushers, which belongs to the first stream only.

        A key of this name that is no list holds no turns: the log says so, and the stream goes on.
        """
        if self._mark:
            return 0
        try:
            return int(cast("Any", self._redis.llen(self._keys.pushed)))
        except redis.ResponseError as error:
            if not str(error).startswith("WRONGTYPE"):
                raise
            logger.warning("%s in Redis is no list, so nobody can push onto it: delete it", self._keys.pushed)
            return 0

    def take_pushed(self, most: int | None = None) -> None:
        """Moves turns from the list of the restricted pushers to the stream: ``most``, or all that are there now."""
        rest = self.pushed_count() if most is None else min(most, self.pushed_count())
        while rest > 0:
            keys = self._keys
            taken: Any = self._redis.eval(
                lua_script("take_pushed"), 2, keys.pushed, keys.stream, rest, _TAKEN_BYTES
            )
            if not taken:
                return
            rest -= int(taken)

    def roll_over(self) -> bool:
        """Restarts the stream at the present when its last id is more than a day ahead. Returns True if it did.

        Redis continues from the largest id of the stream and takes no entry after the largest possible id. No entry is
        lost. The roll-over happens only when every group has settled all delivered entries. Undelivered entries move
        to the restarted stream.
        """
        ahead = int(MAX_AHEAD.total_seconds() * 1000)
        done: Any = self._redis.eval(
            lua_script("roll_over"), 2, self.stream, self._keys.counts, ahead, self._mark
        )
        return int(done) == 1

    def incarnation(self) -> str:
        """Returns the mark that distinguishes an id that is no date from the same id before a roll-over.

        The mark is empty before the first roll-over.
        """
        return incarnation_mark(self._redis.hget(self._keys.counts, ROLLED_OVER))

    def depth(self) -> QueueDepth:
        """Returns the number of turns in the queue. Raises ``redis.RedisError``: an unknown depth is never zero."""
        try:
            groups = self._redis.xinfo_groups(self.stream)
        except redis.ResponseError as error:
            if "no such key" not in str(error):
                raise
            return QueueDepth(self.pushed_count(), 0, None)
        pending, oldest, delivered = 0, None, None
        for group in groups:
            if as_text(group["name"]) == self._group:
                delivered = as_text(group["last-delivered-id"])
                pending = int(group["pending"])
                if pending:
                    summary = self._redis.xpending(self.stream, self._group)
                    oldest = as_text(summary["min"])
        # Millions of entries may wait, but delivered entries are trimmed soon. So the delivered ones are counted.
        waiting = int(self._redis.xlen(self.stream)) - self._delivered(delivered)
        waiting = max(0, waiting) + self.pushed_count()
        if oldest is None:
            first: Any = self._redis.xrange(
                self.stream, min="-" if delivered is None else f"({delivered}", count=1
            )
            oldest = as_text(first[0][0]) if first else None
        return QueueDepth(waiting, pending, oldest)

    def _delivered(self, last: str | None) -> int:
        """Returns the number of delivered entries that the stream still holds."""
        return 0 if last is None else sum(map(len, pages_of(self._redis, self.stream, last)))

    def now(self) -> datetime:
        """Returns the time on the clock that makes entry ids. In a cluster this is the clock of the stream's node."""
        reply: Any = self._redis.eval(lua_script("now"), 1, self.stream)
        seconds, microseconds = map(int, reply)
        return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=microseconds)

    def counts(self) -> dict[str, int]:
        """Returns the counts by name: recorded, duplicates, dead, erased, lost, retried, dropped, ``rolled_over``."""
        found = {as_text(name): int(count) for name, count in self._redis.hgetall(self._keys.counts).items()}
        shown = {name: count for name, count in found.items() if not name.startswith("_")}
        return {"recorded": 0, "duplicates": 0} | shown

    def dead_count(self) -> int:
        """Returns the number of entries in the dead stream."""
        return int(self._redis.xlen(self._keys.dead))

    def settled_up_to(self, entry_id: str) -> bool:
        """Returns True when every entry up to ``entry_id`` is recorded or dead.

        If the stream rolled over since, every entry of the stream must be recorded or dead.
        """
        if not is_date(entry_id, now := self.now()) and (last := self.last_id()) and is_date(last, now):
            depth = self.depth()
            return not depth.waiting and not depth.pending
        for group in self._redis.xinfo_groups(self.stream):
            if as_text(group["name"]) == self._group:
                if id_parts(group["last-delivered-id"]) < id_parts(entry_id):
                    return False
                if not group["pending"]:
                    return True
                summary = self._redis.xpending(self.stream, self._group)
                return not summary["pending"] or id_parts(summary["min"]) > id_parts(entry_id)
        return False

    def last_id(self) -> str | None:
        """Returns the id of the last entry ever pushed, or None before the first."""
        try:
            info = self._redis.xinfo_stream(self.stream)
        except redis.ResponseError as error:
            if "no such key" not in str(error):
                raise
            return None
        last = as_text(info["last-generated-id"])
        return None if last == "0-0" else last

    def _received(self, consumer: str, start: str, count: int) -> list[Entry]:
        return page_of(self._redis, self.stream, count, start, "+", self._group, consumer)

    def _read_one(self, consumer: str, block_ms: int) -> list[Entry]:
        """Waits for a new entry. Only this way of reading can wait, so it takes the entry whole, whatever its size."""
        reply = cast(
            "list[Any] | dict[object, Any] | None",
            self._redis.xreadgroup(self._group, consumer, {self.stream: ">"}, count=1, block=block_ms),
        )
        if not reply:
            return []
        [(_, page)] = list(reply.items()) if isinstance(reply, dict) else reply
        # RESP3 nests the page once more.
        [(entry_id, fields)] = (
            page[0] if isinstance(page[0], list) and isinstance(page[0][0], tuple | list) else page
        )
        size = sum(len(name) + len(value) for name, value in fields.items())
        return [Entry(as_text(entry_id), dict(fields), self._mark, size)]


def page_of(client: redis.Redis, stream: str, count: int, start: str, end: str, *reader: str) -> list[Entry]:
    """Returns up to ``count`` entries of ``stream``, and at most some 16 MiB, whatever size entries have.

    ``start`` and ``end`` are those of ``XRANGE``. ``reader`` is a group and a consumer that receives the entries.
    """
    script, mark = lua_script("page"), mark_of(stream)
    reply: Any = client.eval(script, 1, stream, count, _PAGE_BYTES, LARGEST_ENTRY, start, end, *reader)
    return [
        Entry(as_text(entry_id), dict(zip(words[::2], words[1::2], strict=True)), mark, int(size))
        for entry_id, words, size in reply
    ]


def pages_of(client: redis.Redis, stream: str, end: str = "+") -> Iterator[list[Entry]]:
    """Yields the entries of a stream up to ``end`` in pages that fit into memory, the oldest first."""
    start = "-"
    while page := page_of(client, stream, _PAGE, start, end):
        yield page
        start = f"({page[-1].id}"


def incarnation_mark(rolled_over: bytes | str | None) -> str:
    """Returns the mark of a stream that rolled over ``rolled_over`` times. The mark is empty for None."""
    return "" if rolled_over is None else f"~{as_text(rolled_over)}"


def kept_fields(fields: Mapping[bytes, bytes]) -> tuple[list[bytes], str]:
    """Returns (names and values of a dead letter as a flat list, a note about what was cut).

    The user and the tenant come first, because an erasure looks for them. A Lua script takes a few thousand arguments,
    and a command has a limit in bytes.
    """
    note = ""
    if len(fields) > MOST_FIELDS:
        note = f" (the first {MOST_FIELDS} of {len(fields)} fields are kept)"
    kept: list[bytes] = []
    room = MOST_BYTES
    visible_first = sorted(fields.items(), key=lambda field: field[0].decode(errors="replace") not in VISIBLE)
    for name, value in visible_first[:MOST_FIELDS]:
        if len(name) + len(value) > room:
            note = f"{note} (the first {MOST_BYTES} bytes of its fields are kept)"
            if len(name) < room:
                kept += [DEAD_FIELD + name, value[: room - len(name)]]
            break
        room -= len(name) + len(value)
        kept += [DEAD_FIELD + name, value]
    return kept, note


@cache
def lua_script(name: str) -> str:
    """Returns the text of a Lua script of this package."""
    return files("ingest.recording").joinpath("lua", f"{name}.lua").read_text("utf-8")


def as_text(value: bytes | str) -> str:
    """Returns a value of Redis as text. Bytes that are no UTF-8 are replaced."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def id_parts(entry_id: bytes | str) -> tuple[int, int]:
    """Returns the milliseconds and the sequence number of an id of an entry."""
    milliseconds, _, sequence = as_text(entry_id).partition("-")
    return int(milliseconds), int(sequence or 0)
