"""The Model Context Protocol over HTTP, at ``/mcp/`` of the read service. Every request stands alone."""

from __future__ import annotations

import asyncio
import logging
import re
from functools import partial
from importlib.util import find_spec
from typing import Any, Self

import httpx2
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from events.access.principal import Principal
from events.http.access import principal_of
from events.http.errors import ProblemError
from events.http.service import check_parameters
from events.platform.settings import Settings
from retrieval.http.write_service import WriteService
from retrieval.mcp.memory import Memory

PATHS = ("/mcp/", "/mcp")
_PARAMETERS = {"user_id": str, "project_id": list, "timezone": str}
_DUMP = re.compile(rb'"Validation error: (?:[^"\\]|\\.)*"')
_HERE = "http://localhost"


class McpEndpoint:
    """Serves the protocol as an ASGI app. Use it as an asynchronous context manager.

    A tool asks this service and the write service with the credential of its request, so all their checks apply to it.
    The package of the protocol takes half a second to load, so the first request loads it. The context may be entered
    again after its end.
    """

    methods: tuple[str, ...] = ("POST",)
    """Without sessions there is no stream to GET and no session to DELETE."""

    def __init__(self, settings: Settings, app: ASGIApp, write: WriteService) -> None:
        self._forget = settings.mcp_forget
        self._read = partial(httpx2.AsyncClient, transport=httpx2.ASGITransport(app), base_url=_HERE)
        self._write = write
        self._serving: asyncio.Task[None] | None = None

    @property
    def routes(self) -> list[BaseRoute]:
        return [Route(path, self, methods=self.methods, include_in_schema=False) for path in PATHS]

    async def __aenter__(self) -> Self:
        self._client = self._read()
        self._ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._over = asyncio.Event()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._over.set()
        if self._serving is not None:
            await self._serving
            self._serving = None
        await self._client.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request. Raises a 501 problem where the package of the protocol is not installed.

        Raises a 422 problem for an address with a parameter that the tools do not use.
        """
        check_parameters(QueryParams(scope["query_string"]), _PARAMETERS)
        if self._serving is None:
            if find_spec("mcp") is None:
                raise ProblemError(
                    501,
                    "Not installed",
                    "the package of the protocol is missing here: pip install 'cardlog[mcp]'",
                )
            self._serving = asyncio.create_task(self._serve())
        manager = await asyncio.shield(self._ready)
        # Blanks around a value are no part of it (RFC 9110), and the protocol compares values with the body.
        headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        await manager.handle_request({**scope, "headers": headers}, receive, _in_a_sentence(send))

    async def _serve(self) -> None:
        try:
            manager = await asyncio.to_thread(self.manager)
            async with manager.run():
                self._ready.set_result(manager)
                await self._over.wait()
        except Exception as error:
            if self._ready.done():
                raise
            self._ready.set_exception(error)

    def manager(self) -> Any:
        """Returns the manager of the protocol's server."""
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: PLC0415 - see McpEndpoint

        from retrieval.mcp.server import create_server  # noqa: PLC0415

        logging.getLogger("mcp").setLevel(logging.WARNING)  # it tells of every request
        server = create_server(self.memory_of, forget=self._forget)
        # The guard has checked Host and Origin.
        return StreamableHTTPSessionManager(server, json_response=True, stateless=True)

    def memory_of(self, request: Request) -> Memory:
        """Returns the memory of ``user_id`` in the address of a request, or the only one that its key is limited to."""
        principal: Principal = principal_of(request)
        user = request.query_params.get("user_id", "")
        if not user and principal.users is not None and len(principal.users) == 1:
            [user] = principal.users
        headers = {name: request.headers[name] for name in ("authorization",) if name in request.headers}
        projects = [each for each in request.query_params.getlist("project_id") if each] or ["*"]
        zone = request.query_params.get("timezone") or None
        return Memory(self._client, self._write.client, user, projects, zone, headers)


def _in_a_sentence(send: Send) -> Send:
    """Returns ``send``, which says in one sentence what the package says in many lines: a message is no request."""
    starts: list[Message] = []

    async def told(message: Message) -> None:
        from retrieval.mcp.server import NO_REQUEST  # noqa: PLC0415 - see McpEndpoint

        if message["type"] == "http.response.start" and message["status"] == 400:
            starts.append(message)
            return
        if starts:
            start, body = starts.pop(), _DUMP.sub(f'"{NO_REQUEST}"'.encode(), message["body"])
            headers = [each for each in start["headers"] if each[0] != b"content-length"]
            await send({**start, "headers": [*headers, (b"content-length", b"%d" % len(body))]})
            message = {**message, "body": body}
        await send(message)

    return told
