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

from deploy.instance import find
from deploy.options import Given, Json, Seconds
from events.platform.settings import Settings

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
    (of rebuilds); unknown. The exit status is 0 when nothing needs an operator, else 1.
    """
    settings, instance = find(settings, data)
    # The import of both drivers takes half a second, so it comes after the instance is found.
    from deploy.monitoring.overview import Overviews  # noqa: PLC0415

    read_url = settings.read_url or (None if instance is None else instance.read_url)
    overviews = Overviews(settings)
    try:
        while True:
            seen = overviews()
            _print(seen, _channels(read_url), as_json=as_json, clear=watch and sys.stdout.isatty())
            if not watch:
                return 0 if seen.well else 1
            time.sleep(max(0.1, every))
    finally:
        overviews.close()


def _channels(read_url: str | None) -> dict[str, dict[str, Any]] | None:
    """Returns the health of the recall channels by name, or None when no read service answers."""
    if read_url is None:
        return None
    try:
        with urllib.request.urlopen(f"{read_url}/v1/channels", timeout=2.0) as answer:  # noqa: S310 - our own service
            document: dict[str, dict[str, Any]] = json.load(answer)
    except (OSError, ValueError, http.client.HTTPException):
        return None
    return document


def _channel_line(name: str, health: dict[str, Any]) -> str:
    p95 = "?" if health["p95_ms"] is None else f"{health['p95_ms']:.1f} ms"
    remaining = f", at most {health['quarantined_for_s']:.0f} s more" if health["quarantined_for_s"] else ""
    fault = f"; {health['fault']} makes it fail" if "fault" in health else ""
    return f"channel {name:<12}p95 {p95:>10}  {health['status']}{remaining}{fault}"


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
