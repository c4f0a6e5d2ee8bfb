"""``cardlog cards``: corrects a card of a user, or retracts it."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from cyclopts import App, Parameter

from cardlog_client import Client
from deploy.commands.ask.answers import show
from deploy.options import Flat, Given, OfUser

app = App(
    name="cards", help="take back a card that was never true. Nothing leaves the log, so both can be undone"
)

Id = Annotated[UUID, Parameter(help="the card's id, as `cardlog recall --json` prints it")]
Reason = Annotated[str | None, Parameter(metavar="WHY", help="the reason, which is recorded")]


@app.command(name="correct", help="put a card with the right words in the place of a card")
def run_correct(
    card: Id,
    value: Annotated[str | None, Parameter(help="the right value of a fact, such as Milan")] = None,
    /,
    *,
    content: Annotated[str | None, Parameter(help="the right words of the card")] = None,
    reason: Reason = None,
    options: Flat[OfUser],
    client: Given[Client],
) -> int:
    done = client.correct_card(options.user, str(card), value=value, content=content, reason=reason)
    return _shown(done, f"corrected {card}; the card is now {done['event_id']}", options)


@app.command(name="retract", help="mark a card as never true")
def run_retract(card: Id, /, *, reason: Reason = None, options: Flat[OfUser], client: Given[Client]) -> int:
    done = client.retract_card(options.user, str(card), reason=reason)
    return _shown(done, f"retracted {card}, by relation {done['event_id']}", options)


def _shown(done: Any, line: str, options: OfUser) -> int:
    return show(done, [line], as_json=options.json)
