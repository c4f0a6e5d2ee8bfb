"""``cardlog status``, ``doctor`` and ``settings``: how it stands, what is wrong, what can be set."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import psycopg

from deploy.instance import find
from deploy.stages import Overview, Overviews, Stage
from events.database import DatabaseUnfitError, address_of, check_server, connect
from events.settings import Settings, SettingsError, listing
from events.sql import statement
from events.streams import REDIS_AWAY, connect_redis, is_cluster
from projectors.text.embedders import embedders_of
from projectors.text.embedding import EmbedderUnavailableError


def register(subparsers: Any) -> None:
    status = subparsers.add_parser(
        "status",
        help="how far every stage is",
        description="How far every stage is: turns or events behind, the age in seconds of the oldest of them, what it "
        "does a second, parked and dead ones, workers alive. ? is unknown, never zero. States: running; waiting (it "
        "says why, and others do without it); stuck (work, and none done for 30 s); stopped (no worker heard of for "
        "15 s); building and abandoned (of rebuilds); unknown. The exit status is 0 when nothing needs an operator, "
        "else 1.",
    )
    status.add_argument("--json", action="store_true", help="print JSON")
    status.add_argument("--watch", action="store_true", help="look again and again, until Ctrl-C")
    status.add_argument(
        "--every", type=float, default=2.0, metavar="SECONDS", help="with --watch (default: %(default)s)"
    )
    status.add_argument("--data", type=Path, default=None, help="data folder of the Cardlog meant")
    status.set_defaults(run=run_status)
    doctor = subparsers.add_parser("doctor", help="check servers, extensions and the embedding model")
    doctor.add_argument("--data", type=Path, default=None, help="data folder of the Cardlog meant")
    doctor.set_defaults(run=run_doctor)
    settings = subparsers.add_parser("settings", help="list every setting")
    settings.set_defaults(run=run_settings)


def run_status(options: argparse.Namespace, settings: Settings) -> int:
    settings, instance = find(settings, options.data)
    read_url = settings.read_url or (None if instance is None else instance.read_url)
    looking = Overviews(settings)
    try:
        while True:
            seen = looking()
            _print(
                seen, _channels(read_url), as_json=options.json, clear=options.watch and sys.stdout.isatty()
            )
            if not options.watch:
                return 0 if seen.well else 1
            time.sleep(max(0.1, options.every))
    finally:
        looking.close()


def _channels(read_url: str | None) -> dict[str, dict[str, Any]] | None:
    """How the channels of recall stand, by name; None where no read service answers."""
    if read_url is None:
        return None
    try:
        answer = httpx.get(f"{read_url}/v1/channels", timeout=2.0)
        document: dict[str, dict[str, Any]] = answer.raise_for_status().json()
    except (httpx.HTTPError, ValueError):
        return None
    return document


def _channel_line(name: str, health: dict[str, Any]) -> str:
    p95 = "?" if health["p95_ms"] is None else f"{health['p95_ms']:.1f} ms"
    resting = f", at most {health['quarantined_for_s']:.0f} s more" if health["quarantined_for_s"] else ""
    fault = f"; made to fail by {health['fault']}" if "fault" in health else ""
    return f"channel {name:<12}p95 {p95:>10}  {health['status']}{resting}{fault}"


def _print(seen: Overview, channels: dict[str, dict[str, Any]] | None, *, as_json: bool, clear: bool) -> None:
    if as_json:
        print(json.dumps(seen.document() | {"channels": channels}, ensure_ascii=False), flush=True)
        return
    lines = [
        f"{'stage':<12}{'behind':>10}{'seconds':>10}{'rate/s':>10}{'parked':>8}{'dead':>8}{'workers':>9}  state"
    ]
    lines += [_line(stage) for stage in seen.stages]
    lines += [
        f"last error of {stage.name} at {at:%Y-%m-%d %H:%M:%S %Z}: {stage.error}"
        for stage in seen.stages
        if (at := stage.error_at) is not None
    ]
    lines += [
        f"{name:<12}{number(getattr(seen, name)):>10}"
        for name in ("events", "recorded", "duplicates", "parked", "dead")
    ]
    if channels is None:
        lines.append("channels     ? (no read service answers)")
    else:
        lines += [_channel_line(name, health) for name, health in channels.items()]
    print("\x1b[H\x1b[2J" * clear + "\n".join(lines), flush=True)


def _line(stage: Stage) -> str:
    detail = f": {stage.detail}" if stage.detail else ""
    return (
        f"{stage.name:<12}{number(stage.behind):>10}{number(stage.seconds):>10}{number(stage.rate):>10}"
        f"{number(stage.parked):>8}{number(stage.dead):>8}{number(stage.workers):>9}  {stage.state}{detail}"
    )


def number(value: float | None) -> str:
    """For a column; what is unknown is no zero."""
    if value is None:
        return "?"
    return str(value) if isinstance(value, int) else f"{value:.1f}"


def run_doctor(options: argparse.Namespace, settings: Settings) -> int:
    settings, instance = find(settings, options.data)
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
    if instance is not None:
        print(f"ok    stack: pid {instance.pid}, write {instance.write_url}, read {instance.read_url}")
    return 1 if failed else 0


def _postgres(settings: Settings) -> str:
    with connect(settings.database_url, application="doctor") as connection:
        check_server(connection)
        version = connection.info.server_version
        where = address_of(settings.database_url)
        rows = connection.execute(statement("events", "extensions"), {"names": ["pg_bigm"]}).fetchall()
        [(_, bigm_there, _)] = rows
        return (
            f"{where}, version {version // 10000}.{version % 10000}, UTF-8, vector, pg_trgm; pg_bigm is "
            f"{'there' if bigm_there else 'not there'}, which makes no difference: Cardlog keeps character pairs itself"
        )


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
    versions = ", ".join(sorted({str(information["redis_version"]) for information in said}))
    nodes = f"cluster of {len(said)} nodes, " if len(said) > 1 else ""
    return f"{nodes}version {versions}, {kept}"


def _models(settings: Settings) -> str:
    embedders = embedders_of(replace(settings, embed_threads=1))
    found = []
    for mode in embedders.modes:
        embedder = embedders.of(mode)
        embedder.embed_question("ready")
        where = "" if mode is None else f"mode {mode}: "
        found.append(f"{where}{embedder.name}, {embedder.dimension} dimensions")
    return "; ".join(found)


def run_settings(_options: argparse.Namespace, _settings: Settings) -> int:
    width = max(len(variable) for variable, _, _ in listing())
    for variable, default, meaning in listing():
        sys.stdout.write(
            f"{variable:<{width}}  {meaning}" + (f" (default: {default})" if default else "") + "\n"
        )
    return 0
