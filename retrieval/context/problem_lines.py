"""Open problems as lines of a prompt: what troubles the user, what worked, and what did not."""

from __future__ import annotations

from collections.abc import Callable

from events.problems.problem import Attempt, Problem


def problem_line(problem: Problem, escaped: Callable[[str], str], most: int) -> str:
    """Returns a problem as one XML element, with its ``most`` latest attempts of each outcome.

    ``escaped`` escapes a text for XML. The result depends on nothing else.
    """
    since = f"{problem.since:%Y-%m-%d}"
    parts = [f'<problem priority="{problem.priority}" since="{since}">{escaped(problem.description)}']
    for name, wanted in (("worked", True), ("failed", False), ("tried", None)):
        found = [each for each in reversed(problem.attempts) if each.successful is wanted][:most]
        parts += [f"<{name}>{escaped(_told(each))}</{name}>" for each in reversed(found)]
    return "".join((*parts, "</problem>"))


def _told(attempt: Attempt) -> str:
    said = attempt.approach if attempt.outcome is None else f"{attempt.approach}: {attempt.outcome}"
    return f"{said} ({attempt.date:%Y-%m-%d})"
