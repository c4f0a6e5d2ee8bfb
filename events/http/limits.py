"""Limits of requests: the rate of each key and user, the concurrency of each user, and the length of a page."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.types import Scope

from events.access.limiters import RateLimiter
from events.access.principal import Principal
from events.http.body import items_of
from events.http.errors import invalid
from events.http.guard import JSON, too_many
from events.platform.settings import Settings

MOST_USERS = 1_000
"""The most users of one request that count."""
_PAST = 9
"""A question with known_at folds the user's events again, and costs as much as this many further requests."""


_LONG_QUESTION = 4000
"""The characters of a question that cost as much as one further request."""


class RequestLimits:
    """Holds requests to the limits in the settings. A limit of 0 is none.

    The rate counts the cost of requests, over all processes. Concurrency counts requests of this process.
    """

    def __init__(self, settings: Settings) -> None:
        def limiter(rate: int) -> RateLimiter | None:
            return RateLimiter(settings.redis_url, rate, rate * settings.rate_burst_s) if rate else None

        self._rates = {"key": limiter(settings.key_rate), "user": limiter(settings.user_rate)}
        self._most = settings.user_concurrency
        self._page = settings.max_page
        self._running: Counter[str] = Counter()

    @asynccontextmanager
    async def admitted(self, request: Request, principal: Principal) -> AsyncIterator[None]:
        """Holds a place for ``request`` while the context lasts. Raises a 429 problem, or 422 for a too long page."""
        named = _named(request)
        self._check_page(named)
        users = set(users_of(request.scope))
        subjects = [("key", f"key/{principal.tenant}/{principal.key_id}")] if principal.key_id else []
        subjects += [("user", f"user/{principal.tenant}/{user}") for user in sorted(users)]
        held = [subject for kind, subject in subjects if kind == "user" and self._most]
        if any(self._running[subject] >= self._most for subject in held):
            raise too_many("user", f"already has {self._most} requests under way in this process", 1.0)
        cost = _cost(named)
        for kind, subject in subjects:
            if (limiter := self._rates[kind]) is not None and (wait := await limiter.take(subject, cost)):
                raise too_many(kind, "asks faster than its rate allows", wait)
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

    def _check_page(self, named: Iterable[dict[str, object]]) -> None:
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
    names = ("key_rate", "user_rate", "user_concurrency", "max_page")
    if all(getattr(settings, name) == getattr(default, name) for name in names):
        return None
    return RequestLimits(settings)


def users_of(scope: Scope) -> Iterator[str]:
    """Yields the users that a request names in path, query and body, as the app knows them."""
    if isinstance(in_path := scope.get("path_params", {}).get("user_id"), str):
        yield in_path
    try:
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), max_num_fields=MOST_USERS)
    except ValueError:
        pairs = []
    yield from (value for name, value in pairs if name == "user_id")
    for item in items_of(scope.get(JSON)):
        if isinstance(user := item.get("user_id"), str):
            yield user


def _named(request: Request) -> list[dict[str, object]]:
    """Returns the fields of the request: of its query and its path, and of its body or of each item of the body."""
    return [{**request.query_params, **request.path_params}, *items_of(request.scope.get(JSON))]


def _cost(named: list[dict[str, object]]) -> float:
    # Each question of a batch costs as much as a request of its own.
    questions = sum("query" in each for each in named)
    return (len(named) - 1) / 10 + sum(map(cost_of, named), float(max(1, questions)))


def cost_of(asked: Mapping[str, object]) -> float:
    """Returns the cost of a request beyond 1: more for a long page, question or explanation, much for the past."""
    cost = max(_number(asked.get("limit")), _number(asked.get("k"))) / 100
    if isinstance(words := asked.get("query"), str):
        cost += len(words) / _LONG_QUESTION
    return cost + bool(asked.get("explain")) + _PAST * bool(asked.get("known_at"))


def _number(value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) else 0
