"""Requests of a principal of the test's choice, without keys."""

from starlette.types import ASGIApp, Receive, Scope, Send

from events.access.principal import ANYBODY, Principal
from events.http.guard import PRINCIPAL


class As:
    """The service as ``principal`` asks it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.principal: Principal = ANYBODY

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app({**scope, PRINCIPAL: self.principal}, receive, send)
