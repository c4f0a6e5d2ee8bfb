"""Forgetting in Redis: the turns, dead letters and dropped letters of some users leave their streams."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

import redis

from events.platform.settings import Settings
from events.platform.streams import existing, keys_of, mark_of, streams_named
from events.sealing.entries import opened_entry
from events.types.turn_contract import TurnInvalidError, entry_time, is_date
from ingest.recording.turn_queue import DEAD_FIELD, TurnQueue, as_text, lua_script, pages_of

Fields = Mapping[str, str]
"""The fields of an entry as text. Bytes that are no UTF-8 are replaced."""


@dataclass(slots=True)
class ForgottenEntries:
    """What left the streams, by user: ``turn_ids``, and the number of entries by kind of stream."""

    turn_ids: dict[str, set[str]] = field(default_factory=dict)
    counts: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


def forget(
    client: redis.Redis,
    settings: Settings,
    chooses: Callable[[Fields], str | None],
    *,
    until: datetime | None = None,
    dry_run: bool = False,
) -> ForgottenEntries:
    """Deletes the entries that ``chooses`` names from every stream. ``chooses`` returns the user of an entry, or None.

    ``until`` keeps entries that were pushed later. A recorder may hold a deleted turn in memory. The caller therefore
    appends the returned turn ids as idempotency keys, and the log drops such a turn. Raises one of ``REDIS_AWAY``.
    """
    done = ForgottenEntries()
    TurnQueue(client, settings.turns_stream, settings.consumer_group).take_pushed()
    for stream in existing(client, streams_named(settings.turns_stream)):
        for ids, found in _pages(client, stream, b"", chooses, until):
            for (user, fields), entry_id in zip(found, ids, strict=True):
                turn_id = fields.get("turn_id", "").strip() or entry_id + mark_of(stream)
                done.turn_ids.setdefault(user, set()).add(turn_id)
                done.counts[user]["queue"] += 1
            if not dry_run:
                keys = keys_of(client, stream)
                script = lua_script("forget_entries")
                client.eval(script, 2, stream, keys.counts, settings.consumer_group, *ids)
    for stream in streams_named(settings.turns_stream):
        keys = keys_of(client, stream)
        for kind, key in (("dead letters", keys.dead), ("dropped letters", keys.dropped)):
            for ids, found in _pages(client, key, DEAD_FIELD, chooses, until):
                for user, _ in found:
                    done.counts[user][kind] += 1
                if not dry_run:
                    client.xdel(key, *ids)
    return done


def _pages(
    client: redis.Redis,
    stream: str,
    prefix: bytes,
    chooses: Callable[[Fields], str | None],
    until: datetime | None,
) -> Iterator[tuple[list[str], list[tuple[str, Fields]]]]:
    """Yields (ids, (user, fields) of each) of the chosen entries of ``stream``, page by page."""
    for page in pages_of(client, stream):
        ids: list[str] = []
        found: list[tuple[str, Fields]] = []
        for entry in page:
            if until is not None and is_date(entry.id, datetime.now(UTC)) and entry_time(entry.id) > until:
                continue
            fields = _opened(entry.fields, prefix)
            if (user := chooses(fields)) is not None:
                ids.append(entry.id)
                found.append((user, fields))
        if ids:
            yield ids, found


def _opened(raw: Mapping[bytes, bytes], prefix: bytes) -> Fields:
    """Returns the fields of a turn as they were pushed. An entry that cannot be opened shows only its user."""
    fields: Mapping[bytes, bytes] = {
        name.removeprefix(prefix): value for name, value in raw.items() if name.startswith(prefix)
    }
    with suppress(TurnInvalidError):
        fields = opened_entry(fields)
    return {as_text(name): as_text(value) for name, value in fields.items()}
