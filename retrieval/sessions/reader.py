"""Reads turns and sessions of one user at a time from the log, so a turn is seen as soon as it is recorded."""

from __future__ import annotations

import psycopg

from events.access.principal import Reach
from events.platform.database import Row
from events.platform.sql import statement
from events.resources.sessions import Session
from events.resources.turns import RecordedTurn
from events.store import log
from events.types.envelope import Event, partition_of
from events.types.metadata import metadata_of
from events.types.turn_contract import part_of_key, turn_key
from events.types.turns import TurnRecorded
from retrieval.pool.connections import Pool, rows_of

_PACKAGE = "retrieval.sessions"


class SessionReader:
    """Reads what is in reach of a key. Erased turns are absent. ``pool`` must be of the primary.

    A mode is known from the cards of a turn. A key that is limited to modes therefore sees a turn when all cards of
    the turn are in reach, and no turn without cards. Methods raise psycopg.Error when Postgres is away.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def turn(self, owner: str, turn_id: str, reach: Reach) -> RecordedTurn | None:
        """Returns a turn by its id, or None."""
        within = await self._within(owner, reach, turn_id)
        rows = await self._rows(owner, "turn", key=turn_key(turn_id))
        turn = _turn(log.event_if_readable(rows[0])) if rows else None
        if turn is None or not _of_project(reach, turn.project_id):
            return None
        return turn if within is None or turn_id in within else None

    async def turns(
        self, owner: str, project_id: str, session_id: str, reach: Reach, *, below: int | None, limit: int
    ) -> tuple[list[RecordedTurn], int | None]:
        """Returns turns of a session below a version, the latest first, and the version that the next page is below."""
        if not _of_project(reach, project_id):
            return [], None
        within = await self._within(owner, reach)
        stream = f"session/{part_of_key(project_id)}/{part_of_key(session_id)}"
        found: list[RecordedTurn] = []
        last = below
        while True:
            rows = await self._rows(owner, "turns", stream=stream, turns=within, below=below, limit=limit + 1)
            for event in map(log.event_if_readable, rows):
                below = event.version
                if (turn := _turn(event)) is None:
                    continue
                if len(found) == limit:
                    return found, last
                found.append(turn)
                last = below
            if len(rows) <= limit:
                return found, None

    async def sessions(
        self, owner: str, project_id: str | None, reach: Reach, *, below: int | None, limit: int
    ) -> tuple[list[Session], int | None]:
        """Returns sessions below a position of the log, the latest spoken in first, and where the next page begins."""
        if project_id is not None and not _of_project(reach, project_id):
            return [], None
        projects = reach.projects if project_id is None else [project_id]
        rows = await self._rows(
            owner,
            "sessions",
            projects=None if projects is None else [part_of_key(each) for each in projects],
            turns=await self._within(owner, reach),
            below=below,
            limit=limit + 1,
        )
        following = rows[limit - 1]["position"] if len(rows) > limit else None
        found = []
        for row in rows[:limit]:
            counted = {name: row.pop(name) for name in ("first_said_at", "last_said_at", "turns")}
            turn = _turn(log.event_if_readable(row))
            if turn is not None:
                found.append(Session(session_id=turn.session_id, project_id=turn.project_id, **counted))
        return found, following

    async def _within(self, owner: str, reach: Reach, turn_id: str | None = None) -> list[str] | None:
        """Returns the turns in the modes of a key, of all turns or of one. None: the key has no such limit."""
        if reach.modes is None:
            return None
        values = {"modes": sorted(reach.modes), "turn_id": turn_id}
        try:
            return [row["turn_id"] for row in await self._rows(owner, "reached_turns", **values)]
        except psycopg.errors.UndefinedTable:
            return []  # nothing is folded yet

    async def _rows(self, owner: str, name: str, **values: object) -> list[Row]:
        named = {"user_id": owner, "partition": partition_of(owner), **values}
        return await rows_of(self._pool, owner, statement(_PACKAGE, name), named)


def _of_project(reach: Reach, project_id: str) -> bool:
    return reach.projects is None or project_id in reach.projects


def _turn(event: Event) -> RecordedTurn | None:
    """Returns the turn of an event. None: it was erased, or this build cannot read it."""
    turn = event.payload
    if not isinstance(turn, TurnRecorded):
        return None
    return RecordedTurn.made_from(turn, metadata=metadata_of(turn.metadata), recorded_at=event.recorded_at)
