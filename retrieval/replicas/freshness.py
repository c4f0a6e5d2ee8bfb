"""Reading one's own writes by waiting: until the turns or the command behind a token have become cards."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg

from events.health.heartbeat import UNSEEN_S
from events.http.tokens import Awaited
from events.platform.isolation import is_the_datas_fault
from events.platform.sql import statement
from events.types.envelope import partition_of
from projectors.runner.backlog import FALLING_BEHIND
from retrieval.pool.connections import Pool, ReadConnection, connected
from retrieval.pool.reconnect import WITHIN_S, retry_on_lost_connection

VECTORS_WITHIN_S = 2.0
"""Words find a card without its vector, so the vector is not waited for any longer, once the card is there."""

_LOOK_EVERY_S = 0.02


@dataclass(frozen=True, slots=True)
class Arrival:
    """How far what was waited for has come: into the ``cards``, and into their ``vectors``."""

    cards: bool
    vectors: bool


@dataclass(slots=True, eq=False)
class _Wait:
    """One who waits. ``target`` is the position up to which the projectors must have come, once it is known, and
    ``since`` the position from which on events are those waited for."""

    user_id: str
    partition: int
    key: str
    since: int | None
    target: int | None
    vectors_wanted: bool
    vectors_passed: bool = False
    found: Arrival = Arrival(False, False)
    cards_at: float | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    error: BaseException | None = None

    @property
    def over(self) -> bool:
        return self.error is not None or (
            self.found.cards and (self.found.vectors or not self.vectors_wanted)
        )

    def look(self, row: Sequence[Any]) -> None:
        """Take in how far the stages have come."""
        turn, extracted, cards, vectors, head, keeps_up = row
        if self.target is None and None not in (turn, extracted) and extracted >= turn:
            # What the extractor made of the turn was appended together with its checkpoint: it is below this head.
            self.since, self.target = turn, head
        if self.target is None:
            return
        self.found = Arrival(cards is not None and cards >= self.target, False)
        self.vectors_passed = vectors is not None and vectors >= self.target
        if self.found.cards and not self.vectors_passed and (vectors is None or not keeps_up):
            self.vectors_wanted = False  # nobody makes them here, or not soon
        if self.found.cards and self.cards_at is None:
            self.cards_at = time.monotonic()
            self.changed.set()
        if self.over:
            self.changed.set()

    def look_at_pending(self, theirs: bool, earlier: bool, keeps_up: bool) -> None:
        """Take in whether cards still wait for their vector: of those waited for, and of the user's earlier ones."""
        if not theirs or not keeps_up:
            # Earlier ones, put off because there were too many, take longer than anybody waits.
            self.vectors_wanted = False
            self.found = Arrival(self.found.cards, not theirs and not earlier)
            self.changed.set()


class Arrivals:
    """Watches the stages for everybody who waits, on one server.

    Looks once for all of them, every 20 ms while there is anybody: a hundred that wait cost no more than one.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._waits: list[_Wait] = []
        self._looking: asyncio.Task[None] | None = None

    async def of(self, user_id: str, awaited: Awaited, within_s: float, *, vectors: bool = False) -> Arrival:
        """Wait until a turn is recorded, extracted and folded into cards, or the event at a position is folded; and,
        where ``vectors`` are wanted, for those of its cards, at most 2 s longer.

        Vectors are not waited for where their stage is silent, waits itself or says that it falls behind, nor those of
        earlier cards of the user; they count as not there. Raises what psycopg raises.
        """
        wait = _Wait(
            user_id,
            partition_of(user_id),
            f"turn/{awaited}",
            since=awaited if isinstance(awaited, int) else None,
            target=awaited if isinstance(awaited, int) else None,
            vectors_wanted=vectors,
        )
        until = time.monotonic() + within_s
        self._waits.append(wait)
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        try:
            while not wait.over:
                last = until if wait.cards_at is None else min(until, wait.cards_at + VECTORS_WITHIN_S)
                wait.changed.clear()
                try:
                    async with asyncio.timeout(max(0.0, last - time.monotonic())):
                        await wait.changed.wait()
                except TimeoutError:
                    if wait.cards_at is None or time.monotonic() >= min(
                        until, wait.cards_at + VECTORS_WITHIN_S
                    ):
                        break
        finally:
            self._waits.remove(wait)
        if wait.error is not None:
            raise wait.error
        return wait.found

    async def close(self) -> None:
        """Stop looking."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def _look(self) -> None:
        try:
            while waits := [wait for wait in self._waits if not wait.over]:
                await self._look_for(waits)
                await asyncio.sleep(_LOOK_EVERY_S)
        finally:
            self._looking = None

    async def _look_for(self, waits: Sequence[_Wait]) -> None:
        """Tell each how far it has come, or why that cannot be told. Where the data of one are to blame, only that
        one is told so."""
        try:
            await retry_on_lost_connection(self._look_once, waits)
        except Exception as error:  # whatever it is, those who wait must be told
            if len(waits) > 1 and is_the_datas_fault(error):
                for wait in waits:
                    await self._look_for([wait])
                return
            for wait in waits:
                wait.error = error
                wait.changed.set()

    async def _look_once(self, waits: Sequence[_Wait]) -> None:
        # A server that went away has no connection to give, however long one waits.
        async with connected(self._pool, WITHIN_S) as connection:
            cursor = await connection.execute(
                statement("retrieval.replicas", "freshness"),
                {
                    "partitions": [wait.partition for wait in waits],
                    "users": [wait.user_id for wait in waits],
                    "keys": [wait.key for wait in waits],
                    "unseen_s": UNSEEN_S,
                    "falling": f"{FALLING_BEHIND}%",
                },
            )
            rows = await cursor.fetchall()
            for wait, row in zip(waits, rows, strict=True):
                wait.look(row)
            keeps_up = any(row[-1] for row in rows)
            # A card that the checkpoint passed has its vector or is put down as waiting for it. The checkpoint was
            # looked at first, so a card put down together with it cannot be overlooked here.
            passed = [
                wait for wait in waits if wait.vectors_wanted and wait.vectors_passed and wait.found.cards
            ]
            found = await _pending(connection, passed) if passed else []
        for wait, (theirs, earlier) in zip(passed, found, strict=True):
            wait.look_at_pending(theirs, earlier, keeps_up)


async def _pending(connection: ReadConnection, waits: Sequence[_Wait]) -> Sequence[Sequence[Any]]:
    """For each of those who wait whether cards wait for their vector: (those waited for, earlier ones)."""
    none = [(False, False)] * len(waits)
    row = await (await connection.execute(statement("events.health", "pending_vectors_exists"))).fetchone()
    if row is None or not row[0]:
        return none
    try:
        cursor = await connection.execute(
            statement("retrieval.replicas", "without_vector"),
            {
                "users": [wait.user_id for wait in waits],
                "sinces": [wait.since for wait in waits],
                "targets": [wait.target for wait in waits],
            },
        )
    except psycopg.errors.UndefinedTable:
        return none  # a rollback has just put a generation of an older build in its place
    return await cursor.fetchall()
