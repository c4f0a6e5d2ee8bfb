"""Dead letters: turns that broke the contract, kept with field and reason until an operator retries or drops them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from heapq import merge
from typing import Any, cast

import redis

from events.platform.streams import StreamKeys, existing, keys_of, mark_of, streams_named
from events.sealing.entries import opened_entry, sealed_entry
from events.types.queue_entry import PROOF, TENANT, QueueKey
from events.types.tenancy import DEFAULT_TENANT
from events.types.turn_contract import TurnInvalidError, entry_time, is_date, parse_turn, pushed_at, text_of
from ingest.recording.turn_queue import DEAD_FIELD, as_text, id_parts, kept_fields, lua_script, pages_of

_DROPPED_KEPT = 10_000
_ENTRY_ID = re.compile(rb"\d{1,20}-\d{1,20}")


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A refused entry with the field that broke the contract, the reason and the original bytes of its fields.

    A sealed entry stays sealed in ``fields``. :attr:`opened` has what the app pushed.

    ``id`` is the id in the dead stream. ``entry_id`` is the id under which the turn was pushed. Both ids end in the
    ``mark`` of their stream. The mark is empty when there is only one stream.
    """

    id: str
    entry_id: str
    field: str
    reason: str
    fields: Mapping[bytes, bytes]
    mark: str = ""

    @property
    def own_id(self) -> str:
        """The id in the dead stream, without the mark."""
        return self.id.removesuffix(self.mark)

    @property
    def opened(self) -> Mapping[bytes, bytes]:
        """The fields as the app pushed them. A sealed entry that cannot be opened here has its sealed fields."""
        try:
            return opened_entry(self.fields)
        except TurnInvalidError:
            return self.fields

    @property
    def pushed_at(self) -> datetime:
        """The time at which the app pushed the turn, or the time of the refusal when the entry id is no date."""
        return pushed_at(self.entry_id, entry_time(self.own_id))

    @property
    def tenant(self) -> str:
        """The tenant of the turn. An entry without a valid proof of its tenant belongs to the default tenant."""
        return (
            DEFAULT_TENANT
            if self.field == TENANT
            else as_text(self.fields.get(TENANT.encode(), DEFAULT_TENANT))
        )

    def fields_to_retry(
        self,
        changes: Mapping[str, str],
        without: frozenset[str] = frozenset(),
        key: QueueKey | None = None,
    ) -> dict[bytes, bytes]:
        """Returns the fields to push again: the original ones with ``changes``, without the names in ``without``.

        The new entry has another id, so ``said_at`` and ``turn_id`` are filled from the first entry's id when they are
        missing. The turn therefore keeps its time and counts once. ``key`` proves the tenant of the turn again, because
        the proof covers all fields. Raises :class:`TurnInvalidError` when the turn still
        breaks the contract.
        """
        fields = dict(self.opened)
        for name in without:
            fields.pop(name.encode("utf-8", "surrogateescape"), None)
        fields.update({name.encode(): value.encode() for name, value in changes.items()})
        if not fields.get(b"said_at"):
            fields[b"said_at"] = self.pushed_at.isoformat(timespec="milliseconds").encode()
        if not fields.get(b"turn_id", b"").strip():
            # An id that is no date may belong to another entry after a roll-over.
            dated = is_date(self.entry_id, entry_time(self.own_id))
            fields[b"turn_id"] = (self.entry_id if dated else f"dead/{self.id}").encode()
        texts: dict[str, str] = {}
        for raw_name, value in fields.items():
            name = text_of("(field name)", raw_name)
            texts[name] = text_of(name, value)
        if self.tenant != DEFAULT_TENANT:
            assert key is not None, "a turn of another tenant needs a key"
            texts = {name: value for name, value in texts.items() if name not in (TENANT, PROOF)}
        parse_turn(texts, entry_time=self.pushed_at, entry_id=self.entry_id, now=datetime.now(UTC))
        if self.tenant == DEFAULT_TENANT or key is None:
            return fields
        return {name.encode(): value.encode() for name, value in key.entry_of(texts, self.tenant).items()}


