"""Turns as they were recorded, by id and by session, and the way of a turn through the stages."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg

from events.access.principal import Reach
from events.platform.database import Row, statement
from events.resources.turns import RecordedTurn, Session, TurnEvent, TurnStage
from events.store import log
from events.types.envelope import Event, partition_of
from events.types.extraction import ExtractionFailed, TurnsExtracted
from events.types.metadata import metadata_of
from events.types.turn_contract import part_of_key, turn_key
from events.types.turns import TurnRecorded
from ingest.extraction.extraction_events import extraction_stream
from retrieval.pool import Pool, rows_of

_PACKAGE = "retrieval"
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.05, 0.5
T = TypeVar("T")


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
        rows = await self.rows(owner, "turn", key=turn_key(turn_id))
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
            rows = await self.rows(owner, "turns", stream=stream, turns=within, below=below, limit=limit + 1)
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
        rows = await self.rows(
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
            return [row["turn_id"] for row in await self.rows(owner, "reached_turns", **values)]
        except psycopg.errors.UndefinedTable:
            return []  # nothing is folded yet

    async def rows(self, owner: str, name: str, /, **values: object) -> list[Row]:
        """Returns the rows of a statement about a user."""
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


@dataclass(slots=True)
class Followed:
    """A recorded turn, its position, and the last position of its cards once it is extracted."""

    owner: str
    turn: RecordedTurn
    position: int = 0
    target: int = 0

    def event(self, stage: TurnStage, **more: Any) -> TurnEvent:
        """Returns an event of the turn."""
        return TurnEvent(stage=stage, turn_id=self.turn.turn_id, **more)


class TurnProgress:
    """Tells what becomes of turns. ``pool`` must be of the primary."""

    def __init__(self, pool: Pool) -> None:
        self._reader = SessionReader(pool)

    async def recorded(self, owner: str, turn_id: str, reach: Reach, *, within_s: float) -> Followed | None:
        """Returns a turn to follow. None: it is not recorded within ``within_s`` seconds, or out of reach."""
        until = time.monotonic() + within_s
        while True:
            turn = await self._asked(self._reader.turn(owner, turn_id, reach))
            if turn is not None:
                return Followed(owner, turn)
            if (left := until - time.monotonic()) <= 0:
                return None
            await asyncio.sleep(min(_FIRST_WAIT_S, left))

    async def follow(
        self, turn: Followed, *, within_s: float, heartbeat_s: float
    ) -> AsyncIterator[TurnEvent | None]:
        """Yields an event for each stage that the turn has passed, as soon as it has.

        Yields None after ``heartbeat_s`` seconds without an event. The last event comes within ``within_s`` seconds.
        While Postgres is away, the stream waits.
        """
        until = time.monotonic() + within_s
        yield turn.event("recorded")
        for stage, passed in _STAGES.items():
            wait, told_at = _FIRST_WAIT_S, time.monotonic()
            while (event := await self._asked(passed(self, turn))) is None:
                now = time.monotonic()
                if now >= until:
                    yield turn.event("late", reason=f"the turn is not {stage} within {within_s:.0f} s")
                    return
                if now - told_at >= heartbeat_s:
                    told_at = now
                    yield None
                await asyncio.sleep(min(wait, until - now))
                wait = min(2 * wait, _LONGEST_WAIT_S)
            yield event
            if event.stage == "dead":
                return

    async def _asked(self, answer: Awaitable[T | None]) -> T | None:
        """Returns an answer of Postgres. None: Postgres is away, or no worker has made the tables."""
        try:
            return await answer
        except (psycopg.OperationalError, psycopg.errors.UndefinedTable, TimeoutError):
            return None

    async def _extracted(self, turn: Followed) -> TurnEvent | None:
        progress = await self._progress(turn)
        turn.position = turn.target = progress["turn"]
        session = f"session/{part_of_key(turn.turn.project_id)}/{part_of_key(turn.turn.session_id)}"
        rows = await self._reader.rows(
            turn.owner, "extractions", stream=extraction_stream(session), turn=turn.position
        )
        found = _last_of(turn.position, [log.event_if_readable(row) for row in rows])
        if found is None:
            # Some turns give no extraction, such as the words of a system.
            return turn.event("extracted") if _reached(progress["extracted"], turn.position) else None
        if isinstance(found.payload, ExtractionFailed):
            return turn.event("dead", reason=f"the extractor gave the turn up: {found.payload.reason}")
        assert isinstance(found.payload, TurnsExtracted)
        turn.target = found.position + found.payload.cards
        return turn.event("extracted")

    async def _projected(self, turn: Followed) -> TurnEvent | None:
        if not _reached((await self._progress(turn))["cards"], turn.target):
            return None
        # The checkpoint passes parked events.
        if parked := await self._reader.rows(
            turn.owner, "parked_reason", turn=turn.position, target=turn.target
        ):
            return turn.event("dead", reason=f"the cards of the user are parked: {parked[0]['reason']}")
        rows = await self._reader.rows(turn.owner, "cards_of_turn", turn_id=turn.turn.turn_id)
        return turn.event("projected", cards=[row["card_id"] for row in rows])

    async def _embedded(self, turn: Followed) -> TurnEvent | None:
        if not _reached((await self._progress(turn))["vectors"], turn.target):
            return None
        [row] = await self._reader.rows(turn.owner, "without_vectors", turn=turn.position, target=turn.target)
        if row["waiting"]:
            return None
        if row["failure"]:
            return turn.event("dead", reason=f"a card cannot be embedded: {row['failure']}")
        return turn.event("embedded")

    async def _progress(self, turn: Followed) -> Row:
        """Returns the position of the turn, and those that the stages have reached."""
        [row] = await self._reader.rows(turn.owner, "turn_progress", key=turn_key(turn.turn.turn_id))
        return row


_STAGES = {
    "extracted": TurnProgress._extracted,
    "projected": TurnProgress._projected,
    "embedded": TurnProgress._embedded,
}


def _reached(checkpoint: int | None, position: int) -> bool:
    return checkpoint is not None and checkpoint >= position


def _last_of(position: int, events: Sequence[Event]) -> Event | None:
    """Returns the last extraction of the turn at ``position``. A reextraction stands behind the first one."""
    of_turn = [
        event
        for event in events
        if isinstance(event.payload, TurnsExtracted | ExtractionFailed)
        and position in event.payload.turn_positions
    ]
    return of_turn[-1] if of_turn else None
