"""The answers of the read service agree with their models, and the client's types with the OpenAPI documents."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute

from events.http.answering import AnsweringRoute
from events.insights import Insight
from events.platform.settings import Settings
from events.resources import recall as resources
from events.resources.cards import AnyCard, Card, Contradiction, Kind, Side, names_of
from events.resources.recall import ChannelPlace, ChannelReport
from events.resources.resource import Resource, plain
from ingest.api.write_api import create_app as write_app
from projectors.cards.card import CARD_FIELDS
from retrieval.cards.card import ListedCard
from retrieval.context.context import context_of
from retrieval.http.embed_api import create_app as embed_app
from retrieval.http.read_api import create_app as read_app
from retrieval.http.resources import listed, prompted, recalled
from retrieval.recall.answer import RecallAnswer
from scripts import python_client
from tests.support.cards import NOW, answering, card

NOWHERE = Settings(database_url="postgresql://nobody@127.0.0.1:1/no", redis_url="redis://127.0.0.1:1/0")
NOT_JSON = {"/metrics", "/v1/turns/{turn_id}/events", "/v1/users/{user_id}/export"}
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


def answer() -> RecallAnswer:
    """A card of each kind, a contradiction with all its fields, and a channel that answers in part."""
    found = [
        card(card_id=UUID(int=n), kind=kind, **more) for n, (kind, more) in enumerate(OF_KIND.items(), 1)
    ]
    cards = [replace(answering(each), channels={"tags": ChannelPlace(rank=1, score=2.0)}) for each in found]
    sides = [Side.made_from(each) for each in found[:2]]
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
        channels={"tags": ChannelReport(status="ok", ms=1.234, hits=3, detail="in part")},
        warnings=("in part",),
        insights=[
            Insight(
                insight_id=UUID(int=20),
                content="Again and again: “tea”",
                kind="pattern",
                theme="tea",
                digest="",
                project_id="default",
                mode=None,
                sources=(UUID(int=1),),
                reason="often",
                confidence=0.8,
                status="current",
                retracted_reason=None,
                run_id=None,
                derived_at=NOW,
                position=1,
            )
        ]
        * 5,
    )


def of_kind(kind: Kind, names: set[str]) -> set[str]:
    """Returns the fields of an answer that cards of a kind have, of ``names`` and those of every card."""
    return {*names_of(kind), *names}


def test_the_json_of_a_recall_fits_its_model() -> None:
    document = plain(recalled(answer()))
    assert document.keys() == resources.Answer.model_fields.keys() - {"explain"}
    resources.Answer.model_validate(document)
    assert len(document["insights"]) == 1
    assert len(recalled(answer(), len(OF_KIND) + 2).insights or ()) == 2
    [conflict] = document["contradictions"]
    assert [each.keys() for each in conflict["cards"]] == [Side.model_fields.keys()] * 2


def test_the_json_of_a_prompt_fits_its_model() -> None:
    document = plain(prompted(context_of(answer())))
    assert document.keys() == resources.Prompt.model_fields.keys()
    resources.Prompt.model_validate(document)


@pytest.mark.parametrize("kind", OF_KIND)
def test_an_unchecked_card_has_exactly_the_fields_of_its_kind_and_fits_its_model(kind: Kind) -> None:
    stored = card(kind=kind, **OF_KIND[kind])
    shown = plain(
        listed(ListedCard(status="current", **{name: getattr(stored, name) for name in CARD_FIELDS}), NOW)
    )
    assert shown.keys() == of_kind(kind, {"status"})
    Card.model_validate(shown)
    found = next(each for each in plain(recalled(answer()))["cards"] if each["kind"] == kind)
    assert found.keys() == of_kind(kind, {"score", "channels", "pending", "beside"})
    resources.RecalledCard.model_validate(found)


def test_a_field_that_every_answer_has_is_a_field_of_every_kind() -> None:
    always = {name for name, field in AnyCard.model_fields.items() if field.is_required()}
    for kind in OF_KIND:
        assert always <= set(names_of(kind))


def test_a_field_without_a_value_is_absent_and_not_null() -> None:
    channels = plain(
        recalled(replace(answer(), channels={"tags": ChannelReport(status="ok", ms=1.234, hits=3)}))
    )["channels"]
    assert channels == {"tags": {"status": "ok", "ms": 1.23, "hits": 3}}


@pytest.mark.parametrize("create", [read_app, write_app, embed_app])
def test_every_json_route_is_annotated_with_the_resource_that_it_returns(create: Any) -> None:
    found = list(routes(create(NOWHERE).router))
    assert len(found) >= 3
    for route in found:
        assert isinstance(route, AnsweringRoute), route.path_format
        if route.path_format not in NOT_JSON:
            shapes = [each for each in getattr(route.response_model, "__args__", ()) if each is not str]
            for each in shapes or [route.response_model]:
                assert issubclass(each, Resource), route.path_format


def routes(router: APIRouter) -> Iterator[APIRoute]:
    """Yields the routes of an app, and those of the routers that it includes."""
    for each in router.routes:
        if isinstance(each, APIRoute):
            if each.include_in_schema:
                yield each
        elif hasattr(each, "original_router"):
            yield from routes(each.original_router)


def test_the_client_has_the_types_and_operations_of_the_openapi_documents() -> None:
    for place, text in python_client.sources().items():
        assert place.read_text("utf-8") == text, "run python -m scripts.python_client"
