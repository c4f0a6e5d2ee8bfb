"""``cardlog serve``: runs one service of the stack."""

from __future__ import annotations

import socket
from typing import Annotated, Literal

from cyclopts import Parameter

from deploy.monitoring.check_liveness import PORTS
from deploy.options import Given, at_least, between
from events.platform.settings import Settings, SettingsError
from events.store import authentication


def serve(
    service: Annotated[Literal["write", "read"], Parameter(help="which")],
    /,
    *,
    host: Annotated[str, Parameter(help="address to listen on (default: 127.0.0.1)")] = "127.0.0.1",
    port: Annotated[
        int | None,
        Parameter(
            metavar="PORT",
            validator=between(0, 65535),
            help="port (default: 8700 for write, 8701 for read; 0: any)",
        ),
    ] = None,
    fd: Annotated[int | None, Parameter(show=False, validator=at_least(0))] = None,
    settings: Given[Settings],
) -> int:
    """Run one service: write or read."""
    import uvicorn  # noqa: PLC0415 - only services need it

    authentication.in_use()
    require_servers(settings, queue=service == "write")
    if service == "write":
        from ingest.api.write_api import create_app  # noqa: PLC0415
    else:
        from retrieval.http.read_api import create_app  # noqa: PLC0415
    from events.http.connections import bounded  # noqa: PLC0415 - as above

    port = port if port is not None else PORTS[service]
    config = uvicorn.Config(
        create_app(settings),
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=5,
        lifespan="on",
        http=bounded(settings),
        ws="none",
        timeout_keep_alive=settings.idle_timeout_s,
    )
    server = uvicorn.Server(config)
    if fd is None:
        server.run()
    else:
        server.run(sockets=[socket.socket(fileno=fd)])
    return 0


def require_servers(settings: Settings, *, queue: bool) -> None:
    """Raises :class:`SettingsError` when the URL of Postgres, or with ``queue`` the URL of Redis, is not set."""
    if not settings.database_url:
        raise SettingsError(
            "CARDLOG_DATABASE_URL is not set: a single worker or service needs the URL of Postgres"
        )
    if queue and not settings.redis_url:
        raise SettingsError("CARDLOG_REDIS_URL is not set: a single worker or service needs the URL of Redis")
