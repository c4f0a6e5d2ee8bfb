"""Read your own writes: waits until the turns or the command of a token are in the cards."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from events.health.heartbeat import UNSEEN_S
from events.http.tokens import Awaited
from events.platform.database import statement
from events.platform.failures import RETRY_S, retry_on_lost_connection
from events.platform.isolation import is_the_datas_fault
from events.types.envelope import partition_of
from events.types.tenancy import tenant_of
from projectors.backlog import FALLING_BEHIND
from retrieval.pool import Pool

VECTORS_WITHIN_S = 2.0
"""The longest wait for the vectors after the cards are there. Other channels find a card without its vector."""

_LOOK_EVERY_S = 0.02


@dataclass(frozen=True, slots=True)
class Arrival:
    """Tells if the awaited events are in the ``cards``, and if their ``vectors`` are stored."""

    cards: bool
    vectors: bool


@dataclass(slots=True, eq=False)
class _Wait:
    """One waiting read.

    ``target`` is the position that the projectors must reach, once it is known. ``since`` is the first position of
    the awaited events.
    """

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

    def look(self, row: TupleRow) -> None:
        """Updates the wait with a row of the statement ``freshness``."""
        turn, extracted, cards, vectors, head, keeps_up = row
        if self.target is None and None not in (turn, extracted) and extracted >= turn:
            # The extractor appends the turn's events together with its checkpoint, so they are at or below this head.
            self.since, self.target = turn, head
        if self.target is None:
            return
        self.found = Arrival(cards is not None and cards >= self.target, False)
        self.vectors_passed = vectors is not None and vectors >= self.target
        if self.found.cards and not self.vectors_passed and (vectors is None or not keeps_up):
            self.vectors_wanted = False  # no worker makes vectors now, or not soon enough
        if self.found.cards and self.cards_at is None:
            self.cards_at = time.monotonic()
            self.changed.set()
        if self.over:
            self.changed.set()

    def look_at_pending(self, theirs: bool, earlier: bool, keeps_up: bool) -> None:
        """Updates the wait. ``theirs`` and ``earlier`` tell if the awaited cards and earlier cards lack a vector."""
        if not theirs or not keeps_up:
            # Deferred earlier cards take longer than any read waits.
            self.vectors_wanted = False
            self.found = Arrival(self.found.cards, not theirs and not earlier)
            self.changed.set()


class Arrivals:
    """Watches the stages of one server for all waiting reads.

    One query every 20 ms serves all of them, so a hundred waiting reads cost no more than one.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._waits: list[_Wait] = []
        self._looking: asyncio.Task[None] | None = None

    async def of(self, user_id: str, awaited: Awaited, within_s: float, *, vectors: bool = False) -> Arrival:
        """Waits up to ``within_s`` seconds until an awaited turn or event is in the cards of ``user_id``.

        ``awaited`` is a turn or the position of an event. With ``vectors`` the call also waits for the vectors of the
        cards, at most 2 s longer than for the cards. It does not wait for vectors while their stage is silent, waits
        itself or reports that it falls behind. It never waits for vectors of the user's earlier cards. Such vectors
        count as missing. Raises psycopg's errors.
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
        """Stops the background query."""
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
        """Updates every wait, or gives it the error. Data at fault fail only the wait that they belong to."""
        try:
            for user_id in {tenant_of(wait.user_id): wait.user_id for wait in waits}.values():
                of_tenant = [wait for wait in waits if tenant_of(wait.user_id) == tenant_of(user_id)]
                await retry_on_lost_connection(self._look_once, user_id, of_tenant)
        except Exception as error:  # every waiting read must get any error
            if len(waits) > 1 and is_the_datas_fault(error):
                for wait in waits:
                    await self._look_for([wait])
                return
            for wait in waits:
                wait.error = error
                wait.changed.set()

    async def _look_once(self, user_id: str, waits: Sequence[_Wait]) -> None:
        """Updates the waits of one tenant, the tenant of ``user_id``."""
        # A server that is away has no connection to give, so a longer wait does not help.
        async with self._pool.connected(user_id, RETRY_S) as connection:
            cursor = await connection.execute(
                statement("retrieval", "freshness"),
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
            # A card that the checkpoint has passed has its vector, or is recorded as waiting for it. The checkpoint is
            # read first, so this second query sees every card that was recorded together with that checkpoint.
            passed = [
                wait for wait in waits if wait.vectors_wanted and wait.vectors_passed and wait.found.cards
            ]
            found = await _pending(connection, passed) if passed else []
        for wait, (theirs, earlier) in zip(passed, found, strict=True):
            wait.look_at_pending(theirs, earlier, keeps_up)


async def _pending(connection: AsyncConnection, waits: Sequence[_Wait]) -> Sequence[TupleRow]:
    """Returns (awaited cards lack a vector, earlier cards lack a vector) for each wait."""
    none = [(False, False)] * len(waits)
    row = await (await connection.execute(statement("events.health", "pending_vectors_exists"))).fetchone()
    if row is None or not row[0]:
        return none
    cursor = await connection.execute(
        statement("retrieval", "without_vector"),
        {
            "users": [wait.user_id for wait in waits],
            "sinces": [wait.since for wait in waits],
            "targets": [wait.target for wait in waits],
        },
    )
    return await cursor.fetchall()
