"""``cardlog problems``: lists the problems of a user, opens them, records attempts, and closes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal
from uuid import UUID

from cyclopts import App, Parameter

from cardlog_client import Client
from deploy.commands.ask.answers import show
from deploy.options import Flat, Given, OfUser, between

app = App(name="problems", help="what troubles a user, what the user tried, and what helped")

Id = Annotated[UUID, Parameter(help="the problem's id, as listed")]
Status = Literal["active", "closed", "all"]
_MOST = 1000
_OUTCOMES = {True: "worked", False: "failed", None: "tried"}


@app.command(name="list", help="list the problems of a user, the urgent ones first")
def run_list(
    *,
    options: Flat[OfUser],
    status: Annotated[Status, Parameter(help="default: active")] = "active",
    client: Given[Client],
) -> int:
    found = client.problems(options.user, status=status, limit=_MOST)["problems"]
    none = f"{options.user} has no {'' if status == 'all' else f'{status} '}problems"
    lines = [line for each in found for line in _lines(each)]
    return show(found, lines or [none], as_json=options.json)


@app.command(name="open", help="open a problem")
def run_open(
    description: Annotated[str, Parameter(help="what troubles the user, in a few words")],
    /,
    *,
    priority: Annotated[
        int | None, Parameter(validator=between(1, 10), help="1: a trifle, 10: urgent (default: 5)")
    ] = None,
    since: Annotated[
        str | None, Parameter(metavar="DAY", help="since when the user has it (default: now)")
    ] = None,
    project: Annotated[str, Parameter(help="the project of the problem")] = "default",
    options: Flat[OfUser],
    client: Given[Client],
) -> int:
    opened = client.open_problem(
        options.user, description, priority=priority, since=since, project_id=project
    )
    return show(opened, _lines(opened), as_json=options.json)


@app.command(name="attempt", help="record what the user tried; the same approach again updates its outcome")
def run_attempt(
    problem: Id,
    approach: Annotated[str, Parameter(help="what was tried")],
    /,
    *,
    outcome: Annotated[str | None, Parameter(help="what came of it")] = None,
    worked: Annotated[
        bool | None, Parameter(negative="--failed", help="whether it helped (default: unknown)")
    ] = None,
    date: Annotated[str | None, Parameter(metavar="DAY", help="when it was tried (default: now)")] = None,
    options: Flat[OfUser],
    client: Given[Client],
) -> int:
    tried = client.attempt_problem(
        options.user, str(problem), approach, outcome=outcome, successful=worked, date=date
    )
    return show(tried, _lines(tried), as_json=options.json)


@app.command(name="close", help="close a problem")
def run_close(
    problem: Id,
    /,
    *,
    resolution: Annotated[str | None, Parameter(metavar="HOW", help="how it ended")] = None,
    options: Flat[OfUser],
    client: Given[Client],
) -> int:
    closed = client.close_problem(options.user, str(problem), resolution=resolution)
    return show(closed, _lines(closed), as_json=options.json)


@app.command(name="reopen", help="open a closed problem again")
def run_reopen(
    problem: Id,
    /,
    *,
    reason: Annotated[str | None, Parameter(metavar="WHY", help="the reason, which is recorded")] = None,
    options: Flat[OfUser],
    client: Given[Client],
) -> int:
    opened = client.reopen_problem(options.user, str(problem), reason=reason)
    return show(opened, _lines(opened), as_json=options.json)


def _lines(problem: Any) -> Iterator[str]:
    yield f"{problem['problem_id']}  {problem['status']:<6} {problem['priority']:>2}  {problem['description']}"
    for each in problem["attempts"]:
        outcome = f": {each['outcome']}" if each["outcome"] else ""
        yield f"    {each['date'][:10]}  {_OUTCOMES[each['successful']]:<6}  {each['approach']}{outcome}"
