"""``cardlog sessions``: lists the sessions of a user, and shows turns as they were recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from cardlog_client import Client
from deploy.commands.ask.verbs import Verbs, argument, every, option
from deploy.options import Answer, Count, Flat, Given, OfUser

if TYPE_CHECKING:
    from cardlog_client import types

app = App(name="sessions", help="the conversations of a user: list them, show the turns of one, or one turn")
verbs = Verbs(app)


def _session(each: types.Session) -> Iterator[str]:
    yield (
        f"{each['session_id']}  project {each['project_id']}  {each['first_said_at']} to {each['last_said_at']}"
        f"  turns {each['turns']}"
    )


verbs.pages(
    "list", "list the sessions of a user, the latest spoken in first", Client.sessions,
    option("project_id", str, "only of this project", name="--project"),
    option("limit", Count, "the most sessions to print (default: all)"),
    items="sessions", lines=_session, none="{user} has no sessions",
)  # fmt: skip


@app.command(name="show", help="show the turns of a session in their order")
def run_show(
    session: Annotated[str, Parameter(help="the session's id, as listed")],
    /,
    *,
    project: Annotated[str, Parameter(help="the project of the session")] = "default",
    limit: Annotated[Count, Parameter(help="only so many of the latest turns (default: all)")] = None,
    options: Flat[OfUser],
    client: Given[Client],
) -> Answer:
    def ask(user: str, **page: object) -> Any:
        return client.session_turns(user, session, **page)

    found = every(ask, options.user, "turns", most=limit, project_id=project)[::-1]
    return Answer(found, map(_line, found))


def _line(turn: types.RecordedTurn) -> str:
    return f"{turn['said_at']}  {turn['speaker'] or turn['role']}: {turn['text']}"


verbs.call(
    "turn", "show one turn", Client.turn,
    argument("turn", str, "the turn's id, as the cards of the turn name it"),
    lines=lambda turn: [_line(turn)],
)  # fmt: skip
