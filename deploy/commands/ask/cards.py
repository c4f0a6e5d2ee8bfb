"""``cardlog cards``: corrects a card of a user, or retracts it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from cyclopts import App

from cardlog_client import Client
from deploy.commands.ask.verbs import REASON, Verbs, argument, option

app = App(
    name="cards", help="take back a card that was never true. Nothing leaves the log, so both can be undone"
)
verbs = Verbs(app)
_ID = "the card's id, as `cardlog recall --ids` prints it"


def _correct(client: Client, user: str, card: str, value: str | None, **more: Any) -> object:
    return client.correct_card(user, card, value=value, **more)


verbs.call(
    "correct", "put a card with the right words in the place of a card", _correct,
    argument("card", UUID, _ID),
    argument("value", str | None, "the right value of a fact, such as Milan", default=None),
    option("content", str, "the right words of the card"),
    REASON, lines="corrected {card}; the card is now {answer[event_id]}",
)  # fmt: skip
verbs.call(
    "retract", "mark a card as never true", Client.retract_card,
    argument("card", UUID, _ID), REASON, lines="retracted {card}, by relation {answer[event_id]}",
)  # fmt: skip
