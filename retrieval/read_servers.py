"""Chooses the Postgres server of each question: a replica that is fresh enough, else the primary."""

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
from psycopg.rows import TupleRow

from events.http.database import is_gone
from events.http.tokens import Awaited
from events.platform.database import statement
from events.platform.failures import bounded, in_a_line
from retrieval.cards.reader import CardReader
from retrieval.freshness import Arrival, Arrivals
from retrieval.pool import Pool
from retrieval.recall.recall import Recall

logger = logging.getLogger(__name__)

_LOOK_EVERY_S = 0.25
_PRIMARY_WITHIN_S = 2.0
_REPLICA_WITHIN_S = 0.25
_LEAST_WAIT_S = 0.25  # on the primary, after a wait on a replica
_USERS_THAT_FILL = 8  # one user may take an eighth of the places for waiting reads
_RESTS_S = 1.0  # a failed replica gets no question for 1 s, so that not every question waits for it


@dataclass(frozen=True, slots=True)
class ReadServer:
    """One Postgres server with its pool, its recall and its card reader."""

    name: str
    pool: Pool
    recall: Recall
    reader: CardReader


@dataclass(frozen=True, slots=True)
class ServerSelection:
    """The chosen server, with warnings for the answer.

    ``fresh``: the server's cards hold the awaited events. ``waited``: there was a free place to wait.
    """

    server: ReadServer
    warnings: tuple[str, ...] = ()
    fresh: bool = True
    waited: bool = True


