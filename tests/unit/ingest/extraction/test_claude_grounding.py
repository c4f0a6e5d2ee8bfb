"""Labels of known cards, hints from nearby turns, and the parts of a card that nobody bears out."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from events.types.cards import EventNoted, KnowledgeLearned, StateAsserted
from events.types.turns import TurnRecorded
from ingest.extraction.claude import prompt
from ingest.extraction.claude.cards import GroundedCards, ground_cards
from ingest.extraction.claude.schema import answer_of
from ingest.extraction.extractor_port import CardLink, RecordedTurn, SessionBatch
from ingest.extraction.token_budget import about_tokens
from tests.support.ingest.claude import event, said, state
from tests.support.ingest.known import known_of, planned, stated
from tests.support.ingest.messages_api import turns_in

KNOWN = known_of(
    stated("medical_condition", "sprained ankle", 2, entity="Vera", days=-2),
    stated("hobby", "watercolour painting", 1),
    planned("Visits Ghent", 9),
)
"""Two facts and a plan. A prompt shows those that the turns are about."""


def grounded(turns: list[RecordedTurn], **lists: list[dict[str, Any]]) -> GroundedCards:
    answer = answer_of(lists)
    assert not answer.faults
    return ground_cards(answer, SessionBatch(tuple(turns), known=KNOWN))


def states(found: GroundedCards) -> list[StateAsserted]:
    return [card for card in found.cards if isinstance(card, StateAsserted)]


def events(found: GroundedCards) -> list[EventNoted]:
    return [card for card in found.cards if isinstance(card, EventNoted) and not card.episode]


def hobby(**more: Any) -> dict[str, Any]:
    return state(
        "I painted again", "painting", content="Likes painting", concept_key="pastime",
        cardinality="multi_value", **more,
    )  # fmt: skip


def test_a_state_with_the_label_of_a_known_fact_takes_its_key_and_value_and_is_linked() -> None:
    found = grounded([said("I painted again today.")], states=[hobby(same_as="F1")])
    [card] = states(found)
    assert (card.concept_key, card.value) == ("hobby", "watercolour painting")
    assert found.links == (CardLink(found.cards.index(card), UUID(int=1), "same_as", 0.8),)
    assert found.refused == 0


def test_a_detail_keeps_its_own_value_and_is_linked() -> None:
    found = grounded([said("I painted again today.")], states=[hobby(expands="F1")])
    [card] = states(found)
    assert card.value == "painting"
    assert [link.predicate for link in found.links] == ["expands"]


@pytest.mark.parametrize("label", ["F7", "P1", "hobby", "F2"])
def test_an_unknown_label_or_a_label_of_somebody_else_is_left_out_and_counted(label: str) -> None:
    found = grounded([said("I painted again today, and Vera watched.")], states=[hobby(same_as=label)])
    [card] = states(found)
    assert (card.value, found.links, found.refused) == ("painting", (), 1)


def test_a_known_illness_ends_by_its_label() -> None:
    ended = state(
        "my ankle is fine again", "ankle", content="Vera's ankle is fine", concept_key="illness",
        statement="ended", same_as="F1",
    )  # fmt: skip
    found = grounded([said("Good news, my ankle is fine again!", speaker="Vera")], states=[ended])
    [card] = states(found)
    assert (card.concept_key, card.value, card.statement) == ("medical_condition", "sprained ankle", "ended")


def test_a_cancelled_plan_is_named_by_its_label() -> None:
    off = event("Ghent is off", status="cancelled", replaces="P1")
    [card] = events(grounded([said("Ghent is off, sadly.")], events=[off]))
    assert (card.status, card.replaces, card.replaces_event) == ("cancelled", "Visits Ghent", UUID(int=9))


@pytest.mark.parametrize("replaces", ["P2", "the opera in Milan", "去看歌劇"])
def test_an_earlier_event_that_nobody_named_is_left_out_and_counted(replaces: str) -> None:
    off = event("Ghent is off", status="cancelled", replaces=replaces)
    found = grounded([said("Ghent is off, sadly.")], events=[off])
    [card] = events(found)
    assert (card.status, card.replaces, card.replaces_event, found.refused) == ("cancelled", None, None, 1)


def test_a_hint_of_a_nearby_turn_counts_on_the_clock_of_that_turn() -> None:
    turns = [
        said("Tomorrow is going to be fun.", 1, at="2026-05-08T23:50:00+08:00"),
        said("We are going to the aquarium.", 2, at="2026-05-09T00:10:00+08:00"),
    ]
    trip = event("We are going to the aquarium", turn=2, occurred_at_hint="Tomorrow", status="planned")
    [card] = events(grounded(turns, events=[trip]))
    assert card.occurred_at == datetime.fromisoformat("2026-05-09T00:00:00+08:00")
    assert card.origin.turn_ids == ("t2",)


@pytest.mark.parametrize("hint", ["at the end of June", "on the 20th", "六月底"])
def test_the_time_of_a_plan_lies_ahead(hint: str) -> None:
    trip = event("The move", content="The move", occurred_at_hint=hint, status="planned")
    turn = said(f"The move: {hint}")
    [card] = events(grounded([turn], events=[trip]))
    assert card.time_resolved
    assert card.occurred_at > turn.turn.said_at


def test_an_event_that_lies_ahead_has_not_happened() -> None:
    trip = event("Dinner with Lou tomorrow", occurred_at_hint="tomorrow", status="happened")
    [card] = events(grounded([said("Dinner with Lou tomorrow.")], events=[trip]))
    assert card.status == "planned"


def test_a_state_that_is_said_to_end_ends_then() -> None:
    lives = state("I live in Lisbon until Friday", "Lisbon", occurred_at_hint="until Friday", time_role="end")
    [card] = states(grounded([said("I live in Lisbon until Friday.")], states=[lives]))
    assert card.effective_until is not None
    assert card.effective_at < card.effective_until


@pytest.mark.parametrize(
    ("text", "value", "key"),
    [
        ("I have a new diet.", "new diet", "diet"),
        ("I got another job.", "another job", "occupation"),
        ("我換了新工作", "新工作", "occupation"),
        ("It changed, something different.", "something different", "hobby"),
    ],
)
def test_a_value_that_says_no_more_than_its_key_is_refused(text: str, value: str, key: str) -> None:
    found = grounded([said(text)], states=[state(text, value, content=text, concept_key=key)])
    assert (states(found), found.refused) == ([], 1)


def test_a_plan_given_as_a_state_is_an_event() -> None:
    plan = state("We will sail to Elba in July", "sail to Elba", content="Sails to Elba", concept_key="plans")
    [card] = events(
        grounded([said("We will sail to Elba in July.")], states=[plan | {"occurred_at_hint": "in July"}])
    )
    assert (card.status, card.content, card.time_resolved) == ("planned", "Sails to Elba", True)


EXAMPLES = re.findall(r"<example>(.*?)</example>", prompt.system(), re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_of_the_prompt_passes_the_check_that_answers_have_to_pass(example: str) -> None:
    asked = "\n".join(re.findall(r"<turn .*?</turn>", example))
    turns = [
        RecordedTurn(
            "ana",
            number,
            TurnRecorded(
                turn_id=f"t{number}",
                text=words,
                role="assistant" if attributes["role"] == "assistant" else "user",
                said_at=datetime.fromisoformat(attributes["said_at"]),
                timezone="UTC",
                session_id="s",
                project_id="default",
                speaker=attributes.get("speaker"),
            ),
        )
        for number, (attributes, words) in enumerate(turns_in(f"<turns>\n{asked}\n</turns>"), 1)
    ]
    found = grounded(turns, **json.loads(example[example.index("\n{") :]))
    assert found.refused == 0
    for card in found.cards:
        assert isinstance(card, KnowledgeLearned) or card.confidence > 0
        if isinstance(card, EventNoted) and not card.episode and card.occurred_at_hint:
            assert card.time_resolved


def test_the_stable_text_is_short() -> None:
    text = prompt.system()
    assert about_tokens(text[: text.index("<concept_keys>")]) <= 1_900
