"""Token buckets: how much a key or a user may ask for in a second, over all processes together."""

from __future__ import annotations

import logging
import math
import time
from functools import cache
from hashlib import sha256
from importlib.resources import files

from cachetools import LRUCache

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
