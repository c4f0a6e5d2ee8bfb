"""``cardlog doctor``: what is wrong with the servers and the model, if anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg

from deploy.instance import find
from deploy.options import Given
from deploy.security.roles import weaknesses
from events.platform.database import DatabaseUnfitError, address_of, check_server, connect, is_migrated
from events.platform.settings import Settings, SettingsError
from events.platform.sql import statement
from events.platform.streams import REDIS_AWAY, connect_redis, is_cluster
from projectors.embedding.embedder import EmbedderUnavailableError
from projectors.embedding.embedders import embedders_of


def doctor(*, settings: Given[Settings], data: Given[Path | None]) -> int:
    """Check servers, extensions and the embedding model."""
    settings, instance = find(settings, data)
    checks: list[tuple[str, Callable[[], str]]] = [
        ("postgres", lambda: _postgres(settings)),
        ("redis", lambda: _redis(settings)),
        ("embedding models", lambda: _models(settings)),
    ]
    failed = 0
    for name, check in checks:
        try:
            print(f"ok    {name}: {check()}")
        except (
            psycopg.Error, *REDIS_AWAY, DatabaseUnfitError, EmbedderUnavailableError, SettingsError,
        ) as error:  # fmt: skip
            failed += 1
            print(f"FAIL  {name}: {' '.join(str(error).split())}")
    _print_weaknesses(settings)
    if instance is not None:
        print(f"ok    stack: pid {instance.pid}, write {instance.write_url}, read {instance.read_url}")
    return 1 if failed else 0


def _postgres(settings: Settings) -> str:
    with connect(settings.database_url, application="doctor") as connection:
        check_server(connection)
        version = connection.info.server_version
        where = address_of(settings.database_url)
        rows = connection.execute(
            statement("events.platform", "extensions"), {"names": ["pg_bigm"]}
        ).fetchall()
        [(_, bigm_there, _)] = rows
        return (
            f"{where}, version {version // 10000}.{version % 10000}, UTF-8, vector, pg_trgm; pg_bigm is "
            f"{'there' if bigm_there else 'not there'}, which makes no difference: Cardlog keeps character pairs itself"
        )


def _print_weaknesses(settings: Settings) -> None:
    """Warn of what the role of workers and services could do to the log, and of a missing key."""
    try:
        with connect(settings.database_url, application="doctor") as connection:
            if not is_migrated(connection):
                return
            found = weaknesses(connection)
    except psycopg.Error:
        return  # the check of postgres said so
    for weakness in found:
        print(
            f"warn  log: the role of CARDLOG_DATABASE_URL could change it ({weakness}); "
            "give workers and services another one with: cardlog grant --role NAME"
        )
    if not settings.log_key_file:
        print(
            "warn  log: without a key nobody can tell who appended an event; "
            "make one with: cardlog log key new FILE"
        )
    elif not found:
        print("ok    log: the role can append and not change, what is appended is authenticated")


def _redis(settings: Settings) -> str:
    client: Any = connect_redis(settings.redis_url, socket_timeout=5, socket_connect_timeout=2)
    servers = [client]
    if is_cluster(client):
        servers = [client.get_redis_connection(node) for node in client.get_primaries()]
    said: list[dict[str, Any]] = [server.info() for server in servers]
    without = sum(not information.get("aof_enabled") for information in said)
    kept = "append-only file on" if not without else "append-only file OFF: a restart loses turns"
    if len(said) > 1 and without:
        kept = f"append-only file OFF on {without} of {len(said)} nodes: a restart loses turns"
    versions = ", ".join(sorted({_version(information) for information in said}))
    nodes = f"cluster of {len(said)} nodes, " if len(said) > 1 else ""
    return f"{nodes}version {versions}, {kept}"


def _version(information: dict[str, Any]) -> str:
    """Valkey calls itself the Redis it is compatible with, and says its own version besides."""
    own = information.get("valkey_version")
    return f"{information['redis_version']} (Valkey {own})" if own else str(information["redis_version"])


def _models(settings: Settings) -> str:
    embedders = embedders_of(replace(settings, embed_threads=1))
    found = []
    for mode in embedders.modes:
        embedder = embedders.of(mode)
        embedder.embed_question("ready")
        where = "" if mode is None else f"mode {mode}: "
        found.append(f"{where}{embedder.name}, {embedder.dimension} dimensions")
    return "; ".join(found)
