"""``cardlog problems``: lists the problems of a user, opens them, records attempts, and closes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from cyclopts import App

from cardlog_client import Client
from deploy.commands.ask.verbs import REASON, Verbs, argument, option
from deploy.options import between

if TYPE_CHECKING:
    from cardlog_client import types

app = App(name="problems", help="what troubles a user, what the user tried, and what helped")
verbs = Verbs(app)

Status = Literal["active", "closed", "all"]
_ID = argument("problem", UUID, "the problem's id, as listed")
_MOST = 1000
_OUTCOMES = {True: "worked", False: "failed", None: "tried"}


def _lines(problem: types.Problem) -> Iterator[str]:
    yield f"{problem['problem_id']}  {problem['status']:<6} {problem['priority']:>2}  {problem['description']}"
    for each in problem["attempts"]:
        outcome = f": {each['outcome']}" if each["outcome"] else ""
        yield f"    {each['date'][:10]}  {_OUTCOMES[each['successful']]:<6}  {each['approach']}{outcome}"


verbs.pages(
    "list", "list the problems of a user, the urgent ones first", Client.problems,
    verbs.options, option("status", Status, "default: active", "active"),
    most=_MOST, items="problems", lines=_lines,
    none=lambda status: f"{{user}} has no {'' if status == 'all' else f'{status} '}problems",
)  # fmt: skip
verbs.call(
    "open", "open a problem", Client.open_problem,
    argument("description", str, "what troubles the user, in a few words"),
    option("priority", int, "1: a trifle, 10: urgent (default: 5)", validator=between(1, 10)),
    option("since", str, "since when the user has it (default: now)", metavar="DAY"),
    option("project_id", str, "the project of the problem", "default", name="--project"),
    lines=_lines,
)  # fmt: skip
verbs.call(
    "attempt", "record what the user tried; the same approach again updates its outcome", Client.attempt_problem, _ID,
    argument("approach", str, "what was tried"),
    option("outcome", str, "what came of it"),
    option(
        "successful", bool, "whether it helped (default: unknown)", name="--worked", negative="--failed"
    ),
    option("date", str, "when it was tried (default: now)", metavar="DAY"),
    lines=_lines,
)  # fmt: skip
verbs.call(
    "close", "close a problem", Client.close_problem, _ID,
    option("resolution", str, "how it ended", metavar="HOW"),
    lines=_lines,
)  # fmt: skip
verbs.call("reopen", "open a closed problem again", Client.reopen_problem, _ID, REASON, lines=_lines)
