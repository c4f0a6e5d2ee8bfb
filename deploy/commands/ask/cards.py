"""``cardlog cards``: lists the cards of a user, tells the history of a fact, corrects a card, or retracts it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from cyclopts import App

from cardlog_client import Client
from deploy.commands.ask.recall import when_of
from deploy.commands.ask.verbs import REASON, Verbs, argument, option
from deploy.options import at_least

if TYPE_CHECKING:
    from cardlog_client import types

app = App(
    name="cards",
    help="the cards of a user, and why they are believed; take back a wrong one. Nothing leaves the log",
)
verbs = Verbs(app)
_ID = "the card's id, as `cardlog cards list` and `cardlog recall --ids` print it"

Kind = Literal["state", "event", "knowledge", "reference"]
Status = Literal["current", "future", "superseded", "contested", "retracted", "all"]


def _lines(card: types.Card) -> Iterator[str]:
    yield f"{card['card_id']}  {card['kind']:<9}  {card['status']:<10}  {card['content']}   [{when_of(dict(card))}]"


def _told(history: types.CardHistory) -> Iterator[str]:
    """Yields every card of a fact, each with the words and the turns that it rests on."""
    for card in history["cards"]:
        yield from _lines(card)
        words = f"“{span['text']}” in " if (span := card["source_span"]) else ""
        yield f"    {card['provenance']}: {words}{', '.join(card['turn_ids'])}, said {card['said_at']}"


def _correct(client: Client, user: str, card: str, value: str | None, **more: Any) -> object:
    return client.correct_card(user, card, value=value, **more)


verbs.pages(
    "list", "list the cards of a user, the last recorded first", Client.cards,
    option("kind", Kind, "only cards of this kind"),
    option("status", Status, "default: all", "all"),
    option("project_id", str, "only cards of this project (default: all)", name="--project"),
    option("about", str, "only cards that mention this name, or another name of its concept", metavar="NAME"),
    option("limit", int, "the most cards", 50, validator=at_least(1)),
    items="cards", lines=_lines,
    none="{user} has no {status}cards like that",
)  # fmt: skip
verbs.call(
    "history", "show all that was true of a fact, in order of time, and the words that each card rests on",
    Client.card_history, argument("card", UUID, _ID), lines=_told,
)  # fmt: skip
verbs.call(
    "correct", "put a right card in the place of a wrong one: cardlog cards correct CARD Milan --user dana", _correct,
    argument("card", UUID, _ID),
    argument("value", str | None, "the right value of a fact, such as Milan", default=None),
    option("content", str, "the right words of the card"),
    REASON, lines="corrected {card}; the card is now {answer[event_id]}",
)  # fmt: skip
verbs.call(
    "retract", "mark a card as never true", Client.retract_card,
    argument("card", UUID, _ID), REASON, lines="retracted {card}, by relation {answer[event_id]}",
)  # fmt: skip
