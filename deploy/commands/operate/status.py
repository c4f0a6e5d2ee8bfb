"""``cardlog status``: shows the health and the lag of every stage."""

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from deploy.instance import authorization, find
from deploy.options import Given, Json, Seconds
from events.health.stage_health import TOTALS, Overview, StageHealth
from events.platform.counting import counted
from events.platform.settings import Settings, revealed, variable_of

if TYPE_CHECKING:
    from ingest.recording.intake import Overviews

_PATIENCE_S = 5.0


def status(
    *,
    as_json: Json = False,
    watch: Annotated[bool, Parameter(help="repeat until Ctrl-C")] = False,
    every: Annotated[Seconds, Parameter(help="seconds between two outputs with --watch (default: 2)")] = 2.0,
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    """Show the health and the lag of every stage.

    Columns: turns or events behind, the age of the oldest in seconds, the rate a second, parked events, dead
    letters, and living workers. ? means unknown, never zero. Health: running; waiting (with the reason; other
    stages continue); stuck (work waits and none was done for 30 s, or an operator is needed); stopped (no heartbeat
    for 15 s); building and abandoned (of rebuilds); unknown. The exit status is 0 when nothing needs an operator,
    else 1: a stage is not well, or turns are dead, parked or given up. The last lines are the addresses.
    """
    given = settings
    settings, instance = find(settings, data)
    # The key of the Cardlog on this machine must not go to a service elsewhere.
    headers = authorization(given if given.read_url else settings)
    read_url = settings.read_url or (None if instance is None else instance.read_url)
    write_url = None if instance is None else instance.write_url
    services = {"write": write_url, "read": read_url}
    addresses = {name: address for name, address in services.items() if address}
    asked = read_url if instance is not None and not given.read_url else None
    looking = _Looking(settings, read_url, headers)
    try:
        while True:
            report = (_of_services(asked, write_url, headers) if asked else None) or looking.report()
            shown = report | {"addresses": addresses | report.pop("servers")}
            _print(shown, as_json=as_json, clear=watch and sys.stdout.isatty())
            if not watch:
                return 0 if report["well"] else 1
            time.sleep(max(0.1, every))
    finally:
        looking.close()


def _of_services(read_url: str, write_url: str | None, headers: dict[str, str]) -> dict[str, Any] | None:
    """Returns the report of the services, or None when they give no whole one. This needs no driver of a database.

    A service whose database role sees one tenant at a time knows no ages and no parked events. The stages are then
    those of the write service.
    """
    report = _fetched(f"{read_url}/v1/status", headers)
    if not isinstance(report, dict) or "stages" not in report:
        return None
    if not report.get("whole") and write_url is not None:
        stages = _fetched(f"{write_url}/v1/status", headers)
        report |= stages if isinstance(stages, dict) and "stages" in stages else {}
    return report if report.pop("whole", False) else None


def _fetched(url: str, headers: dict[str, str]) -> object:
    """Returns the JSON of a service, or None when it does not answer with one."""
    import http.client  # noqa: PLC0415 - no other path of the command needs it
    import urllib.request  # noqa: PLC0415

    try:
        asked = urllib.request.Request(url, headers=headers)  # noqa: S310 - our own service
        with urllib.request.urlopen(asked, timeout=_PATIENCE_S) as answer:  # noqa: S310 - as above
            return json.load(answer)
    except (OSError, ValueError, http.client.HTTPException):
        return None


class _Looking:
    """Makes the report of the read service from the servers themselves, for when no read service gives it."""

    def __init__(self, settings: Settings, read_url: str | None, headers: dict[str, str]) -> None:
        self._settings = settings
        self._read_url = read_url
        self._headers = headers
        self._overviews: Overviews | None = None

    def report(self) -> dict[str, Any]:
        # The import of both drivers takes half a second, so it comes when they are needed.
        from events.platform.database import address_of  # noqa: PLC0415
        from events.platform.streams import server_of  # noqa: PLC0415
        from ingest.recording.intake import Overviews  # noqa: PLC0415
        from retrieval.channels.embedder_report import embedder_report  # noqa: PLC0415

        settings = self._settings
        self._overviews = self._overviews or Overviews(settings)
        seen = self._overviews()
        servers = {
            "redis": server_of(revealed(settings.redis_url)) if settings.redis_url else None,
            "postgres": address_of(settings.database_url) if settings.database_url else None,
        }
        url = self._read_url
        embedder = None if seen.events is None else embedder_report(settings)
        return seen.document() | {
            "channels": None if url is None else _fetched(f"{url}/v1/channels", self._headers),
            "embedder": None if embedder is None else dict(embedder),
            "servers": {name: address for name, address in servers.items() if address},
        }

    def close(self) -> None:
        if self._overviews is not None:
            self._overviews.close()


def _embedder_line(embedder: dict[str, str | None]) -> str:
    wanted = embedder["wanted"]
    line = f"{'embedder':<12} {embedder['fingerprint'] or 'no vectors yet'}"
    if embedder["model"] not in {None, wanted}:
        return f"{line}; {variable_of('embed_model')} is {wanted}: run `cardlog reembed`"
    return line


def _channel_line(name: str, health: dict[str, object]) -> str:
    p95 = "?" if health["p95_ms"] is None else f"{health['p95_ms']:.1f} ms"
    remaining = f", at most {health['quarantined_for_s']:.0f} s more" if health["quarantined_for_s"] else ""
    fault = f"; {health['fault']} makes it fail" if "fault" in health else ""
    return f"channel {name:<12}p95 {p95:>10}  {health['status']}{remaining}{fault}"


def _print(report: dict[str, Any], *, as_json: bool, clear: bool) -> None:
    if as_json:
        print(json.dumps(report, ensure_ascii=False), flush=True)
        return
    seen, channels, embedder = Overview.of_document(report), report["channels"], report["embedder"]
    lines = [
        f"{'stage':<12}{'behind':>10}{'seconds':>10}{'rate/s':>10}{'parked':>8}{'dead':>8}{'workers':>9}  state"
    ]
    lines += [_line(stage) for stage in seen.stages]
    lines += [
        f"last error of {stage.name} at {at:%Y-%m-%d %H:%M:%S %Z}: {stage.error}"
        for stage in seen.stages
        if (at := stage.error_at) is not None
    ]
    lines += [f"{name:<12}{number(getattr(seen, name)):>10}" for name in TOTALS]
    if channels is None:
        lines.append("channels     ? (no read service answers)")
    else:
        lines += [_channel_line(name, health) for name, health in channels.items()]
    if embedder is not None:
        lines.append(_embedder_line(embedder))
    lines += [f"{name:<12} {address}" for name, address in report["addresses"].items()]
    if seen.dead:
        lines.append(
            "dead letters need you: `cardlog dead list` gives their reasons, `retry` and `drop` settle them"
        )
    if given_up := sum(stage.dead or 0 for stage in seen.stages if stage.name == "extractor"):
        again = "`cardlog reextract --given-up` extracts them again"
        lines.append(
            f"{counted(given_up, 'turn')} without cards, given up by the extractor, need you: {again}"
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
