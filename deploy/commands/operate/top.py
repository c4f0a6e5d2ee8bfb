"""``cardlog top``: shows the stages live in a terminal."""

import os
import select
import sys
import termios
import time
import tty
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from deploy.commands.operate.status import number
from deploy.options import Given, Seconds
from events.health.stage_health import TOTALS, Overview, StageHealth
from events.platform.settings import Settings
from ingest.recording.intake import Overviews

_BARS = "▁▂▃▄▅▆▇█"
_KEPT = 30
_COLOURS = {
    "running": "green",
    "waiting": "yellow",
    "building": "cyan",
    "stuck": "bold red",
    "stopped": "bold red",
    "abandoned": "cyan",
    "unknown": "magenta",
}


def top(
    *,
    once: Annotated[bool, Parameter(help="print one frame and end; the default without a terminal")] = False,
    every: Annotated[Seconds, Parameter(help="seconds between two frames (default: 1)")] = 1.0,
    cardlog: Given[Settings],
) -> int:
    """Show the stages live in a terminal.

    Shows lag, rate and recent rates, parked events, dead letters, workers, and the last errors. ? means unknown. q
    or Ctrl-C ends the command. It continues while Postgres or Redis is away, and shows that.
    """
    console = Console()
    rates: dict[str, deque[float]] = {}
    looking = Overviews(cardlog)
    try:
        if once or not console.is_terminal:
            console.print(frame(looking(), rates))
            return 0
        with _keys() as key, Live(console=console, screen=True, auto_refresh=False) as live:
            while True:
                live.update(frame(looking(), rates), refresh=True)
                if "q" in key(max(0.1, every)).lower():
                    return 0
    except KeyboardInterrupt:
        return 0
    finally:
        looking.close()


@contextmanager
def _keys() -> Iterator[Callable[[float], str]]:
    """Yields a function that reads single keys without Enter. Restores the terminal at the end."""
    if not sys.stdin.isatty():
        yield _nothing
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)

    def key(timeout: float) -> str:
        ready, _, _ = select.select([descriptor], [], [], timeout)
        # os.read bypasses Python's buffer, which select does not see.
        return os.read(descriptor, 64).decode(errors="replace") if ready else ""

    try:
        tty.setcbreak(descriptor)
        yield key
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _nothing(timeout: float) -> str:
    time.sleep(timeout)
    return ""


def frame(seen: Overview, rates: dict[str, deque[float]]) -> RenderableType:
    """Returns one frame of ``seen``. ``rates`` keeps the recent rates of each stage for the sparklines."""
    table = Table(box=None, pad_edge=False, expand=True)
    table.add_column("stage", no_wrap=True)
    for name in ("behind", "seconds", "rate/s"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("lately", no_wrap=True, max_width=_KEPT)
    for name in ("parked", "dead", "workers"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("state", ratio=1, overflow="fold")
    for stage in seen.stages:
        table.add_row(*_row(stage, rates.setdefault(stage.name, deque(maxlen=_KEPT))))
    errors = [
        Text(f"{stage.name} {stage.error_at:%H:%M:%S} {stage.error}", style="dim")
        for stage in seen.stages
        if stage.error is not None
    ]
    counts = "  ".join(f"{name} {number(getattr(seen, name))}" for name in TOTALS)
    heading = Text(f"cardlog  {counts}", style="bold")
    last = [Text(), Text("last errors", style="bold"), *errors] if errors else []
    return Group(heading, Text(), table, *last)


def _row(stage: StageHealth, rates: deque[float]) -> tuple[RenderableType, ...]:
    if stage.rate is not None:
        rates.append(stage.rate)
    alarm = "bold red"
    state = f"{stage.state}: {stage.detail}" if stage.detail else stage.state
    return (
        Text(stage.name),
        Text(number(stage.behind)),
        Text(number(stage.seconds)),
        Text(number(stage.rate)),
        Text(sparkline(rates), style="cyan"),
        Text(number(stage.parked), style=alarm if stage.parked else ""),
        Text(number(stage.dead), style=alarm if stage.dead else ""),
        Text(number(stage.workers)),
        Text(state, style=_COLOURS[stage.state]),
    )


def sparkline(values: Sequence[float]) -> str:
    """Returns one bar for each value. The highest value gets a full bar, and zeros get the lowest bar."""
    most = max(values, default=0.0)
    return "".join(_BARS[round(value / most * (len(_BARS) - 1)) if most else 0] for value in values)