class DeadLetters:
    """The dead letters of every Redis stream of turns. All methods raise one of ``REDIS_AWAY`` when Redis is away.

    The dead letters of a stream lie on the same node as the stream. An entry therefore moves between both atomically,
    in a cluster too.
    """

    def __init__(self, client: redis.Redis, stream: str) -> None:
        self._redis = client
        self._keys = {mark_of(name): keys_of(client, name) for name in streams_named(stream)}

    def __iter__(self) -> Iterator[DeadLetter]:
        """Yields every dead letter, oldest first. Reads one page at a time."""
        present = set(existing(self._redis, [keys.dead for keys in self._keys.values()]))
        return merge(
            *(self._of(mark, keys) for mark, keys in self._keys.items() if keys.dead in present),
            key=lambda letter: id_parts(letter.own_id),
        )

    def _of(self, mark: str, keys: StreamKeys) -> Iterator[DeadLetter]:
        for page in pages_of(self._redis, keys.dead):
            for entry in page:
                yield _letter(entry.id, entry.fields, mark)

    def find(self, letter_id: str) -> DeadLetter | None:
        """Returns the dead letter with this id, or None. ``letter_id`` is its own id or the id of the pushed turn."""
        own, at, number = letter_id.partition("@")
        keys = self._keys.get(at + number)
        if keys is not None:
            try:
                page = cast("list[Any]", self._redis.xrange(keys.dead, min=own, max=own))
            except redis.ResponseError:
                return None  # The text is not an id.
            for entry_id, fields in page:
                return _letter(entry_id, fields, at + number)
        return next((letter for letter in self if letter.entry_id == letter_id), None)

    def push_again(self, letter: DeadLetter, fields: Mapping[bytes, bytes]) -> str | None:
        """Replaces ``letter`` by an entry with ``fields`` on its stream, atomically. Returns the name of the entry.

        Returns None and pushes nothing when the letter is gone: somebody else retried or dropped it.
        """
        keys = self._keys[letter.mark]
        pushed = self._run(
            "retry_dead_letter", [keys.dead, keys.stream, keys.counts], letter, _flat(_sealed(fields))
        )
        return None if pushed is None else as_text(pushed) + letter.mark

    def drop(self, letter: DeadLetter, because: str) -> bool:
        """Moves ``letter`` to the stream of dropped letters, with the reason ``because``. Returns False if it is gone.

        The stream of dropped letters keeps the latest 10,000. The count of dropped letters includes all.
        """
        kept, note = kept_fields(letter.fields)
        record = {
            b"letter_id": letter.id.encode(),
            b"entry_id": letter.entry_id.encode(),
            b"field": letter.field.encode(),
            b"reason": (letter.reason + note).encode(),
            b"because": because.encode(),
        }
        found = self._keys[letter.mark]
        keys = [found.dead, found.dropped, found.counts]
        return self._run("drop_dead_letter", keys, letter, [_DROPPED_KEPT, *_flat(record), *kept]) is not None

    def _run(self, name: str, keys: list[str], letter: DeadLetter, arguments: list[Any]) -> Any:
        return self._redis.eval(lua_script(name), len(keys), *keys, letter.own_id, *arguments)


def _letter(letter_id: bytes | str, fields: Mapping[bytes, bytes], mark: str) -> DeadLetter:
    entry_id = fields.get(b"entry_id", b"")
    return DeadLetter(
        id=as_text(letter_id) + mark,
        entry_id=as_text(entry_id if _ENTRY_ID.fullmatch(entry_id) else letter_id) + mark,
        mark=mark,
        field=as_text(fields.get(b"field", b"")),
        reason=as_text(fields.get(b"reason", b"")),
        fields={
            name.removeprefix(DEAD_FIELD): value
            for name, value in fields.items()
            if name.startswith(DEAD_FIELD)
        },
    )


def _sealed(fields: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    entry = sealed_entry({name.decode(): value.decode() for name, value in fields.items()})
    return {name.encode(): value.encode() for name, value in entry.items()}


def _flat(fields: Mapping[bytes, bytes]) -> list[bytes]:
    return [part for pair in fields.items() for part in pair]
