"""How far a long command is: a bar on a terminal, a plain line every few seconds elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
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
    """Tells standard error, so that output can be piped, how much of ``unit`` is done.

    Cheap to call as often as there is news; the begin of another part is told at once. Leaving the context takes
    the bar away, an error included. ``unit`` bytes are shown as such, and steps are few. ``console`` is where it
    tells, standard error unless given.
    """

    def __init__(self, unit: str, *, console: Console | None = None, every_s: float = _PLAIN_EVERY_S) -> None:
        self._unit = unit
        self._console = console or Console(stderr=True)
        self._terminal = self._console.is_terminal
        self._every_s = every_s
        self._told = time.monotonic()
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
            redirect_stdout=False,  # it may be a pipe, and what goes into a pipe is no news for the terminal
            disable=not self._terminal,
        )
        self._task = self._bars.add_task(unit, total=None)

    def __call__(self, done: int, total: int | None = None, *, doing: str | None = None) -> None:
        """``done`` of ``total`` units are done, where None is an unknown total; ``doing`` names the part."""
        another, self._doing = doing != self._doing, doing
        if another:
            self._bars.reset(self._task)  # the rate of one part says nothing of the next
        self._bars.update(self._task, completed=done, total=total, description=doing or self._unit)
        now = time.monotonic()
        if not self._terminal and (another or now - self._told >= self._every_s):
            self._told = now
            self._console.print(
                _line(self._bars.tasks[0], self._unit, doing), markup=False, highlight=False, soft_wrap=True
            )

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()


def _line(task: Task, unit: str, doing: str | None) -> str:
    """One plain line; rate and remaining time are the library's. A step has no rate."""
    if unit == "steps":
        return f"step {task.completed + 1:.0f} of {task.total or 0:.0f}: {doing}"
    line = f"{doing}: " if doing else ""
    line += f"{task.completed:,.0f} {unit}, {task.finished_speed or task.speed or 0.0:,.0f}/s"
    if task.total:
        left = "" if task.time_remaining is None else f", {task.time_remaining:.0f} s left"
        line += f", {task.percentage:.0f} % of {task.total:,.0f}{left}"
    return line
