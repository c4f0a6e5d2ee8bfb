"""Limits of requests: rate and concurrency for each key and each user, and the length of a page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from starlette.requests import Request

from events.access.principal import Principal
from events.access.rate_limiter import RateLimiter
from events.http.guard import JSON
from events.http.problem import ProblemError, invalid
from events.platform.settings import Settings

_PAST = 9
"""A question with known_at folds the user's events again, and costs as much as this many further requests."""


class RequestLimits:
    """Holds requests to the limits in the settings. A limit of 0 is none.

    The rate counts the cost of requests, over all processes. Concurrency counts requests of this process.
    """

    def __init__(self, settings: Settings) -> None:
        def limiter(rate: int) -> RateLimiter | None:
            return RateLimiter(settings.redis_url, rate, rate * settings.rate_burst_s) if rate else None

        self._rates = {"key": limiter(settings.key_rate), "user": limiter(settings.user_rate)}
        self._most = {"key": settings.key_concurrency, "user": settings.user_concurrency}
        self._page = settings.max_page
        self._running: Counter[str] = Counter()

    @asynccontextmanager
    async def admitted(self, request: Request, principal: Principal) -> AsyncIterator[None]:
        """Holds a place for ``request`` while the context lasts. Raises a 429 problem, or 422 for a too long page."""
        named = _named(request)
        self._check_page(named)
        users = {each["user_id"] for each in named if isinstance(each.get("user_id"), str)}
        subjects = [("key", f"key/{principal.tenant}/{principal.key_id}")] if principal.key_id else []
        subjects += [("user", f"user/{principal.tenant}/{user}") for user in sorted(users)]
        for kind, subject in subjects:
            most = self._most[kind]
            if most and self._running[subject] >= most:
                raise _too_many(kind, f"already has {most} requests under way in this process", 1.0)
        cost = _cost(named)
        for kind, subject in subjects:
            if (limiter := self._rates[kind]) is not None and (wait := await limiter.take(subject, cost)):
                raise _too_many(kind, "asks faster than its rate allows", wait)
        held = [subject for kind, subject in subjects if self._most[kind]]
        self._running.update(held)
        try:
            yield
        finally:
            self._running.subtract(held)
            for subject in held:
                if not self._running[subject]:
                    del self._running[subject]

    async def close(self) -> None:
        """Closes the connections to Redis."""
        for limiter in filter(None, self._rates.values()):
            await limiter.close()

    def _check_page(self, named: Iterable[dict[str, Any]]) -> None:
        for each in named:
            for field in ("limit", "k"):
                if (asked := _number(each.get(field))) > self._page:
                    raise invalid(
                        field,
                        f"is {asked}; this service gives at most {self._page} at a time (CARDLOG_MAX_PAGE)",
                    )


def limits_of(settings: Settings) -> RequestLimits | None:
    """Returns the limits in ``settings``; None when no limit is set, so that no request pays for one."""
    default = Settings()
    names = ("key_rate", "user_rate", "key_concurrency", "user_concurrency", "max_page")
    if all(getattr(settings, name) == getattr(default, name) for name in names):
        return None
    return RequestLimits(settings)


def _named(request: Request) -> list[dict[str, Any]]:
    """Returns the fields of the request: of its query and its path, and of its body or of each item of the body."""
    body = request.scope.get(JSON)
    items = body if isinstance(body, list) else [body]
    return [
        {**request.query_params, **request.path_params},
        *(each for each in items if isinstance(each, dict)),
    ]


def _cost(named: list[dict[str, Any]]) -> float:
    """Returns the cost of a request: 1, more for many turns or a long page, much more for a question of the past."""
    cost = 1.0 + (len(named) - 1) / 10
    for each in named:
        cost += max(_number(each.get("limit")), _number(each.get("k"))) / 100
        cost += _PAST * bool(each.get("known_at"))
    return cost


def _number(value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) else 0


def _too_many(kind: str, why: str, wait_s: float) -> ProblemError:
    whose = "this API key" if kind == "key" else "this user"
    return ProblemError(
        429,
        "Too many requests",
        f"{whose} {why}; try again after the seconds in Retry-After",
        headers={"retry-after": str(max(1, math.ceil(wait_s)))},
    )
