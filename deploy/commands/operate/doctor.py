"""``cardlog doctor``: checks the servers and the embedding models."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import redis

from deploy.instance import find
from deploy.options import Given
from deploy.security.roles import tenant_weaknesses, weaknesses
from events.health.heartbeat import reports
from events.platform.counting import counted
from events.platform.database import (
    DatabaseUnfitError,
    address_of,
    check_server,
    connect,
    is_migrated,
    require_proof,
    statement,
    tuples_of,
)
from events.platform.settings import Settings, SettingsError, variable_of
from events.platform.streams import (
    REDIS_AWAY,
    connect_redis,
    fault_of,
    is_cluster,
    pushed_streams,
    server_of,
    write_probe,
)
from events.sealing import keystore, sealer
from events.types.json_values import JsonObject
from ingest.extraction.choosing import describe, uses_model
from projectors.embedding.embedder import EmbedderUnavailableError
from projectors.embedding.embedders import embedders_of
from projectors.generations.generations import difference, list_generations
from projectors.registry import projectors

_PGVECTOR = (0, 8, 4)  # https://github.com/pgvector/pgvector/blob/master/CHANGELOG.md


def doctor(*, settings: Given[Settings], data: Given[Path | None]) -> int:
    """Check servers, extensions, live tables and the embedding model."""
    settings, instance = find(settings, data)
    checks: list[tuple[str, Callable[[], str]]] = [
        ("postgres", lambda: _postgres(settings)),
        ("tables", lambda: _tables(settings)),
        ("redis", lambda: _redis(settings)),
        ("embedding models", lambda: _models(settings)),
        ("extraction", lambda: _extraction(settings)),
    ]
    if settings.kek_file or settings.kek:
        checks.append(("sealing", lambda: _sealing(settings)))
    failed = 0
    for name, check in checks:
        try:
            print(f"ok    {name}: {check()}")
        except (
            psycopg.Error, *REDIS_AWAY, DatabaseUnfitError, EmbedderUnavailableError, SettingsError,
        ) as error:  # fmt: skip
            failed += 1
            print(f"FAIL  {name}: {' '.join(str(error).split())}")
    if uses_model(settings) and (uncached := _uncached(settings)):
        print(f"warn  extraction: {uncached}")
    _print_weaknesses(settings)
    if instance is not None:
        print(f"ok    stack: pid {instance.pid}, write {instance.write_url}, read {instance.read_url}")
    return 1 if failed else 0


def _postgres(settings: Settings) -> str:
    with connect(settings.database_url, application="doctor") as connection:
        check_server(connection)
        if is_migrated(connection):
            require_proof(connection)
        version = connection.info.server_version
        where = address_of(settings.database_url)
        rows = connection.execute(
            statement("events.platform", "extensions"), {"names": ["pg_bigm"]}
        ).fetchall()
        [(_, bigm_there, _)] = rows
        return (
            f"{where}, version {version // 10000}.{version % 10000}, UTF-8, vector, pg_trgm; pg_bigm is "
            f"{'installed' if bigm_there else 'not installed'}, and Cardlog does not need it"
        )


def _tables(settings: Settings) -> str:
    with connect(settings.database_url, application="doctor") as connection:
        if not is_migrated(connection):
            return "none yet"
        live = {
            each.projection: each.number for each in list_generations(connection) if each.status == "live"
        }
        try:
            found = [
                difference(connection, each, live[each.name], each.name)
                for each in projectors(settings)
                if each.name in live
            ]
        except psycopg.errors.InsufficientPrivilege:
            return "only the role of a projector may compare them with this version"
    if others := [each for each in found if each is not None]:
        raise DatabaseUnfitError("; ".join(others))
    return f"the live generations of {counted(len(found), 'projection')} fit this version"


def _sealing(settings: Settings) -> str:
    sealer.use_settings(settings)
    with connect(settings.database_url, application="doctor") as connection:
        try:
            if is_migrated(connection):
                keystore.require_keys(connection)
        except psycopg.errors.InsufficientPrivilege:
            return "new payloads are sealed; this role may not see the data keys"
    return "new payloads are sealed"


def _uncached(settings: Settings) -> str | None:
    from ingest.extraction.claude.extractor import ClaudeExtractor  # noqa: PLC0415 - a second, and only with a model

    extractor = ClaudeExtractor(settings)
    try:
        return extractor.uncached()
    finally:
        extractor.close()


def old_pgvector(version: str) -> str | None:
    """Returns the warning about a version of pgvector with errors in the upkeep of its indexes; None for a good one."""
    numbers = tuple(int(each) for each in re.findall(r"\d+", version)[:3])
    if not numbers or numbers >= _PGVECTOR:
        return None
    return (
        f"pgvector {version} can leave the index of vectors damaged after a vacuum; update it to "
        f"{'.'.join(map(str, _PGVECTOR))} or newer, and then run: ALTER EXTENSION vector UPDATE"
    )


def _print_weaknesses(settings: Settings) -> None:
    """Warns of an old pgvector, of a role of workers that could change the log, and of a missing log key."""
    try:
        with connect(settings.database_url, application="doctor") as connection:
            if not is_migrated(connection):
                return
            require_proof(connection)
            found = weaknesses(connection)
            of_tenants = tenant_weaknesses(connection)
            [(pgvector,)] = tuples_of(connection, statement("deploy.commands.operate", "pgvector"))
    except (psycopg.Error, DatabaseUnfitError):
        return  # the check of postgres has already reported it
    for weakness in found:
        print(
            f"warn  log: the role of CARDLOG_DATABASE_URL could change the log ({weakness}); "
            "give workers and services another role with: cardlog grant --role NAME"
        )
    if warning := old_pgvector(pgvector):
        print(f"warn  postgres: {warning}")
    if not (settings.kek_file or settings.kek):
        print(
            "warn  sealing: payloads are stored in the clear, so nobody can erase them; create a key-encryption key "
            "with: cardlog log kek new FILE"
        )
    for weakness in of_tenants:
        print(f"warn  tenants: {weakness}")
    if not of_tenants:
        print("ok    tenants: every table of users is protected by row-level security")
    if not settings.log_key_file:
        print(
            "warn  log: without a log key there is no proof of who appended an event; "
            "create a key with: cardlog log key new FILE"
        )
    elif not found:
        print("ok    log: the role can only append, and appended events are authenticated")


def _redis(settings: Settings) -> str:
    if not settings.redis_url:
        raise SettingsError(f"{variable_of('redis_url')} is not set; turns that apps push wait in a Redis")
    client: Any = connect_redis(settings.redis_url, socket_timeout=5, socket_connect_timeout=2)
    servers = [client]
    if is_cluster(client):
        servers = [client.get_redis_connection(node) for node in client.get_primaries()]
    try:
        infos: list[JsonObject] = [server.info() for server in servers]
    except redis.AuthenticationError as error:
        raise DatabaseUnfitError(fault_of(error)) from error
    without = sum(not information.get("aof_enabled") for information in infos)
    kept = "append-only file on" if not without else "append-only file OFF: a restart loses turns"
    if len(infos) > 1 and without:
        kept = f"append-only file OFF on {without} of {len(infos)} nodes: a restart loses turns"
    if faults := {fault for information in infos if (fault := _unfit(information))}:
        raise DatabaseUnfitError("; ".join(sorted(faults)))
    try:
        for stream in pushed_streams(settings):
            client.execute_command(*write_probe(client, stream))
    except REDIS_AWAY as error:
        raise DatabaseUnfitError(f"it takes no turn: {fault_of(error)}") from error
    versions = ", ".join(sorted({_version(information) for information in infos}))
    nodes = f"cluster of {len(infos)} nodes, " if len(infos) > 1 else ""
    return f"{server_of(settings.redis_url)}, {nodes}version {versions}, {kept}"


def _unfit(information: JsonObject) -> str | None:
    """Returns why a server cannot keep turns, by its INFO; None for one that can."""
    policy = str(information.get("maxmemory_policy", "noeviction"))
    limit = int(information.get("maxmemory", 0))
    if policy.startswith("allkeys"):
        return f"maxmemory-policy {policy} throws turns away when the memory is full; set it to noeviction"
    if limit and int(information.get("used_memory", 0)) >= limit:
        return "the memory is full, so it takes no turn: raise maxmemory, and see that a recorder runs (cardlog status)"
    return None


def _version(information: JsonObject) -> str:
    """Returns the version. Valkey reports the compatible Redis version, and its own version in another field."""
    own = information.get("valkey_version")
    return f"{information['redis_version']} (Valkey {own})" if own else str(information["redis_version"])


def _extraction(settings: Settings) -> str:
    """Names what reads the turns: the running extractors with their servers, or the extractor of these settings."""
    try:
        with connect(settings.database_url, application="doctor") as connection:
            seen = reports(connection) if is_migrated(connection) else []
    except psycopg.Error:  # the check of postgres has already reported it
        return (
            f"with these settings: {describe(settings)}; whether it runs is unknown while PostgreSQL is away"
        )
    running = {each.detail or "rules" for each in seen if each.stage == "extractor" and each.alive}
    return "; ".join(sorted(running)) or f"none runs; with these settings: {describe(settings)}"


def _models(settings: Settings) -> str:
    embedders = embedders_of(replace(settings, embed_threads=1))
    found = []
    for mode in embedders.modes:
        embedder = embedders.of(mode)
        embedder.embed_question("ready")
        where = "" if mode is None else f"mode {mode}: "
        found.append(f"{where}{embedder.name}, {embedder.dimension} dimensions")
    return "; ".join(found)
