"""Core documents as they are read: now, then, where values come from, and what differs between two, in words."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from uuid import UUID

import orjson

from events.core.evolution.old_pointers import resolved
from events.core.fold import Present
from events.core.past import Past, past_of
from events.core.patches import Op, applied_one
from events.core.pointers import MISSING, Tokens, join, split, value_at
from events.core.proposals import undone
from events.core.rows import change_of, entry_of, state_of
from events.core.schema import DYNAMIC
from events.core.state import Change, CoreState, Mark, QueueEntry, mark_of, stepped
from events.platform.database import Row, statement
from events.resources.core import QueueStatus
from events.store.asking import awaited_by
from events.store.log import events_of
from events.types.core import CORE_TYPES
from events.types.envelope import partition_of
from events.types.json_values import Json
from projectors.core.card_feed import StateFeed
from projectors.core.documents import others_of
from projectors.core.loading import MOST_UNFOLDED, TooFarBehindError, presenting
from retrieval.pool import Pool, rows_if_folded

_SHOWN = 200


class DocumentReader:
    """Reads the document of one user at a time. A write is seen at once, whatever the projector's lag is.

    ``pool`` must be of the primary. Methods raise psycopg.Error when Postgres is away, and
    :class:`projectors.core.loading.TooFarBehindError` when too many events are not folded.
    """

    def __init__(self, pool: Pool, feed: StateFeed) -> None:
        self._pool = pool
        self._feed = feed

    async def present(self, owner: str) -> Present:
        """Returns the present document."""
        return await awaited_by(
            lambda query: self._rows(owner, query[0], **query[1]), presenting(owner, self._feed)
        )

    async def at_version(self, owner: str, version: int, present: Present) -> CoreState:
        """Returns the document at ``version``, at most that of ``present``.

        Replays fewer than :data:`events.core.state.SNAPSHOT_EVERY` changes of the tables.
        """
        if version == present.state.version:
            return present.state
        rows = await self._rows(owner, "live_snapshot_before", user_id=owner, version=version)
        bases = [CoreState(), *(state_of(row, 0) for row in rows)]
        bases += [each for each in present.fold.snapshots if each.version <= version]
        base = max(bases, key=lambda each: each.version)
        rows = await self._rows(
            owner, "live_changes_between", user_id=owner, after=base.version, upto=version
        )
        changes = {row["version"]: change_of(row) for row in rows}
        changes |= {
            each.version: each for each in present.fold.changes if base.version < each.version <= version
        }
        document, marks = base.document, base.marks
        for _, change in sorted(changes.items()):
            document, marks, _ = stepped(document, marks, change)
        last = changes.get(version)
        return CoreState(
            document=document,
            marks=marks,
            version=version,
            position=base.position if last is None else last.position,
            updated_at=base.updated_at if last is None else last.recorded_at,
        )

    async def version_at(self, owner: str, known_at: datetime, present: Present) -> int:
        """Returns the last version that was recorded at an instant; 0 before the first one."""
        rows = await self._rows(owner, "live_version_at", user_id=owner, known_at=known_at)
        known = rows[0]["version"] if rows else 0
        return max([known, *(each.version for each in present.fold.changes if each.recorded_at <= known_at)])

    async def past(self, owner: str, as_of: datetime, known_at: datetime | None) -> Past:
        """Returns the document that held at ``as_of``, by what was recorded at ``known_at`` (None: by all)."""
        rows = await self._rows(
            owner,
            "live_recorded",
            user_id=owner,
            partition=partition_of(owner),
            types=sorted(CORE_TYPES | self._feed.types),
            known_at=known_at,
            limit=MOST_UNFOLDED + 1,
        )
        if len(rows) > MOST_UNFOLDED:
            raise TooFarBehindError(f"a document with more than {MOST_UNFOLDED:,} events has no past")
        return await asyncio.to_thread(lambda: past_of(events_of(rows), self._feed, as_of))

    async def changes(self, owner: str, present: Present, *, below: int, limit: int) -> list[Change]:
        """Returns changes below a version, the latest first."""
        tail = [each for each in present.fold.changes if each.version < below]
        rows = await self._rows(owner, "live_history", user_id=owner, below=below, limit=limit)
        found = {row["version"]: change_of(row) for row in rows} | {each.version: each for each in tail}
        return [found[version] for version in sorted(found, reverse=True)][:limit]

    async def changes_named(self, owner: str, present: Present, versions: Iterable[int]) -> dict[int, Change]:
        """Returns the changes that made these versions."""
        wanted = set(versions)
        rows = await self._rows(owner, "live_changes_named", user_id=owner, versions=sorted(wanted))
        found = {row["version"]: change_of(row) for row in rows}
        return found | {each.version: each for each in present.fold.changes if each.version in wanted}

    async def queue(self, owner: str, present: Present, status: QueueStatus | None) -> list[QueueEntry]:
        """Returns entries of the queue, the latest first."""
        rows = await self._rows(owner, "live_queue_page", user_id=owner, status=None)
        found: dict[UUID, QueueEntry] = {row["queue_id"]: entry_of(row) for row in rows}
        found |= present.fold.queued
        found = {each.queue_id: each for each in undone(present.state.document, found.values())}
        entries = [each for each in found.values() if status in (None, each.status)]
        return sorted(entries, key=lambda each: (-each.position, each.queue_id))

    async def keys_of_others(self, owner: str) -> list[list[str]]:
        """Returns the keys that other users of the tenant made, a list for each user. At most 500 users count."""
        rows = await self._rows(owner, "live_keys_of_others", **others_of(owner))
        return [row["keys"] for row in rows]

    async def _rows(self, owner: str, name: str, **values: object) -> list[Row]:
        """Returns rows of the live tables. Before the first fold there are no tables and no rows."""
        return await rows_if_folded(self._pool, owner, statement("projectors.core", name), values)


def marked_places(marks: Json, place: Tokens = ()) -> Iterator[tuple[Tokens, Mark]]:
    """Yields the place of every value in the tree of marks at ``place``, with its mark."""
    if isinstance(marks, dict):
        for name, each in marks.items():
            yield from marked_places(each, (*place, name))
    elif isinstance(marks, list):
        for number, each in enumerate(marks):
            yield from marked_places(each, (*place, str(number)))
    elif marks is not MISSING:
        yield place, mark_of(marks)


def told(before: Json, ops: Sequence[Op]) -> list[str]:
    """Returns a JSON Patch of ``before`` as lines for people."""
    lines = []
    for op in ops:
        name, path = op["op"], op["path"]
        old = value_at(before, split(path))
        if name == "remove":
            lines.append(f"{path}: {_short(old)} removed")
        elif name == "move":
            lines.append(f"{op['from']} moved to {path}")
        elif name == "copy":
            lines.append(f"{op['from']} copied to {path}")
        elif name in ("add", "replace"):
            inserted = isinstance(value_at(before, split(path)[:-1]), list) and name == "add"
            if old is MISSING or inserted:
                lines.append(f"{path}: {_short(op['value'])} added")
            else:
                lines.append(f"{path}: {_short(old)} → {_short(op['value'])}")
        before = applied_one(before, op)
    return lines


def snippets(document: Json, paths: Sequence[str]) -> list[dict[str, Json]]:
    """Returns the values at pointers. ``found`` is false for a place that is not there.

    A pointer from before a promotion gives the value at its place of today, which ``moved_to`` names.
    """
    found = []
    for path in paths:
        asked = split(path)
        place = resolved(document, asked)
        value = value_at(document, place)
        missing = value is MISSING
        snippet = {"path": path, "found": not missing, "value": None if missing else value}
        found.append(snippet if missing or place == asked else snippet | {"moved_to": join(place)})
    return found


def facts_at(document: Json, places: Sequence[Tokens]) -> list[tuple[str, str]]:
    """Returns the values below places as lines: a pointer and a text. Empty values are left out.

    The values of a list of plain values are one line. The lines are in the order of ``places`` and of their names.
    """
    found: dict[str, str] = {}
    for place in places:
        place = resolved(document, place)  # noqa: PLW2901 - an old pointer stands for the new one
        value = value_at(document, place)
        if value is not MISSING:
            found.update(_lines(place, value))
    return list(found.items())


def goals_of(document: Json) -> list[str]:
    """Returns what the user wants, plans and wishes, a text for each, in the order of the document."""
    goals = document.get("goals", {})
    lists = [goals.get(name, []) for name in ("goals", "plans", "wishes")]
    found = [_told(each) for values in lists if isinstance(values, list) for each in values]
    return list(dict.fromkeys(each for each in found if each))


def _told(value: Json) -> str:
    """Returns a goal as text: its name, and then its other members."""
    if not isinstance(value, dict):
        return _plain(value)
    first = next((name for name in ("name", "title", "goal", "description") if name in value), None)
    rest = [f"{name}: {_plain(value[name])}" for name in sorted(value) if name != first]
    return "; ".join([*([_plain(value[first])] if first else []), *rest])


def _lines(place: Tokens, value: Json) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        # What the service keeps beside the data of a dynamic category is no fact.
        of_category = place[:1] == (DYNAMIC,) and len(place) == 2
        for name in value.keys() & {"data"} if of_category else sorted(value):
            yield from _lines((*place, name), value[name])
    elif isinstance(value, list):
        if all(not isinstance(each, dict | list) for each in value):
            if value:
                yield join(place), ", ".join(map(_plain, value))
        else:
            for number, each in enumerate(value):
                yield from _lines((*place, str(number)), each)
    elif value is not None and value != "":
        yield join(place), _plain(value)


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value, default=str).decode()
    return text if len(text) <= _SHOWN else text[:_SHOWN] + " …"
