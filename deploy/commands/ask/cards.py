"""``cardlog cards``: corrects a card of a user, or retracts it."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from cyclopts import App, Parameter

from cardlog_client import Client
from deploy.answer import Answer
from deploy.commands.ask.verbs import REASON, Verbs, argument
from deploy.options import Flat, Given, OfUser

app = App(
    name="cards", help="take back a card that was never true. Nothing leaves the log, so both can be undone"
)
verbs = Verbs(app)
_ID = "the card's id, as `cardlog recall --json` prints it"


@app.command(name="correct", help="put a card with the right words in the place of a card")
def run_correct(
    card: Annotated[UUID, Parameter(help=_ID)],
    value: Annotated[str | None, Parameter(help="the right value of a fact, such as Milan")] = None,
    /,
    *,
    content: Annotated[str | None, Parameter(help="the right words of the card")] = None,
    reason: Annotated[str | None, Parameter(metavar="WHY", help="the reason, which is recorded")] = None,
    options: Flat[OfUser],
    client: Given[Client],
) -> Answer:
    done = client.correct_card(options.user, str(card), value=value, content=content, reason=reason)
    return Answer(done, [f"corrected {card}; the card is now {done['event_id']}"])


verbs.call(
    "retract", "mark a card as never true", Client.retract_card,
    argument("card", UUID, _ID), REASON, lines="retracted {card}, by relation {answer[event_id]}",
)  # fmt: skip
