"""``cardlog status``: shows the health and the lag of every stage."""

from __future__ import annotations

import http.client
import json
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from deploy.instance import Instance, authorization, find
from deploy.options import Given, Json, Seconds
from events.platform.settings import Settings, revealed, variable_of

if TYPE_CHECKING:
    from deploy.monitoring.overview import Overview, StageHealth


def status(
    *,
    as_json: Json = False,
    watch: Annotated[bool, Parameter(help="repeat until Ctrl-C")] = False,
    every: Annotated[Seconds, Parameter(help="seconds between two outputs with --watch (default: 2)")] = 2.0,
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    """Show the health and the lag of every stage.

    Columns: turns or events behind, the age of the oldest in seconds, the rate a second, parked events, dead letters,
    and living workers. ? means unknown, never zero. Health: running; waiting (with the reason; other stages
    continue); stuck (work waits, and none was done for 30 s); stopped (no heartbeat for 15 s); building and abandoned
    (of rebuilds); unknown. The exit status is 0 when nothing needs an operator, else 1: a stage is not well, or turns
    are dead or parked. The last lines are the addresses.
    """
    given = settings
    settings, instance = find(settings, data)
    # The import of both drivers takes half a second, so it comes after the instance is found.
    from deploy.monitoring.overview import Overviews  # noqa: PLC0415

    # The key of the Cardlog on this machine must not go to a service elsewhere.
    headers = authorization(given if given.read_url else settings)
    read_url = settings.read_url or (None if instance is None else instance.read_url)
    addresses = _addresses(settings, instance, read_url)
    overviews = Overviews(settings)
    try:
        while True:
            seen = overviews()
            channels = _channels(read_url, headers)
            embedder = None if seen.events is None else _embedder(settings)
            _print(seen, channels, embedder, addresses, as_json=as_json, clear=watch and sys.stdout.isatty())
            if not watch:
                return 0 if seen.well else 1
            time.sleep(max(0.1, every))
    finally:
        overviews.close()


def _addresses(settings: Settings, instance: Instance | None, read_url: str | None) -> dict[str, str]:
    """Returns where the servers and services listen, by name, without any password."""
    from events.platform.database import address_of  # noqa: PLC0415 - as above
    from events.platform.streams import server_of  # noqa: PLC0415

    found = {
        "write": None if instance is None else instance.write_url,
        "read": read_url,
        "redis": server_of(revealed(settings.redis_url)) if settings.redis_url else None,
        "postgres": address_of(settings.database_url) if settings.database_url else None,
    }
    return {name: address for name, address in found.items() if address}


def _channels(read_url: str | None, headers: dict[str, str]) -> dict[str, dict[str, Any]] | None:
    """Returns the health of the recall channels by name, or None when no read service answers."""
    if read_url is None:
        return None
    try:
        asked = urllib.request.Request(f"{read_url}/v1/channels", headers=headers)  # noqa: S310 - our own service
        with urllib.request.urlopen(asked, timeout=2.0) as answer:  # noqa: S310 - as above
            document: dict[str, dict[str, Any]] = json.load(answer)
    except (OSError, ValueError, http.client.HTTPException):
        return None
    return document


def _embedder(settings: Settings) -> dict[str, str | None] | None:
    """Returns the embedder of the live vectors, the model of the settings and its substitute on this machine.

    None: the database does not tell.
    """
    import psycopg  # noqa: PLC0415 - as above

    from events.platform.database import connect  # noqa: PLC0415
    from events.platform.sql import statement  # noqa: PLC0415
    from projectors.embedding.embedders import substitute_of  # noqa: PLC0415 - numpy comes with it

    try:
        with connect(settings.database_url, application="status") as connection:
            [there] = connection.execute(statement("retrieval.channels", "spaces_exist")).fetchall()
            rows = (
                connection.execute(statement("retrieval.channels", "spaces")).fetchall() if there[0] else []
            )
    except psycopg.Error:
        return None
    live = {slot: (name, fingerprint) for slot, name, fingerprint in rows}
    name, fingerprint = live.get("", (None, None))
    return {
        "model": name,
        "fingerprint": fingerprint,
        "wanted": settings.embed_model,
        "substitute": substitute_of(settings),
    }


def _embedder_line(embedder: dict[str, str | None]) -> str:
    wanted, substitute = embedder["wanted"], embedder["substitute"]
    line = f"{'embedder':<12} {embedder['fingerprint'] or 'no vectors yet'}"
    build = "" if substitute is None else ": build it with `make model` and restart"
    if embedder["model"] not in {None, wanted}:
        then = ", then run" if build else ": run"
        return f"{line}; {variable_of('embed_model')} is {wanted}{build}{then} `cardlog reembed`"
    return f"{line}; {wanted} is not on this machine, {substitute} takes its place{build}" if build else line


def _channel_line(name: str, health: dict[str, Any]) -> str:
    p95 = "?" if health["p95_ms"] is None else f"{health['p95_ms']:.1f} ms"
    remaining = f", at most {health['quarantined_for_s']:.0f} s more" if health["quarantined_for_s"] else ""
    fault = f"; {health['fault']} makes it fail" if "fault" in health else ""
    return f"channel {name:<12}p95 {p95:>10}  {health['status']}{remaining}{fault}"


def _print(
    seen: Overview,
    channels: dict[str, dict[str, Any]] | None,
    embedder: dict[str, str | None] | None,
    addresses: dict[str, str],
    *,
    as_json: bool,
    clear: bool,
) -> None:
    if as_json:
        document = seen.document() | {"channels": channels, "embedder": embedder, "addresses": addresses}
        print(json.dumps(document, ensure_ascii=False), flush=True)
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
    if embedder is not None:
        lines.append(_embedder_line(embedder))
    lines += [f"{name:<12} {address}" for name, address in addresses.items()]
    if seen.dead:
        lines.append(
            "dead letters need you: `cardlog dead list` gives their reasons, `retry` and `drop` settle them"
        )
    if seen.parked:
        lines.append("parked events need you: `cardlog parked list` gives their reasons")
    print("\x1b[H\x1b[2J" * clear + "\n".join(lines), flush=True)


def _line(stage: StageHealth) -> str:
    detail = f": {stage.detail}" if stage.detail else ""
    return (
        f"{stage.name:<12}{number(stage.behind):>10}{number(stage.seconds):>10}{number(stage.rate):>10}"
        f"{number(stage.parked):>8}{number(stage.dead):>8}{number(stage.workers):>9}  {stage.state}{detail}"
    )


def number(value: float | None) -> str:
    """Returns a number for a column, and ? for an unknown number."""
    if value is None:
        return "?"
    return str(value) if isinstance(value, int) else f"{value:.1f}"
