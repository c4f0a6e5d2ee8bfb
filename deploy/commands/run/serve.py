"""``cardlog serve``: runs one service of the stack."""

from __future__ import annotations

import gc
import ipaddress
import socket
import ssl
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from deploy.check_liveness import ALL_PORTS
from deploy.options import Given, NoAuth, at_least, between
from deploy.services import app_of
from events.platform.encryption import require_encryption
from events.platform.settings import Settings, SettingsError
from events.sealing import sealer
from events.store import authentication

if TYPE_CHECKING:
    from fastapi import FastAPI


def serve(
    service: Annotated[Literal["write", "read", "embed"], Parameter(help="which")],
    /,
    *,
    host: Annotated[str, Parameter(help="address to listen on (default: 127.0.0.1)")] = "127.0.0.1",
    port: Annotated[
        int | None,
        Parameter(
            metavar="PORT",
            validator=between(0, 65535),
            help="port (default: 8700 for write, 8701 for read, 8702 for embed; 0: any)",
        ),
    ] = None,
    insecure_no_auth: NoAuth = False,
    fd: Annotated[int | None, Parameter(show=False, validator=at_least(0))] = None,
    settings: Given[Settings],
) -> int:
    """Run one service: write, read or embed. It wants an API key; `cardlog keys create` makes one."""
    gc.disable()  # collecting takes a tenth of a start, and the objects of a start stay
    authentication.in_use()
    sealer.in_use()
    settings = with_auth(settings, insecure_no_auth)
    listener = None if fd is None else socket.socket(fileno=fd)
    require_loopback(settings, host if listener is None else str(listener.getsockname()[0]))
    require_servers(settings, queue=service == "write")
    check_certificate(settings)
    run_app(app_of(service, settings), settings, host, ALL_PORTS[service] if port is None else port, listener)
    return 0


def run_app(
    app: FastAPI, settings: Settings, host: str, port: int, listener: socket.socket | None = None
) -> None:
    """Serves ``app`` until a signal ends it, with the bounds of connections and the certificate in ``settings``."""
    import uvicorn  # noqa: PLC0415 - only services need it

    from deploy.connections import bounded  # noqa: PLC0415 - as above

    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=5,
        lifespan="on",
        http=bounded(settings),
        ws="none",
        timeout_keep_alive=settings.idle_timeout_s,
        ssl_certfile=settings.tls_cert_file or None,
        ssl_keyfile=settings.tls_key_file or None,
    )
    server = uvicorn.Server(config)
    collect_again()
    server.run(sockets=None if listener is None else [listener])


def collect_again() -> None:
    """Turns the collector of garbage on again. The objects of the start stay, so no collection looks at them.

    An answer makes thousands of objects and few cycles, so the collector looks for cycles less often than by default.
    """
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()


def with_auth(settings: Settings, insecure_no_auth: bool) -> Settings:
    """Returns the settings, without authentication when the option asks for that."""
    return replace(settings, auth="off") if insecure_no_auth else settings


def require_loopback(settings: Settings, host: str) -> None:
    """Raises :class:`SettingsError` when a service without authentication would listen beyond this machine."""
    if settings.auth == "off" and not is_loopback(host):
        raise SettingsError(
            f"CARDLOG_AUTH is off and the service would listen on {host}: anybody who reaches it could read every "
            "memory; turn CARDLOG_AUTH on, or listen on 127.0.0.1"
        )


def is_loopback(host: str) -> bool:
    """True when only programs of this machine reach ``host``."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def require_servers(settings: Settings, *, queue: bool) -> None:
    """Raises :class:`SettingsError` when the URL of Postgres, or with ``queue`` the URL of Redis, is not set, or when a
    server is without the TLS that the settings ask for."""
    if not settings.database_url:
        raise SettingsError(
            "CARDLOG_DATABASE_URL is not set: a single worker or service needs the URL of Postgres"
        )
    if queue and not settings.redis_url:
        raise SettingsError("CARDLOG_REDIS_URL is not set: a single worker or service needs the URL of Redis")
    require_encryption(settings, queue=queue)


def check_certificate(settings: Settings) -> None:
    """Raises :class:`SettingsError` unless the files of the service's TLS are a certificate and its key, or not set."""
    if not settings.tls_cert_file and not settings.tls_key_file:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(
            settings.tls_cert_file, settings.tls_key_file or None
        )
    except OSError as error:  # also ssl.SSLError
        raise SettingsError(
            f"CARDLOG_TLS_CERT_FILE ({settings.tls_cert_file}) and CARDLOG_TLS_KEY_FILE ({settings.tls_key_file}) "
            f"cannot be used ({error.strerror or error}): name a certificate and its key as PEM files, both or none"
        ) from None
