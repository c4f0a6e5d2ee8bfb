"""The services of a Cardlog: the apps that ``cardlog serve`` runs, and the client of those that a verb calls."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import httpx2

from cardlog_client import Client
from deploy.instance import Instance, NoInstanceError, api_key_of, find
from deploy.options import OptionInvalidError
from events.platform.settings import Settings, variable_of
from events.types.tenancy import DEFAULT_TENANT

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import Receive, Scope, Send

    from events.modes.reembedding import Planner
    from ingest.core.aggregate import Documents
    from ingest.erasure.erasure import Derived

Service = Literal["write", "read", "embed"]
_TIMEOUT_S = 30.0
_IN_PROCESS = "http://localhost"
_NO_QUEUE = "redis://127.0.0.1:1"
"""Nobody listens there. The queue of turns is away for a service in this process that has no Redis."""


def client_of(settings: Settings, data: Path | None, tenant: str = DEFAULT_TENANT) -> Client:
    """Returns a client of the services that a verb about users' memories calls.

    The services are those of the settings, or those of the Cardlog that runs here. Where only a database is set, both
    run in this process. An API key belongs to one tenant, so the services of another tenant run in this process, too.
    Raises NoInstanceError when there is neither, and OptionInvalidError for a tenant without a database.
    """
    instance: Instance | None = None
    urls = {"write": settings.write_url, "read": settings.read_url}
    if not all(urls.values()) or tenant != DEFAULT_TENANT:
        try:
            settings, instance = find(settings, data)
        except NoInstanceError:
            if not any(urls.values()):
                raise
    if instance is not None:
        urls = {"write": urls["write"] or instance.write_url, "read": urls["read"] or instance.read_url}
    if tenant != DEFAULT_TENANT:
        if not settings.database_url:
            raise OptionInvalidError(
                "--tenant needs the database: an API key belongs to one tenant, so set a key of that tenant and "
                "leave --tenant out"
            )
        urls = dict.fromkeys(urls, "")
    here: dict[str, httpx2.BaseTransport] = {}
    services: tuple[Service, ...] = ("write", "read")
    for port, service in enumerate(services, 1):
        if not urls[service]:
            urls[service] = f"{_IN_PROCESS}:{port}"
            here[urls[service]] = _InProcess(service, settings, tenant)
    key = api_key_of(settings)
    return Client(urls["write"], urls["read"], timeout=_TIMEOUT_S, api_key=key, mounts=here)


class _InProcess(httpx2.BaseTransport):
    """Sends requests to a service in this process, with every right in a tenant. The service starts with the first."""

    def __init__(self, service: Service, settings: Settings, tenant: str) -> None:
        self._service = service
        self._settings = settings
        self._tenant = tenant
        self._runner = asyncio.Runner()
        self._running = AsyncExitStack()
        self._transport: httpx2.ASGITransport | None = None

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        return self._runner.run(self._answer(request))

    def close(self) -> None:
        self._runner.run(self._running.aclose())
        self._runner.close()

    async def _answer(self, request: httpx2.Request) -> httpx2.Response:
        if self._transport is None:
            self._transport = await self._started()
        found = await self._transport.handle_async_request(request)
        return httpx2.Response(found.status_code, headers=found.headers, content=await found.aread())

    async def _started(self) -> httpx2.ASGITransport:
        from events.access.principal import Principal  # noqa: PLC0415 - only this way needs the server
        from events.http.guard import PRINCIPAL  # noqa: PLC0415

        if not self._settings.database_url:
            variable = variable_of(f"{self._service}_url")
            raise NoInstanceError(f"the {self._service} service is not known: set {variable}")
        settings = replace(
            self._settings, auth="off", audit="off", redis_url=self._settings.redis_url or _NO_QUEUE
        )
        app, operator = app_of(self._service, settings, with_chores=False), Principal(tenant=self._tenant)
        await self._running.enter_async_context(app.router.lifespan_context(app))

        async def as_operator(scope: Scope, receive: Receive, send: Send) -> None:
            await app({**scope, PRINCIPAL: operator}, receive, send)

        return httpx2.ASGITransport(as_operator)


def app_of(service: Service, settings: Settings, *, with_chores: bool = True) -> FastAPI:
    """Returns the app of a service. The write service does its chores only with ``with_chores``."""
    if service == "write":
        from ingest.api.write_api import create_app as create_write_app  # noqa: PLC0415 - each service its own

        return create_write_app(
            settings,
            lambda: _derived(settings),
            lambda model: _dimension_of(settings, model),
            lambda: _documents(settings),
            _planner(settings),
            with_chores=with_chores,
        )
    if service == "embed":
        from retrieval.http.embed_api import create_app as create_embed_app  # noqa: PLC0415

        return create_embed_app(settings)
    from retrieval.http.read_api import create_app as create_read_app  # noqa: PLC0415

    return create_read_app(settings)


def _derived(settings: Settings) -> Sequence[Derived]:
    from projectors.registry import derived  # noqa: PLC0415 - numpy comes with it, and only erasures need it

    return derived(settings)


def _dimension_of(settings: Settings, model: str) -> int:
    from projectors.embedding.embedders import dimension_of  # noqa: PLC0415 - as above

    return dimension_of(settings, model)


def _planner(settings: Settings) -> Planner:
    @cache
    def planner() -> Planner:
        from projectors.rebuild.reembedding import ModePlanner  # noqa: PLC0415 - as above

        return ModePlanner(settings)

    return lambda *given, measure: planner()(*given, measure=measure)


def _documents(settings: Settings) -> Documents:
    from projectors.core.documents import documents_of  # noqa: PLC0415 - only commands on documents need it

    return documents_of(settings)
