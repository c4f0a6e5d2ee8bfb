"""TLS to PostgreSQL, Redis and a server of embeddings: what the settings ask for, and whether the servers have it.

The drivers encrypt as the URLs say. This module refuses a start that would otherwise go on without TLS, or wait for a
server that will never have it.
"""

import os
import re
import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict

from events.platform.database import connect
from events.platform.failures import in_a_line
from events.platform.settings import Settings, SettingsError, redacted, revealed, variable_of
from events.platform.streams import REDIS_AWAY, connect_redis

_ENCRYPTING = frozenset(("require", "verify-ca", "verify-full"))
_LOOPBACK = frozenset(("", "localhost", "127.0.0.1", "::1"))
_NO_TLS = re.compile(r"\bSSL\b|certificate|TLS", re.IGNORECASE)
_REDIS_PORT = 6379
_WITHIN_S = 3.0


def require_encryption(settings: Settings, *, queue: bool = True) -> None:
    """Raises :class:`SettingsError` when a server is without the TLS that the settings ask for.

    With ``CARDLOG_REQUIRE_TLS`` every URL must ask for TLS, except the URLs of this machine. A server whose URL asks
    for TLS must have it, with a certificate that the URL accepts. A server that is away is not at fault: the processes
    wait for it, and their drivers never connect without TLS. ``queue``: the process uses Redis.
    """
    if settings.require_tls:
        for variable, remedy in _plain(settings, queue=queue):
            raise SettingsError(
                f"{variable} does not ask for TLS, and {variable_of('require_tls')} is on: {remedy}"
            )
    for name, url in _postgres(settings):
        if _sslmode(url) in _ENCRYPTING:
            _try_postgres(name, url)
    if queue and urlsplit(revealed(settings.redis_url)).scheme.startswith("rediss"):
        _try_redis(revealed(settings.redis_url))


def is_local(host: str) -> bool:
    """True for a Unix socket and a loopback address. Their traffic never leaves the machine."""
    return host.startswith(("/", "@")) or host.lower().strip("[]") in _LOOPBACK


def untrusted(variable: str, asked: str, reason: str, remedy: str) -> SettingsError:
    """Returns the error for a server without the TLS that ``variable`` asks for."""
    return SettingsError(
        f"{variable} asks for TLS ({asked}), and the server does not have it as asked: "
        f"{in_a_line(redacted(reason))}; {remedy}"
    )


def _postgres(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yields variable and URL of every PostgreSQL server in the settings."""
    for name in ("database_url", "admin_database_url"):
        if url := revealed(getattr(settings, name)):
            yield variable_of(name), url
    for url in revealed(settings.read_database_url).split():
        yield variable_of("read_database_url"), url


def _sslmode(url: str) -> str:
    return str(conninfo_to_dict(url).get("sslmode") or os.environ.get("PGSSLMODE") or "prefer")


def _plain(settings: Settings, *, queue: bool) -> Iterator[tuple[str, str]]:
    """Yields the variable of every URL that leaves this machine and does not ask for TLS, with the remedy."""
    for variable, url in _postgres(settings):
        parts = conninfo_to_dict(url)
        hosts = str(parts.get("hostaddr") or parts.get("host") or os.environ.get("PGHOST") or "").split(",")
        if _sslmode(url) not in _ENCRYPTING and not all(map(is_local, hosts)):
            yield variable, "add sslmode=verify-full and sslrootcert=FILE to the URL"
    for name in ("embed_url", "rerank_url"):
        server = urlsplit(getattr(settings, name))
        if server.scheme not in ("", "https") and not is_local(server.hostname or ""):
            yield variable_of(name), "the words of cards go there; write it as https://host/v1"
    redis = revealed(settings.redis_url)
    local = all(is_local(host) for host, _ in _addresses(redis))
    if queue and not local and not urlsplit(redis).scheme.startswith(("rediss", "unix")):
        yield variable_of("redis_url"), "write it as rediss://host:port/0?ssl_ca_certs=FILE"


def _try_postgres(variable: str, url: str) -> None:
    try:
        connect(url, application="TLS check").close()
    except psycopg.OperationalError as error:
        reason = str(error)
        if _NO_TLS.search(reason) and "pg_hba.conf" not in reason:
            raise untrusted(
                variable,
                f"sslmode={_sslmode(url)}",
                reason,
                "turn on ssl in postgresql.conf, and name the file of its authority with sslrootcert in the URL",
            ) from None


def _try_redis(url: str) -> None:
    try:
        client = connect_redis(url, socket_timeout=_WITHIN_S, socket_connect_timeout=_WITHIN_S)
        try:
            client.ping()
        finally:
            client.close()
    except (*REDIS_AWAY, OSError) as error:
        if is_tls_failure(error) or any(_answers_plainly(*each) for each in _addresses(url)):
            raise untrusted(
                variable_of("redis_url"),
                urlsplit(url).scheme,
                str(error),
                "give Redis a tls-port, and name the file of its authority with ?ssl_ca_certs=FILE in the URL",
            ) from None


def _addresses(url: str) -> list[tuple[str, int]]:
    """Returns host and port of a Redis, or of each named node of a cluster."""
    named = (urlsplit(f"//{each}") for each in urlsplit(url).netloc.rpartition("@")[2].split(","))
    return [(each.hostname or "", each.port or _REDIS_PORT) for each in named]


def _answers_plainly(host: str, port: int) -> bool:
    """True when a Redis there answers without TLS. The question holds no secret."""
    try:
        with socket.create_connection((host, port), _WITHIN_S) as plain:
            plain.settimeout(_WITHIN_S)
            plain.sendall(b"PING\r\n")
            return plain.recv(1) in {b"+", b"-"}
    except OSError:
        return False


def is_tls_failure(error: BaseException | None) -> bool:
    """True when TLS itself failed: the server does not speak it, or its certificate is not accepted."""
    while error is not None:
        if isinstance(error, ssl.SSLError) or _NO_TLS.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False
