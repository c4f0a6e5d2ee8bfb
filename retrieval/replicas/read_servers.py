"""The Postgres servers questions are answered from: the primary, and replicas that are fresh enough."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg_pool import AsyncConnectionPool

from events.http.database import is_gone
from events.http.tokens import Awaited
from events.platform.failures import in_a_line
from events.platform.sql import statement
from retrieval.cards.reader import CardReader
from retrieval.pool.connections import Pool
from retrieval.recall.recall import Recall
from retrieval.replicas.freshness import Arrival, Arrivals
from retrieval.replicas.wal_clock import WalClock

logger = logging.getLogger(__name__)

_LOOK_EVERY_S = 0.25
_PRIMARY_WITHIN_S = 2.0
_REPLICA_WITHIN_S = 0.25
_USERS_THAT_FILL = 8  # it takes so many users to take all the room for waiting
_RESTS_S = 1.0  # a replica that failed is not asked for so long: it must not cost every question a wait


@dataclass(frozen=True, slots=True)
class ReadServer:
    """One server, with all that asks it."""

    name: str
    pool: Pool
    recall: Recall
    reader: CardReader


@dataclass(frozen=True, slots=True)
class ServerSelection:
    """The server to ask, and what whoever asked should know of why.

    ``fresh``: its cards have what was waited for. ``waited``: there was room to wait.
    """

    server: ReadServer
    warnings: tuple[str, ...] = ()
    fresh: bool = True
    waited: bool = True


class ReadServers:
    """Chooses a server for each question: replicas in turn, the primary where none will do.

    A replica will do when it shows everything that was committed ``staleness_s`` ago, which is asked of it each
    time. While the primary is away replicas answer whatever their age, and say so.
    """

    def __init__(
        self,
        primary: ReadServer,
        replicas: Sequence[ReadServer] = (),
        *,
        staleness_s: float = 5.0,
        watch: AsyncConnectionPool[Any] | None = None,
        most_waits: int = 64,
    ) -> None:
        self.primary = primary
        self.replicas = tuple(replicas)
        self._staleness_s = staleness_s
        self._watch_pool = watch or primary.pool
        self._clock = WalClock(keep_s=staleness_s + 2 * _PRIMARY_WITHIN_S)
        self._primary_away: str | None = None
        self._next = 0
        self._rests: dict[str, tuple[float, str]] = {}
        self._unfit: set[str] = set()
        self._watching: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[Any]] = set()
        self._arrivals = {server.name: Arrivals(server.pool) for server in (primary, *self.replicas)}
        self._most_waits = most_waits
        self._waits: Counter[str] = Counter()

    async def open(self) -> None:
        """Open all pools, without waiting for anybody, and begin to watch the primary where there are replicas."""
        for server in (self.primary, *self.replicas):
            await server.pool.open(wait=False)
            await server.recall.open()
        if self.replicas:
            if self._watch_pool is not self.primary.pool:
                await self._watch_pool.open(wait=False)
            self._watching = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """Let go of everything."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
            if self._watch_pool is not self.primary.pool:
                await self._watch_pool.close()
        for server in (self.primary, *self.replicas):
            await self._arrivals[server.name].close()
            await server.recall.close()
            await server.pool.close()

    async def choose(self) -> ServerSelection:
        """A server that will do. Costs one short question to a replica, nothing where there is none."""
        if not self.replicas:
            return ServerSelection(self.primary)
        self._next += 1
        turn = self._next % len(self.replicas)
        stale: ReadServer | None = None
        reasons = []
        for replica in (*self.replicas[turn:], *self.replicas[:turn]):
            why, answers = await self._refused(replica)
            if why is None:
                return ServerSelection(replica)
            stale = stale or (replica if answers else None)
            reasons.append(f"{replica.name} {why}")
        if self._primary_away is not None and stale is not None:
            return ServerSelection(
                stale,
                (f"the primary is away ({self._primary_away}): the answer is {stale.name}'s, however old",),
            )
        return ServerSelection(self.primary, (f"answered by the primary: {'; '.join(reasons)}",))

    async def choose_fresh(
        self, user_id: str, awaited: Awaited, within_s: float, *, vectors: bool = False
    ) -> ServerSelection:
        """A server whose cards have what a token stands for, and their ``vectors`` if those are wanted, waiting
        ``within_s`` for it.

        Waits where it will ask. A replica that has it not by then, or that goes away, leaves the answer to the primary,
        if that has it. So many wait at once and no more, and of one user an eighth of them: the next ones are told.
        """
        most_of_one = max(1, self._most_waits // _USERS_THAT_FILL)
        if self._waits.total() >= self._most_waits or self._waits[user_id] >= most_of_one:
            choice = await self.choose()
            why = f"{self._waits.total()} reads of this process wait for tokens already"
            return ServerSelection(
                choice.server, (*choice.warnings, f"wait_for: not waited for: {why}"), False, False
            )
        self._waits[user_id] += 1
        try:
            return await self._fresh(user_id, awaited, within_s, vectors)
        finally:
            self._waits[user_id] -= 1
            if not self._waits[user_id]:
                del self._waits[user_id]

    async def _fresh(self, user_id: str, awaited: Awaited, within_s: float, vectors: bool) -> ServerSelection:
        until = time.monotonic() + within_s
        choice = await self.choose()
        if choice.server is not self.primary:
            try:
                found = await self._arrived(choice.server, user_id, awaited, within_s, vectors)
                if found.cards:
                    return ServerSelection(choice.server, (*choice.warnings, *_shortcomings(found, vectors)))
                why = f"{choice.server.name} had not got what was waited for within {within_s * 1000:.0f} ms"
            except (psycopg.Error, TimeoutError) as error:
                if not is_gone(error):
                    raise
                why = self.rest(choice.server, error)
            choice = ServerSelection(self.primary, (*choice.warnings, f"answered by the primary: {why}"))
        left = max(_REPLICA_WITHIN_S, until - time.monotonic())
        found = await self._arrived(self.primary, user_id, awaited, left, vectors)
        return ServerSelection(choice.server, (*choice.warnings, *_shortcomings(found, vectors)), found.cards)

    async def _arrived(
        self, server: ReadServer, user_id: str, awaited: Awaited, within_s: float, vectors: bool
    ) -> Arrival:
        return await self._arrivals[server.name].of(user_id, awaited, within_s, vectors=vectors)

    def rest(self, server: ReadServer, error: BaseException) -> str:
        """``server`` is away: ask others for a while. Gives the reason, for people. An error that a question brought
        about is none of the server's (:func:`events.http.database.is_gone`)."""
        reason = str(error).strip().splitlines()
        why = f"is away: {reason[0] if reason else type(error).__name__}"
        self._rests[server.name] = (time.monotonic() + _RESTS_S, why)
        return f"{server.name} {why}"

    async def _refused(self, replica: ReadServer) -> tuple[str | None, bool]:
        """Why ``replica`` will not do, None if it will; and whether it answers at all."""
        rests_until, why = self._rests.get(replica.name, (0.0, ""))
        if time.monotonic() < rests_until:
            return why, False
        answers = False
        try:
            row = await self._ask(replica.pool, "replay_position", _REPLICA_WITHIN_S)
            answers = True
            found = self._judged(row)
        except (psycopg.Error, TimeoutError) as error:
            if is_gone(error):
                self.rest(replica, error)
                found = self._rests[replica.name][1]
            else:
                found = f"cannot tell how fresh it is: {in_a_line(str(error))}"
        self._tell(replica, found)
        return found, answers

    def _judged(self, row: tuple[Any, ...]) -> str | None:
        in_recovery, replayed = row
        if not in_recovery or replayed is None:
            return "is no replica: it takes writes of its own"
        age = self._clock.age(replayed, time.monotonic())
        if age is None:
            return f"is more than {self._staleness_s:g} s behind, or not known to be less"
        if age > self._staleness_s:
            return f"is {age:.1f} s behind, more than {self._staleness_s:g}"
        return None

    def _tell(self, replica: ReadServer, why: str | None) -> None:
        """Log what changed, once."""
        if why is not None and replica.name not in self._unfit:
            self._unfit.add(replica.name)
            logger.warning("%s %s; questions go elsewhere", replica.name, why)
        elif why is None and replica.name in self._unfit:
            self._unfit.remove(replica.name)
            logger.info("%s answers questions again", replica.name)

    async def _watch(self) -> None:
        while True:
            # Before it is asked: what is committed by now is below what it answers.
            at = time.monotonic()
            try:
                (end,) = await self._ask(self._watch_pool, "wal_end", _PRIMARY_WITHIN_S)
                self._clock.note(at, end)
                self._primary_away = None
            except (psycopg.Error, TimeoutError) as error:
                reason = str(error).strip().splitlines()
                self._primary_away = reason[0] if reason else type(error).__name__
            await asyncio.sleep(_LOOK_EVERY_S)

    async def _ask(self, pool: AsyncConnectionPool[Any], name: str, within_s: float) -> tuple[Any, ...]:
        """The row a statement gives; raises TimeoutError, and does not wait for what hangs to be cancelled."""

        async def look() -> tuple[Any, ...]:
            async with pool.connection(timeout=within_s) as connection:
                cursor = await connection.execute(statement("retrieval.replicas", name))
                row = await cursor.fetchone()
                assert row is not None
                return tuple(row)

        asked = asyncio.create_task(look())
        try:
            done, _ = await asyncio.wait({asked}, timeout=within_s)
        finally:
            if not asked.done():
                asked.cancel()
                self._ending.add(asked)
                asked.add_done_callback(self._ended)
        if not done:
            raise TimeoutError(f"it does not answer within {within_s * 1000:.0f} ms")
        return asked.result()

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._ending.discard(task)
        if not task.cancelled():
            task.exception()


def _shortcomings(found: Arrival, vectors: bool) -> tuple[str, ...]:
    """What was not waited for any longer, though the cards are there."""
    if found.cards and vectors and not found.vectors:
        return (
            "wait_for: the vectors of its cards are not there yet: the semantic channel may not find them",
        )
    return ()
