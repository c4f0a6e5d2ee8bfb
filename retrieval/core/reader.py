"""Reads core documents: the live tables, and the events above their checkpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from events.core.fold import Present
from events.core.past import Past, past_of
from events.core.proposals import undone
from events.core.rows import change_of, entry_of, state_of
from events.core.state import Change, CoreState, QueueEntry, stepped
from events.platform.database import Row
from events.platform.sql import statement
from events.resources.core import QueueStatus
from events.store.asking import awaited_by
from events.store.log import events_of
from events.types.core import CORE_TYPES
from events.types.envelope import partition_of
from projectors.core.card_feed import StateFeed
from projectors.core.documents import others_of
from projectors.core.loading import MOST_UNFOLDED, TooFarBehindError, presenting
from retrieval.pool.connections import Pool, rows_if_folded

_PACKAGE = "projectors.core"


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
        return await rows_if_folded(self._pool, owner, statement(_PACKAGE, name), values)
