"""``cardlog status``, ``doctor`` and ``settings``: how it stands, what is wrong, what can be set."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import redis

from deploy.instance import find
from deploy.stages import Stage, overview
from events.database import DatabaseUnfitError, address_of, check_server, connect
from events.settings import Settings, listing
from projectors.text.embedding import EmbedderUnavailableError, open_embedder


def register(subparsers: Any) -> None:
    status = subparsers.add_parser("status", help="how far every stage is")
    status.add_argument("--json", action="store_true", help="print JSON")
    status.add_argument("--data", type=Path, default=None, help="data folder of the Cardlog meant")
    status.set_defaults(run=run_status)
    doctor = subparsers.add_parser("doctor", help="check servers, extensions and the embedding model")
    doctor.add_argument("--data", type=Path, default=None, help="data folder of the Cardlog meant")
    doctor.set_defaults(run=run_doctor)
    settings = subparsers.add_parser("settings", help="list every setting")
    settings.set_defaults(run=run_settings)


def run_status(options: argparse.Namespace, settings: Settings) -> int:
    settings, _ = find(settings, options.data)
    seen = overview(settings)
    if options.json:
        print(json.dumps(seen.document(), ensure_ascii=False))
    else:
        print(f"{'stage':<12}{'behind':>10}{'seconds':>10}  state")
        for stage in seen.stages:
            print(_line(stage))
        for name in ("events", "recorded", "duplicates", "parked", "dead"):
            print(f"{name:<12}{_number(getattr(seen, name)):>10}")
    return 0 if all(stage.behind is not None for stage in seen.stages) else 1


def _line(stage: Stage) -> str:
    seconds = "?" if stage.seconds is None else f"{stage.seconds:.1f}"
    detail = f": {stage.detail}" if stage.detail else ""
    return f"{stage.name:<12}{_number(stage.behind):>10}{seconds:>10}  {stage.state}{detail}"


def _number(value: int | None) -> str:
    return "?" if value is None else str(value)


def run_doctor(options: argparse.Namespace, settings: Settings) -> int:
    settings, instance = find(settings, options.data)
    checks: list[tuple[str, Callable[[], str]]] = [
        ("postgres", lambda: _postgres(settings)),
        ("redis", lambda: _redis(settings)),
        ("embedding model", lambda: _model(settings)),
    ]
    failed = 0
    for name, check in checks:
        try:
            print(f"ok    {name}: {check()}")
        except (psycopg.Error, redis.RedisError, DatabaseUnfitError, EmbedderUnavailableError) as error:
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
        return f"{where}, version {version // 10000}.{version % 10000}, UTF-8, vector, pg_trgm"


def _redis(settings: Settings) -> str:
    client = redis.Redis.from_url(settings.redis_url, socket_timeout=5, socket_connect_timeout=2)
    information: Any = client.info("server")
    persistence: Any = client.info("persistence")
    kept = (
        "append-only file on"
        if persistence.get("aof_enabled")
        else "append-only file OFF: a restart loses turns"
    )
    return f"version {information['redis_version']}, {kept}"


def _model(settings: Settings) -> str:
    embedder = open_embedder(settings.embed_model, settings.embed_model_path, threads=1)
    embedder.embed_question("ready")
    return f"{embedder.name}, {embedder.dimension} dimensions"


def run_settings(_options: argparse.Namespace, _settings: Settings) -> int:
    width = max(len(variable) for variable, _, _ in listing())
    for variable, default, meaning in listing():
        sys.stdout.write(
            f"{variable:<{width}}  {meaning}" + (f" (default: {default})" if default else "") + "\n"
        )
    return 0
