"""Reads the modes of a user from the log, for one recall or one request."""

from collections.abc import Mapping

from psycopg.rows import dict_row

from events.modes.mode_log import REGISTRY, registries_in, registry_parameters
from events.modes.registry import NOTHING, SEPARATOR, Modes
from events.platform.database import Row, statement
from events.resources.modes import ReembeddingProgress
from events.store import log
from events.types.envelope import partition_of
from events.types.modes import STREAM, ModeReembedded
from retrieval.pool import Pool

_NONE: Row = {
    "project_id": None, "state": "none", "reembedding_id": None, "requested_at": None, "done_at": None, "cards": 0,
    "share": 0.0,
}  # fmt: skip
"""The progress of a re-embedding that nobody asked for."""


class ModeReader:
    """Reads the modes of one user at a time. ``everybody`` are the modes of the installation, with their models.

    A declaration is seen at once, whatever the projectors' lag is. Methods raise psycopg.Error when Postgres is away.
    """

    def __init__(self, pool: Pool, everybody: Mapping[str, str]) -> None:
        self._pool = pool
        self._everybody = everybody
        self.nobodys = Modes(NOTHING, everybody)
        """The modes of a user who has none."""

    @property
    def closed(self) -> bool:
        """True when the installation declares modes, so that a question may name only declared ones."""
        return bool(self._everybody)

    async def of(self, owner: str, within_s: float = 2.0) -> Modes:
        """Returns the modes of a user. Waits up to ``within_s`` seconds for a connection."""
        async with (
            self._pool.connected(owner, within_s) as connection,
            connection.cursor(row_factory=dict_row) as cursor,
        ):
            await cursor.execute(REGISTRY, registry_parameters([owner]))
            found = dict(registries_in(await cursor.fetchall()))
        return Modes(found.get(owner, NOTHING), self._everybody)

    async def reembedding(
        self, owner: str, modes: Modes, project_id: str | None, name: str
    ) -> ReembeddingProgress:
        """Returns the progress of the last re-embedding of a mode."""
        meant = modes.meaning(project_id or "", name)
        names = {each.rpartition(SEPARATOR)[2] for each in modes.names_of([meant])}
        found: Row = {**_NONE, "mode": meant, "project_id": project_id}
        async with (
            self._pool.listing(owner) as connection,
            connection.cursor(row_factory=dict_row) as cursor,
        ):
            asked = {"partition": partition_of(owner), "user_id": owner, "stream": STREAM}
            await cursor.execute(statement("retrieval", "reembedding_requests"), asked)
            events = map(log.event_if_readable, await cursor.fetchall())
            last = next(
                (
                    event
                    for event in events
                    if isinstance(event.payload, ModeReembedded)
                    and (event.payload.name in names and event.payload.project_id == project_id)
                ),
                None,
            )
            if last is None:
                return ReembeddingProgress(**found)
            found |= {"state": "waiting", "reembedding_id": last.event_id, "requested_at": last.recorded_at}
            await cursor.execute(statement("retrieval", "reembeddings_there"))
            there = await cursor.fetchone()
            if there is None or not there["exists"]:
                return ReembeddingProgress(**found)
            await cursor.execute(
                statement("retrieval", "reembedding"), {"user_id": owner, "event_id": last.event_id}
            )
            if (row := await cursor.fetchone()) is not None:
                found |= _progress(row)
        return ReembeddingProgress(**found)

    async def recent(self, owner: str, session_id: str, within_s: float = 2.0) -> tuple[str, str] | None:
        """Returns (project, mode) of the latest card of a session that has a mode, or None."""
        async with self._pool.listing(owner, within_s) as connection:
            cursor = await connection.execute(
                statement("retrieval", "recent_mode"), {"user_id": owner, "session_id": session_id}
            )
            return await cursor.fetchone()


def _progress(row: Row) -> dict[str, object]:
    """Returns the fields of a re-embedding that a worker began, or may begin."""
    done = row["done_at"] is not None
    state = "done" if done else "running" if row["share"] else "waiting"
    return {**row, "state": state, "share": 1.0 if done else round(row["share"], 3)}
