"""Limits of requests: how many run at the same time, and how many come in a second."""

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from cachetools import LRUCache

from events.access.fair_share import ANYONE, Asker, FairShare
from events.platform.streams import REDIS_AWAY, connect_redis_async, ready

logger = logging.getLogger(__name__)

_REST_S = 1.0
"""After an error, Redis is not asked again for this long."""
_TIMEOUT_S = 0.1
_BUCKETS = 20_000


class RateLimiter:
    """Gives ``rate`` units a second to every subject, and up to ``burst`` at once.

    The buckets are in Redis, so all processes share them. Every process also has buckets of its own, which it charges
    too. They decide while Redis is away, or when there is none: a subject then gets the rate once from each process.
    """

    def __init__(self, redis_url: str, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, max(burst, 1.0)
        self._redis = (
            connect_redis_async(redis_url, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S)
            if redis_url
            else None
        )
        self._asked_from = 0.0
        self._local: LRUCache[str, tuple[float, float]] = LRUCache(_BUCKETS)

    async def take(self, subject: str, cost: float) -> float:
        """Takes ``cost`` units of ``subject`` and returns 0, or takes nothing and returns the seconds to wait."""
        now = time.monotonic()
        here = self._take_here(subject, cost, now)
        if self._redis is not None and now >= self._asked_from:
            # Redis must not hold the name of a user.
            name = f"cardlog:rate:{{{sha256(subject.encode()).hexdigest()[:32]}}}"
            try:
                await ready(self._redis)
                wait = await self._redis.eval(
                    _script(), 1, name, str(self._rate), str(self._burst), str(cost)
                )
                return int(wait) / 1000
            except REDIS_AWAY as error:
                logger.warning("rate limits are counted in this process, because Redis is away: %s", error)
                self._asked_from = now + _REST_S
        return here

    def _take_here(self, subject: str, cost: float, now: float) -> float:
        left, at = self._local.get(subject, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._rate)
        cost = min(cost, self._burst)
        wait = 0.0
        if left >= cost:
            left -= cost
        else:
            wait = math.ceil((cost - left) * 1000 / self._rate) / 1000
        self._local[subject] = (left, now)
        return wait

    async def close(self) -> None:
        """Closes the connections to Redis."""
        if self._redis is not None:
            await self._redis.aclose()


@cache
def _script() -> str:
    return files("events.access").joinpath("lua", "take.lua").read_text("utf-8")


_WAITED: ContextVar[float] = ContextVar("waited", default=0.0)
"""The seconds that the present task has waited for the places that it holds."""


_GAPS = 8
"""The mean time between turns follows the last turns, of which this many count most."""


class SaturatedError(RuntimeError):
    """No place became, or would become, free in time. The message gives the numbers and the remedy."""


@dataclass(slots=True, eq=False)
class _Waiting:
    """One request that waits for a place."""

    turn: asyncio.Future[None]
    cost: float
    places: int


@dataclass(slots=True)
class _Standing:
    """Since when each request of an asker had to wait, when one last had its turn, and the mean time between turns."""

    since: float
    turn: float
    gap: float = 0.0

    def turned(self, now: float) -> None:
        self.gap += (now - self.turn - self.gap) / _GAPS
        self.turn = now


class ConcurrencyLimiter:
    """Runs as many requests at the same time as there are places. The others wait for their turn.

    A recall waits for its place before its deadlines begin. Without the limiter all recalls share the processor, every
    channel of every recall misses its deadline, and the work of the channels is lost.

    Nobody holds more than a fair share of the places, so others find a free one at once. A turn goes to the tenant, and
    within it to the key, whose turns have cost least. The lines of one key get turns one after the other, and the
    requests of one line keep the order of their arrival. A request that costs more than 1 takes more places, at most
    half of all.

    A request waits ``within_s`` seconds, less what it waited for other places before. So a burst is answered. If
    all requests of an asker have had to wait for ``standing_s``, more is asked than can be answered. :meth:`admit` then
    refuses a request that would wait for longer than that. Else all would wait as long as they may, most of them in
    vain.
    """

    def __init__(
        self, places: int, within_s: float, what: str = "recalls", *, standing_s: float = math.inf
    ) -> None:
        self._share = FairShare(places)
        self._within_s = within_s
        self._standing_s = standing_s
        self._what = what
        self._lines: dict[Asker, dict[str, deque[_Waiting]]] = {}
        """The lines that are not empty. The first line of an asker has the next turn."""
        self._standing: LRUCache[Asker, _Standing] = LRUCache(_BUCKETS)
        """Those whose last request had to wait."""
        self._spent: dict[Asker | str, float] = {}
        self._pace: dict[str | None, float] = {}

    def asked(self, asker: Asker) -> int:
        """Returns the places that ``asker`` holds and the requests of it that wait."""
        return self._share.held(asker) + self._waiting_of(asker)

    @property
    def waiting(self) -> int:
        """The number of requests that wait."""
        return sum(map(self._waiting_of, self._lines))

    @property
    def saturated(self) -> bool:
        """True when the present request waited for so long that its optional work should be skipped.

        An asker that asks less than the others do waits for less time, and skips nothing.
        """
        return _WAITED.get() * 2 > self._standing_s

    async def admit(self, asker: Asker) -> None:
        """Raises :class:`SaturatedError` if a request would wait for its place in vain, behind others of its asker.

        The refusal comes after ``standing_s``, because a client that is refused at once asks again at once.
        """
        standing = self._standing.get(asker)
        if standing is None or time.monotonic() - standing.since < self._standing_s:
            return
        # The first that waits is always let in: it learns whether the others still take as long.
        waiting = self._waiting_of(asker)
        if waiting and (waiting + 1) * standing.gap > self._standing_s:
            await asyncio.sleep(self._standing_s)
            raise self._refusal(self._standing_s)

    def _waiting_of(self, asker: Asker) -> int:
        return sum(map(len, self._lines.get(asker, {}).values()))

    def _refusal(self, within_s: float) -> SaturatedError:
        return SaturatedError(
            f"no place of {self._share.places} for {self._what} became free in this process within {within_s:g} s, "
            f"and {self.waiting} more wait; ask again later, or run more services"
        )

    @asynccontextmanager
    async def place(self, asker: Asker = ANYONE, cost: float = 1.0, line: str = "") -> AsyncIterator[None]:
        """Holds a place while the context lasts. Raises :class:`SaturatedError` when none is free in time."""
        places = max(1, min(math.ceil(cost - 0.5), self._share.places // 2))
        mine = _Waiting(asyncio.get_running_loop().create_future(), cost, places)
        self._join(asker, line, mine)
        since, waited = time.monotonic(), _WAITED.get()
        try:
            async with asyncio.timeout(max(0.0, self._within_s - waited)):
                await mine.turn
        except BaseException as error:
            if not mine.turn.cancelled():  # the turn came at the same moment
                self._share.give_back(asker, mine.places)
            elif mine in self._lines.get(asker, {}).get(line, ()):
                self._leave(asker, line, mine)
            self._give_turns()
            if isinstance(error, TimeoutError):
                raise self._refusal(self._within_s) from None
            raise
        before = _WAITED.set(waited + time.monotonic() - since)
        try:
            yield
        finally:
            _WAITED.reset(before)
            self._share.give_back(asker, mine.places)
            self._give_turns()

    def _join(self, asker: Asker, line: str, mine: _Waiting) -> None:
        """Puts a request at the end of its line. Nobody saves turns up by not asking."""
        for each, among in ((asker[0], None), (asker, asker[0])):
            self._spent[each] = max(self._spent.get(each, 0.0), self._pace.get(among, 0.0))
        self._lines.setdefault(asker, {}).setdefault(line, deque()).append(mine)
        self._give_turns()
        now = time.monotonic()
        if mine.turn.done():
            self._standing.pop(asker, None)
        else:
            self._standing.setdefault(asker, _Standing(now, now))

    def _leave(self, asker: Asker, line: str, mine: _Waiting) -> None:
        lines = self._lines[asker]
        lines[line].remove(mine)
        if not lines[line]:
            del lines[line]
        if not lines:
            del self._lines[asker]

    def _called(self, asker: Asker) -> _Waiting:
        """Takes the first request out of the next line of ``asker``. The line then waits for the asker's others."""
        line, waiting = next(iter(self._lines[asker].items()))
        following = waiting[0]
        self._leave(asker, line, following)
        if waiting:
            self._lines[asker][line] = self._lines[asker].pop(line)
        return following

    def _give_turns(self) -> None:
        while able := [
            each
            for each, lines in self._lines.items()
            if self._share.admits(each, next(iter(lines.values()))[0].places)
        ]:
            asker = min(able, key=lambda each: (self._spent[each[0]], self._spent[each]))
            following = self._called(asker)
            if following.turn.done():
                continue  # it left at the same moment
            self._share.take(asker, following.places)
            if (standing := self._standing.get(asker)) is not None:
                standing.turned(time.monotonic())
            for each, among in ((asker[0], None), (asker, asker[0])):
                self._pace[among] = self._spent[each]
                self._spent[each] += following.cost
            following.turn.set_result(None)
        if not self._lines:
            self._spent.clear()
            self._pace.clear()
