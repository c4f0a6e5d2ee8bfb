"""Records every request that reads or changes memory in the audit log, whatever its outcome."""

import asyncio
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Literal
from uuid import UUID

from fastapi import Request
from fastapi.routing import APIRoute
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.datastructures import MutableHeaders
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from events.access.audit import OUTCOMES, Entry, Outcome
from events.access.audit_writer import AuditAwayError, AuditWriter
from events.access.principal import NotYoursError, Principal
from events.http.errors import ProblemError
from events.http.guard import PRINCIPAL
from events.http.limits import MOST_USERS, users_of
from events.platform.settings import Settings, revealed
from events.types.envelope import uuid7
from events.types.tenancy import DEFAULT_TENANT, storage_id

Service = Literal["write", "read", "embed"]

REQUEST_ID = "cardlog.request_id"
"""The key of the request's id in the ASGI scope. The answer names the id in the header ``x-request-id``."""

_UNRECORDED = frozenset(
    ("health", "readiness", "metrics", "channels", "explorer", "renew_session", "sign_out")
)
"""Operations that touch nobody's memory."""
_COMMITTED_WITHIN_S = 5.0


class AuditLog(Collector):
    """The audit log of one service: its writer, its mode and its metrics.

    With the mode ``on``, requests never wait for the audit log. With ``strict``, an entry with the outcome ``begun``
    is committed before a request acts, and the answer is 503 when that fails.
    """

    def __init__(self, settings: Settings, service: Service) -> None:
        self.service = service
        self.strict = settings.audit == "strict"
        self.writer = AuditWriter(revealed(settings.database_url), service)

    async def begin(self, request: Request) -> None:
        """Commits the entry of a request that has not acted yet. Raises a 503 problem when that fails."""
        operation = operation_of(request.scope, request.app.router.routes)
        if operation is None:
            return
        done = self.writer.commit(self.entry(request.scope, operation, None, begun=True))
        try:
            await asyncio.wait_for(asyncio.wrap_future(done), _COMMITTED_WITHIN_S)
        except (AuditAwayError, TimeoutError) as error:
            raise ProblemError(
                503,
                "Audit unavailable",
                "the audit log cannot be written now, and CARDLOG_AUDIT=strict allows no request without it; "
                "try again later",
            ) from error

    def entry(self, scope: Scope, operation: str, status: int | None, *, begun: bool = False) -> Entry:
        """Returns the entry of a request with the answer ``status``; None: the client left before the answer."""
        principal: Principal | None = scope.get(PRINCIPAL)
        users, foreign = _users(scope, principal)
        request_id: UUID = scope[REQUEST_ID]
        return Entry(
            service=self.service,
            operation=operation,
            outcome="begun" if begun else _outcome(status, foreign=foreign),
            users=users,
            principal=principal,
            method=scope["method"],
            status=status,
            request_id=request_id,
        )

    def collect(self) -> Iterable[Metric]:
        """Yields the metrics. Their labels hold neither users nor keys."""
        written = CounterMetricFamily(
            "cardlog_audit_entries", "audit entries written, by outcome", labels=["outcome"]
        )
        for outcome in OUTCOMES:
            written.add_metric([outcome], self.writer.written[outcome])
        yield written
        yield CounterMetricFamily(
            "cardlog_audit_lost", "audit entries that could not be written", value=self.writer.lost
        )
        yield GaugeMetricFamily(
            "cardlog_audit_waiting", "audit entries that wait to be written", value=self.writer.waiting
        )


def audit_of(settings: Settings, service: Service) -> AuditLog | None:
    """Returns the audit log of a service; None when ``settings`` turn it off."""
    return None if settings.audit == "off" else AuditLog(settings, service)


class AuditMiddleware:
    """Stands before the guard, so that the requests that the guard refuses are recorded, too."""

    def __init__(self, app: ASGIApp, log: AuditLog, routes: Sequence[BaseRoute]) -> None:
        self._app = app
        self._log = log
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            try:
                await self._app(scope, receive, send)
            finally:
                await asyncio.to_thread(self._log.writer.stop)
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope[REQUEST_ID] = uuid7()  # a client cannot choose the id
        status: int | None = None

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["x-request-id"] = str(scope[REQUEST_ID])
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except Exception:
            status = 500
            raise
        finally:
            operation = operation_of(scope, self._routes)
            if operation is not None:
                self._log.writer.put(self._log.entry(scope, operation, status))


def operation_of(scope: Scope, routes: Sequence[BaseRoute]) -> str | None:
    """Returns the operation id of the route of a request; None when the request touches nobody's memory."""
    route: object = scope.get("route")
    if route is None:  # the guard refused the request, or no route fits
        for each in routes:
            match, found = each.matches(scope)
            if match is Match.FULL:
                route = each
                scope["path_params"] = found.get("path_params", {})
                break
    if not isinstance(route, APIRoute) or scope["method"] not in (route.methods or ()):
        return None
    return None if route.operation_id in _UNRECORDED else route.operation_id


def _outcome(status: int | None, *, foreign: bool) -> Outcome:
    if status is None or status >= 500:
        return "failed"
    if status in {401, 403} or (foreign and status >= 400):
        return "denied"
    return "refused" if status >= 400 else "allowed"


def _users(scope: Scope, principal: Principal | None) -> tuple[tuple[str, ...], bool]:
    """Returns the storage ids of the users that the request names, and whether a user is not the principal's."""
    found: dict[str, None] = {}
    foreign = False
    for name in islice(users_of(scope), MOST_USERS):
        try:
            found[name if principal is None else principal.storage_id(name)] = None
        except NotYoursError:
            foreign = True
            found[storage_id(DEFAULT_TENANT if principal is None else principal.tenant, name)] = None
    return tuple(found), foreign
