"""Follows a turn through the stages, from the log to the vectors of its cards."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg

from events.access.principal import Reach
from events.platform.database import Row
from events.platform.sql import statement
from events.resources.turns import RecordedTurn, TurnEvent, TurnStage
from events.store import log
from events.types.envelope import Event, partition_of
from events.types.extraction import ExtractionFailed, TurnsExtracted
from events.types.turn_contract import part_of_key, turn_key
from ingest.extraction.extraction_events import extraction_stream
from retrieval.pool.connections import Pool, rows_of
from retrieval.sessions.reader import SessionReader

_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.05, 0.5
T = TypeVar("T")


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
        self._pool = pool
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
        rows = await self._rows(turn, "extractions", stream=extraction_stream(session), turn=turn.position)
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
        if parked := await self._rows(turn, "parked_reason", turn=turn.position, target=turn.target):
            return turn.event("dead", reason=f"the cards of the user are parked: {parked[0]['reason']}")
        rows = await self._rows(turn, "cards_of_turn", turn_id=turn.turn.turn_id)
        return turn.event("projected", cards=[row["card_id"] for row in rows])

    async def _embedded(self, turn: Followed) -> TurnEvent | None:
        if not _reached((await self._progress(turn))["vectors"], turn.target):
            return None
        [row] = await self._rows(turn, "without_vectors", turn=turn.position, target=turn.target)
        if row["waiting"]:
            return None
        if row["failure"]:
            return turn.event("dead", reason=f"a card cannot be embedded: {row['failure']}")
        return turn.event("embedded")

    async def _progress(self, turn: Followed) -> Row:
        """Returns the position of the turn, and those that the stages have reached."""
        [row] = await self._rows(turn, "progress", key=turn_key(turn.turn.turn_id))
        return row

    async def _rows(self, turn: Followed, name: str, /, **values: object) -> list[Row]:
        named = {"user_id": turn.owner, "partition": partition_of(turn.owner), **values}
        return await rows_of(self._pool, turn.owner, statement("retrieval.sessions", name), named)


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
