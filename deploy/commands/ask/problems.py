"""``cardlog problems``: lists the problems of a user, opens them, records attempts, and closes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal
from uuid import UUID

from cyclopts import App, Parameter

from deploy.instance import find
from deploy.options import Flat, Given, OfUser, between
from events.http.errors import invalid
from events.http.instants import refuse_future
from events.platform.database import connect
from events.platform.settings import Settings
from events.problems.problem import Problem, fold, in_order
from events.problems.problem_log import entries
from events.resources import problems as resources
from events.resources.resource import plain
from events.store import log
from events.store.log import Connection
from events.types.instants import instant_of
from events.types.turn_contract import TurnInvalidError, text_of
from ingest.decider import Command, Outcome
from ingest.problems import problem_commands
from ingest.problems.problem_commands import KnownProblem, UserProblems

app = App(name="problems", help="what troubles a user, what the user tried, and what helped")

Id = Annotated[UUID, Parameter(help="the problem's id, as listed")]
Status = Literal["active", "closed", "all"]
_LONGEST = 1000
_OUTCOMES = {True: "worked", False: "failed", None: "tried"}


@app.command(name="list", help="list the problems of a user, the urgent ones first")
def run_list(
    *,
    options: Flat[OfUser],
    status: Annotated[Status, Parameter(help="default: active")] = "active",
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    settings, _ = find(settings, data)
    with connect(settings.database_url, application="problems") as connection:
        problems = in_order(fold(entries(connection, options.owner)).by_id.values())
    found = [each for each in problems if status in ("all", each.status)]
    if options.json:
        print(json.dumps(plain([resources.Problem.made_from(each) for each in found]), ensure_ascii=False))
        return 0
    for each in found:
        _print(each)
    if not found:
        print(f"{options.user} has no {'' if status == 'all' else f'{status} '}problems")
    return 0


@app.command(name="open", help="open a problem")
def run_open(
    description: Annotated[str, Parameter(help="what troubles the user, in a few words")],
    /,
    *,
    priority: Annotated[
        int | None, Parameter(validator=between(1, 10), help="1: a trifle, 10: urgent (default: 5)")
    ] = None,
    project: Annotated[str, Parameter(help="the project of the problem")] = "default",
    options: Flat[OfUser],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    return _run(
        settings,
        data,
        options,
        lambda connection, command: problem_commands.open_problem(
            UserProblems(connection, options.owner, command),
            _text("description", description),
            priority,
            project,
            None,
        ),
    )


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
    date: Annotated[str | None, Parameter(metavar="INSTANT", help="when it was tried (default: now)")] = None,
    options: Flat[OfUser],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    def attempt(connection: Connection, command: Command) -> Outcome[Problem]:
        try:
            at = command.at if date is None else instant_of(date)
        except ValueError as error:
            raise invalid("date", str(error)) from None
        refuse_future("date", at, command.at)
        tried = {
            "approach": _text("approach", approach),
            "outcome": None if outcome is None else _text("outcome", outcome),
            "successful": worked,
        }
        return problem_commands.attempt(KnownProblem(connection, options.owner, command, problem), tried, at)

    return _run(settings, data, options, attempt)


@app.command(name="close", help="close a problem")
def run_close(
    problem: Id,
    /,
    *,
    resolution: Annotated[str | None, Parameter(metavar="HOW", help="how it ended")] = None,
    options: Flat[OfUser],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    return _run(
        settings,
        data,
        options,
        lambda connection, command: problem_commands.close(
            KnownProblem(connection, options.owner, command, problem),
            None if resolution is None else _text("resolution", resolution),
        ),
    )


@app.command(name="reopen", help="open a closed problem again")
def run_reopen(
    problem: Id,
    /,
    *,
    reason: Annotated[str | None, Parameter(metavar="WHY", help="the reason, which is recorded")] = None,
    options: Flat[OfUser],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    return _run(
        settings,
        data,
        options,
        lambda connection, command: problem_commands.reopen(
            KnownProblem(connection, options.owner, command, problem),
            None if reason is None else _text("reason", reason),
        ),
    )


def _run(
    settings: Settings,
    data: Path | None,
    options: OfUser,
    run: Callable[[Connection, Command], Outcome[Problem]],
) -> int:
    settings, _ = find(settings, data)
    command = Command(actor=f"operator for user/{options.user}", at=datetime.now(UTC))
    with connect(settings.database_url, application="problems") as connection:
        with connection.transaction():
            outcome = run(connection, command)
        if outcome.changed:
            log.announce(connection)
    if options.json:
        print(json.dumps(plain(resources.Problem.made_from(outcome.state)), ensure_ascii=False))
    else:
        _print(outcome.state)
    return 0


def _print(problem: Problem) -> None:
    print(f"{problem.problem_id}  {problem.status:<6} {problem.priority:>2}  {problem.description}")
    for each in problem.attempts:
        outcome = f": {each.outcome}" if each.outcome else ""
        print(f"    {each.date:%Y-%m-%d}  {_OUTCOMES[each.successful]:<6}  {each.approach}{outcome}")


def _text(field: str, text: str) -> str:
    try:
        text = text_of(field, text)
    except TurnInvalidError as error:
        raise invalid(error.field, error.reason) from None
    if not text.strip() or len(text.encode()) > _LONGEST:
        raise invalid(field, f"must have 1 to {_LONGEST} bytes")
    return text
