"""Dead letters: turns the contract refused, kept with field and reason until an operator mends or drops them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, cast

import redis

from events.turn import entry_time, parse_turn, text_of
from ingest.queue import COUNTS_SUFFIX, DEAD_FIELD, DEAD_SUFFIX, MOST_FIELDS, script

DROPPED_SUFFIX = ":dropped"
_PAGE = 500
_DROPPED_KEPT = 10_000
_ENTRY_ID = re.compile(rb"\d{1,15}-\d{1,20}")


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A refused entry: its own id, the id it was pushed under, where and why it broke the contract, its bytes."""

    id: str
    entry_id: str
    field: str
    reason: str
    fields: Mapping[bytes, bytes]

    @property
    def pushed_at(self) -> datetime:
        """When the app pushed it."""
        return entry_time(self.entry_id)

    def mended(self, changes: Mapping[str, str], without: frozenset[str] = frozenset()) -> dict[bytes, bytes]:
        """The fields to push again: its own with ``changes``, and without the names in ``without``.

        What the first entry's id said is written out, for the new entry has another: when the turn was said,
        and the id that keeps it from counting twice. Raises :class:`TurnInvalidError` while the turn would
        only die again.
        """
        fields = dict(self.fields)
        for name in without:
            fields.pop(name.encode("utf-8", "surrogateescape"), None)
        fields.update({name.encode(): value.encode() for name, value in changes.items()})
        if not fields.get(b"said_at"):
            fields[b"said_at"] = self.pushed_at.isoformat(timespec="milliseconds").encode()
        if not fields.get(b"turn_id", b"").strip():
            fields[b"turn_id"] = self.entry_id.encode()
        texts: dict[str, str] = {}
        for raw_name, value in fields.items():
            name = text_of("(field name)", raw_name)
            texts[name] = text_of(name, value)
        parse_turn(texts, entry_time=self.pushed_at, entry_id=self.entry_id)
        return fields


class DeadLetters:
    """The dead letters of one stream. All methods raise ``redis.RedisError`` when Redis is away."""

    def __init__(self, client: redis.Redis, stream: str) -> None:
        self._redis = client
        self._stream = stream
        self._dead = stream + DEAD_SUFFIX
        self._dropped = stream + DROPPED_SUFFIX
        self._counts = stream + COUNTS_SUFFIX

    def __iter__(self) -> Iterator[DeadLetter]:
        """Every dead letter, oldest first, a page at a time."""
        after = "-"
        while page := cast("list[Any]", self._redis.xrange(self._dead, min=after, count=_PAGE)):
            for entry_id, fields in page:
                yield _letter(entry_id, fields)
            after = "(" + _text(page[-1][0])

    def find(self, letter_id: str) -> DeadLetter | None:
        """The dead letter ``letter_id``: its own id, or the one its turn was pushed under."""
        try:
            page = cast("list[Any]", self._redis.xrange(self._dead, min=letter_id, max=letter_id))
        except redis.ResponseError:
            return None  # no id at all
        if page:
            return _letter(*page[0])
        return next((letter for letter in self if letter.entry_id == letter_id), None)

    def push_again(self, letter: DeadLetter, fields: Mapping[bytes, bytes]) -> str | None:
        """``fields`` onto the stream in place of ``letter``, atomically; the new entry's id.

        None when the letter is gone: somebody else was quicker, and nothing is pushed.
        """
        pushed = self._run("push_again", [self._dead, self._stream, self._counts], letter.id, _flat(fields))
        return None if pushed is None else _text(pushed)

    def drop(self, letter: DeadLetter, because: str) -> bool:
        """``letter`` onto the stream of dropped ones with the reason given; False when it is gone already.

        That stream keeps the latest 10,000; how many were dropped is counted for ever.
        """
        record = {
            b"letter_id": letter.id.encode(),
            b"entry_id": letter.entry_id.encode(),
            b"field": letter.field.encode(),
            b"reason": letter.reason.encode(),
            b"because": because.encode(),
            **{DEAD_FIELD + name: value for name, value in islice(letter.fields.items(), MOST_FIELDS)},
        }
        keys = [self._dead, self._dropped, self._counts]
        return self._run("drop_letter", keys, letter.id, [_DROPPED_KEPT, *_flat(record)]) is not None

    def _run(self, name: str, keys: list[str], letter_id: str, arguments: list[Any]) -> Any:
        return self._redis.eval(script(name), len(keys), *keys, letter_id, *arguments)


def _letter(letter_id: bytes | str, fields: Mapping[bytes, bytes]) -> DeadLetter:
    entry_id = fields.get(b"entry_id", b"")
    return DeadLetter(
        id=_text(letter_id),
        entry_id=_text(entry_id if _ENTRY_ID.fullmatch(entry_id) else letter_id),
        field=_text(fields.get(b"field", b"")),
        reason=_text(fields.get(b"reason", b"")),
        fields={
            name.removeprefix(DEAD_FIELD): value
            for name, value in fields.items()
            if name.startswith(DEAD_FIELD)
        },
    )


def _flat(fields: Mapping[bytes, bytes]) -> list[bytes]:
    return [part for pair in fields.items() for part in pair]


def _text(value: bytes | str) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
