"""The JSON documents of the read service, the schemas of its OpenAPI document and the client's types agree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NotRequired, get_origin, get_type_hints
from uuid import UUID

import orjson
import pytest

from projectors.cards.card import CARD_FIELDS, Kind
from retrieval.cards.alerts import Contradiction
from retrieval.cards.card import CardBrief, ListedCard, brief
from retrieval.client import documents as client
from retrieval.context.context import context_of
from retrieval.http import answers
from retrieval.http.documents import listed_document, prompt_document, recall_document
from retrieval.recall.answer import ChannelPlace, RecallAnswer
from retrieval.recall.channel_executor import ChannelReport
from tests.support.cards import NOW, answering, card

OF_KIND: dict[Kind, dict[str, Any]] = {
    "state": {
        "concept_key": "residence",
        "value": "Lisbon",
        "cardinality": "single_value",
        "effective_at": NOW,
    },
    "event": {
        "occurred_at": NOW,
        "episode": True,
        "topics": [],
        "importance": 5,
        "sentiment": "neutral",
        "event_status": "happened",
        "participants": [],
    },
    "knowledge": {"title": "JWT", "aliases": ["jwt"], "definition": "a signed token", "effective_at": NOW},
}
NOT_ALWAYS = {
    "ended", "episode", "topics", "importance", "sentiment", "title", "aliases", "definition", "status", "score",
    "channels", "pending", "beside", "event_status", "time_passed", "participants", "value_at", "value_until",
    "value_grain", "perhaps_no_longer",
}  # fmt: skip


def answer() -> RecallAnswer:
    """A card of each kind, a contradiction with all its fields, and a channel that answers in part."""
    found = [
        card(card_id=UUID(int=n), kind=kind, **more) for n, (kind, more) in enumerate(OF_KIND.items(), 1)
    ]
    cards = [replace(answering(each), channels={"tags": ChannelPlace(1, 2.0)}) for each in found]
    sides: list[CardBrief] = [brief(each) for each in found[:2]]
    conflict = Contradiction(
        concept_key="residence",
        entity="user",
        card_ids=[each.card_id for each in found[:2]],
        reason="two values",
        arbitration_id=UUID(int=9),
        cards=sides,
    )
    return RecallAnswer(
        current_time=NOW,
        cards=cards,
        contradictions=[conflict],
        channels={"tags": ChannelReport("ok", 1.234, 3, "in part")},
        warnings=("in part",),
    )


def required(shape: Any) -> set[str]:
    """The keys that every document of a TypedDict has."""
    return {name for name, hint in hints(shape).items() if get_origin(hint) is not NotRequired}


def hints(shape: Any) -> dict[str, Any]:
    # The annotations are strings, so the class itself does not know which keys are NotRequired.
    return get_type_hints(shape, include_extras=True)


def parsed(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(orjson.dumps(document))
    return found


def test_a_recall_fits_the_client_and_the_openapi_document() -> None:
    document = parsed(recall_document(answer()))
    answers.RecallAnswer.model_validate(document)
    assert document.keys() == required(client.Answer)
    [conflict] = document["contradictions"]
    assert conflict.keys() == hints(client.Contradiction).keys()
    for side in conflict["cards"]:
        assert side.keys() == required(client.Side)


def test_a_prompt_fits_the_client_and_the_openapi_document() -> None:
    document = parsed(prompt_document(context_of(answer())))
    answers.Prompt.model_validate(document)
    assert document.keys() == required(client.Prompt)
    assert {tuple(block) for block in document["blocks"]} == {("name", "text", "tokens", "stable")}
    assert document["cards"][0].keys() == required(client.Numbered)


@pytest.mark.parametrize("kind", OF_KIND)
def test_every_field_of_a_card_is_a_field_of_the_clients_card(kind: Kind) -> None:
    stored = card(kind=kind, **OF_KIND[kind])
    listed = ListedCard(status="current", **{name: getattr(stored, name) for name in CARD_FIELDS})
    recalled = next(each for each in recall_document(answer())["cards"] if each["kind"] == kind)
    known = hints(client.Card).keys()
    for document in (listed_document(listed, NOW), recalled):
        assert required(client.Card) <= document.keys() <= known


def test_the_optional_fields_of_the_clients_card_are_those_that_some_answers_lack() -> None:
    assert hints(client.Card).keys() - required(client.Card) == NOT_ALWAYS
