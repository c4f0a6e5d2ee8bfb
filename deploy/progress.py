"""The progress of a long command: a bar on a terminal, else a plain line every few seconds."""

import time
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import (
    Progress as Bars,
)
from rich.text import Text

_PLAIN_EVERY_S = 5.0


class _Rate(ProgressColumn):
    """Units a second."""

    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None else f"{task.speed:,.0f}/s", style="progress.data.speed")


class Progress:
    """Shows progress in ``unit`` on standard error, so that standard output can be piped.

    Calls are cheap. The start of another part is shown at once. The end of the context removes the bar, also after an
    error. The unit ``bytes`` is shown as sizes, and the unit ``steps`` as step numbers. ``console`` replaces standard
    error.
    """

    def __init__(self, unit: str, *, console: Console | None = None, every_s: float = _PLAIN_EVERY_S) -> None:
        self._unit = unit
        self._console = console or Console(stderr=True)
        self._terminal = self._console.is_terminal
        self._every_s = every_s
        self._printed_at = time.monotonic()
        self._doing: str | None = None
        counted = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
        self._bars = Bars(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            counted,
            _Rate(),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            redirect_stdout=False,  # standard output may be a pipe, and its text does not belong on the terminal
            disable=not self._terminal,
        )
        self._task = self._bars.add_task(unit, total=None)

    def __call__(self, done: int, total: int | None = None, *, doing: str | None = None) -> None:
        """Reports that ``done`` of ``total`` units are done. None means an unknown total. ``doing`` names the part."""
        another, self._doing = doing != self._doing, doing
        if another:
            self._bars.reset(self._task)  # each part has its own rate
        self._bars.update(self._task, completed=done, total=total, description=doing or self._unit)
        now = time.monotonic()
        if not self._terminal and (another or now - self._printed_at >= self._every_s):
            self._printed_at = now
            self._console.print(
                _line(self._bars.tasks[0], self._unit, doing), markup=False, highlight=False, soft_wrap=True
            )

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()


def _line(task: Task, unit: str, doing: str | None) -> str:
    """Returns one plain line with the rate and remaining time of rich. A step has no rate."""
    if unit == "steps":
        return f"step {task.completed + 1:.0f} of {task.total or 0:.0f}: {doing}"
    line = f"{doing}: " if doing else ""
    line += f"{task.completed:,.0f} {unit}, {task.finished_speed or task.speed or 0.0:,.0f}/s"
    if task.total:
        left = "" if task.time_remaining is None else f", {task.time_remaining:.0f} s left"
        line += f", {task.percentage:.0f} % of {task.total:,.0f}{left}"
    return line