class ReadServers:
    """Chooses a server for each question: the replicas in turn, and the primary when no replica is fresh enough.

    A replica is fresh enough when it shows everything that was committed ``staleness_s`` seconds ago. Each question
    checks this on the replica. While the primary is away, a replica of any age answers, with a warning.
    At most ``most_waits`` reads of this process wait for tokens at the same time.
    """

    def __init__(
        self,
        primary: ReadServer,
        replicas: Sequence[ReadServer] = (),
        *,
        staleness_s: float = 5.0,
        watch: Pool | None = None,
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
        self._arrivals = {server.name: Arrivals(server.pool) for server in (primary, *self.replicas)}
        self._most_waits = most_waits
        self._waits: Counter[str] = Counter()

    async def open(self) -> None:
        """Opens all pools without waiting for a connection. With replicas it starts to watch the primary."""
        for server in (self.primary, *self.replicas):
            await server.pool.open(wait=False)
            await server.recall.open()
        if self.replicas:
            if self._watch_pool is not self.primary.pool:
                await self._watch_pool.open(wait=False)
            self._watching = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """Closes all pools and stops all background tasks."""
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
        """Returns the server for a question. With replicas this costs one short query to a replica."""
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
                (
                    f"the primary is away ({self._primary_away}): {stale.name} answers, and its data may be old",
                ),
            )
        return ServerSelection(self.primary, (f"answered by the primary: {'; '.join(reasons)}",))

    async def choose_fresh(
        self, user_id: str, awaited: Awaited, within_s: float, *, vectors: bool = False
    ) -> ServerSelection:
        """Returns a server whose cards hold the awaited events. Waits for them up to ``within_s`` seconds.

        With ``vectors`` it also waits for the vectors of those cards. It waits on the server that will answer. When a
        replica does not get the events in time, or goes away, the primary answers. ``most_waits`` reads may wait at
        once, and an eighth of them for one user. A read beyond that gets a warning and does not wait.
        Raises psycopg's errors of the primary, and errors of a replica that is not away.
        """
        most_of_one = max(1, self._most_waits // _USERS_THAT_FILL)
        if self._waits.total() >= self._most_waits or self._waits[user_id] >= most_of_one:
            choice = await self.choose()
            why = f"{self._waits.total()} reads of this process already wait for tokens"
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
                why = f"{choice.server.name} did not get the awaited turns within {within_s * 1000:.0f} ms"
            except (psycopg.Error, TimeoutError) as error:
                if not is_gone(error):
                    raise
                why = self.rest(choice.server, error)
            choice = ServerSelection(self.primary, (*choice.warnings, f"answered by the primary: {why}"))
        left = max(_LEAST_WAIT_S, until - time.monotonic())
        found = await self._arrived(self.primary, user_id, awaited, left, vectors)
        return ServerSelection(choice.server, (*choice.warnings, *_shortcomings(found, vectors)), found.cards)

    async def _arrived(
        self, server: ReadServer, user_id: str, awaited: Awaited, within_s: float, vectors: bool
    ) -> Arrival:
        return await self._arrivals[server.name].of(user_id, awaited, within_s, vectors=vectors)

    def rest(self, server: ReadServer, error: BaseException) -> str:
        """Records that ``server`` is away, so that it gets no question for a while. Returns the reason as text.

        Call it only for an error that means "away" (:func:`events.http.database.is_gone`), not for an error that the
        question itself caused.
        """
        reason = str(error).strip().splitlines()
        why = f"is away: {reason[0] if reason else type(error).__name__}"
        self._rests[server.name] = (time.monotonic() + _RESTS_S, why)
        return f"{server.name} {why}"

    async def _refused(self, replica: ReadServer) -> tuple[str | None, bool]:
        """Returns (reason why ``replica`` may not answer or None, true when the replica responds)."""
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
                found = f"cannot report its freshness: {in_a_line(str(error))}"
        self._tell(replica, found)
        return found, answers

    def _judged(self, row: TupleRow) -> str | None:
        in_recovery, replayed = row
        if not in_recovery or replayed is None:
            return "is not a replica: it accepts writes"
        age = self._clock.age(replayed, time.monotonic())
        if age is None:
            return f"is more than {self._staleness_s:g} s behind, or its age is not known yet"
        if age > self._staleness_s:
            return f"is {age:.1f} s behind, more than {self._staleness_s:g}"
        return None

    def _tell(self, replica: ReadServer, why: str | None) -> None:
        """Logs each change of a replica's fitness once."""
        if why is not None and replica.name not in self._unfit:
            self._unfit.add(replica.name)
            logger.warning("%s %s; other servers answer questions", replica.name, why)
        elif why is None and replica.name in self._unfit:
            self._unfit.remove(replica.name)
            logger.info("%s answers questions again", replica.name)

    async def _watch(self) -> None:
        while True:
            # The time is taken before the query: everything committed by now is below the position it returns.
            at = time.monotonic()
            try:
                (end,) = await self._ask(self._watch_pool, "wal_end", _PRIMARY_WITHIN_S)
                self._clock.note(at, end)
                self._primary_away = None
            except (psycopg.Error, TimeoutError) as error:
                reason = str(error).strip().splitlines()
                self._primary_away = reason[0] if reason else type(error).__name__
            await asyncio.sleep(_LOOK_EVERY_S)

    async def _ask(self, pool: Pool, name: str, within_s: float) -> TupleRow:
        """Returns the row of a statement. Raises TimeoutError without waiting for the cancel of a hanging query."""

        async def look() -> tuple[object, ...]:
            async with pool.without_tenant(within_s) as connection:
                cursor = await connection.execute(statement("retrieval", name))
                row = await cursor.fetchone()
                assert row is not None
                return tuple(row)

        return await bounded(within_s, look())


def _shortcomings(found: Arrival, vectors: bool) -> tuple[str, ...]:
    """Returns a warning when the cards are there and their awaited vectors are missing."""
    if found.cards and vectors and not found.vectors:
        return (
            "wait_for: the vectors of the cards are not stored yet: the semantic channel may not find the cards",
        )
    return ()


class WalClock:
    """Remembers the ends of the primary's write-ahead log, with their times by this process's clock.

    A replica that has replayed up to a remembered end shows everything that was committed by that time. The reported
    age is therefore never too low. This also holds while the primary writes nothing, while the replica has lost the
    primary, and while nobody reads the end of the primary's log.
    """

    def __init__(self, keep_s: float) -> None:
        self._keep_s = keep_s
        self._ends: deque[tuple[float, int]] = deque()

    def note(self, at: float, end: int) -> None:
        """Records that the log had reached ``end`` (a position in bytes) when it was read after ``at`` (seconds).

        Calls must be in the order of ``at``.
        """
        self._ends.append((at, end))
        while self._ends[0][0] < at - self._keep_s:
            self._ends.popleft()

    def age(self, replayed: int, now: float) -> float | None:
        """Returns the age in seconds of the data at position ``replayed``, or None when it is older than known.

        Every commit that is older than this age is visible at ``replayed``.
        """
        for at, end in reversed(self._ends):
            if end <= replayed:
                return max(0.0, now - at)
        return None
