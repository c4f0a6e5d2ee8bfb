"""Open problems as lines of a prompt: what troubles the user, what worked, and what did not."""

from __future__ import annotations

from collections.abc import Callable

from events.problems.problem import Attempt, Problem

_MOST = 5
"""The latest attempts of each outcome that a line tells."""


def problem_line(problem: Problem, escaped: Callable[[str], str]) -> str:
    """Returns a problem as one XML element. ``escaped`` escapes a text for XML. The result depends on nothing else."""
    since = f"{problem.opened_at:%Y-%m-%d}"
    parts = [f'<problem priority="{problem.priority}" since="{since}">{escaped(problem.description)}']
    for name, wanted in (("worked", True), ("failed", False), ("tried", None)):
        found = [each for each in problem.attempts if each.successful is wanted][-_MOST:]
        parts += [f"<{name}>{escaped(_told(each))}</{name}>" for each in found]
    return "".join((*parts, "</problem>"))


def _told(attempt: Attempt) -> str:
    said = attempt.approach if attempt.outcome is None else f"{attempt.approach}: {attempt.outcome}"
    return f"{said} ({attempt.date:%Y-%m-%d})"
