"""Labels of known cards, hints from nearby turns, and the parts of a card that nobody bears out."""

import json
import re
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from events.types.cards import EventNoted, KnowledgeLearned
from ingest.extraction.claude import prompt
from ingest.extraction.claude.cards import ground_cards
from ingest.extraction.claude.schema import answer_of
from ingest.extraction.extractor_port import CardLink, Extraction, RecordedTurn, SessionBatch
from ingest.extraction.token_budget import about_tokens
from tests.support.events.turns import recorded
from tests.support.ingest.claude import event, noted, said, state, states
from tests.support.ingest.known import known_of, planned, stated
from tests.support.ingest.messages_api import turns_in
from tests.support.tables import examples

KNOWN = known_of(
    stated("medical_condition", "sprained ankle", 2, entity="Vera", days=-2),
    stated("hobby", "watercolour painting", 1),
    planned("Visits Ghent", 9),
)
"""Two facts and a plan. A prompt shows those that the turns are about."""


def grounded(turns: list[RecordedTurn], **lists: list[dict[str, Any]]) -> Extraction:
    answer = answer_of(lists)
    assert not answer.faults
    return ground_cards(answer, SessionBatch(tuple(turns), known=KNOWN))


def hobby(**more: Any) -> dict[str, Any]:
    return state(
        "I painted again", "painting", content="Likes painting", concept_key="pastime",
        cardinality="multi_value", **more,
    )  # fmt: skip


def test_a_state_with_the_label_of_a_known_fact_takes_its_key_and_value_and_is_linked() -> None:
    found = grounded([said("I painted again today.")], states=[hobby(same_as="F1")])
    [card] = states(found)
    assert (card.concept_key, card.value) == ("hobby", "watercolour painting")
    assert found.links == (CardLink(found.cards.index(card), UUID(int=1), "same_as"),)
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
    [card] = noted(grounded([said("Ghent is off, sadly.")], events=[off]))
    assert (card.status, card.replaces, card.replaces_event) == ("cancelled", "Visits Ghent", UUID(int=9))


@pytest.mark.parametrize("replaces", ["P2", "the opera in Milan", "去看歌劇"])
def test_an_earlier_event_that_nobody_named_is_left_out_and_counted(replaces: str) -> None:
    off = event("Ghent is off", status="cancelled", replaces=replaces)
    found = grounded([said("Ghent is off, sadly.")], events=[off])
    [card] = noted(found)
    assert (card.status, card.replaces, card.replaces_event, found.refused) == ("cancelled", None, None, 1)


def test_a_hint_of_a_nearby_turn_counts_on_the_clock_of_that_turn() -> None:
    turns = [
        said("Tomorrow is going to be fun.", 1, at="2026-05-08T23:50:00+08:00"),
        said("We are going to the aquarium.", 2, at="2026-05-09T00:10:00+08:00"),
    ]
    trip = event("We are going to the aquarium", turn=2, occurred_at_hint="Tomorrow", status="planned")
    [card] = noted(grounded(turns, events=[trip]))
    assert card.occurred_at == datetime.fromisoformat("2026-05-09T00:00:00+08:00")
    assert card.origin.turn_ids == ("t2",)


@pytest.mark.parametrize("hint", ["at the end of June", "on the 20th", "六月底"])
def test_the_time_of_a_plan_lies_ahead(hint: str) -> None:
    trip = event("The move", content="The move", occurred_at_hint=hint, status="planned")
    turn = said(f"The move: {hint}")
    [card] = noted(grounded([turn], events=[trip]))
    assert card.time_resolved
    assert card.occurred_at > turn.turn.said_at


@examples
def test_a_day_of_what_happened_is_the_nearer_one(words: str, hint: str, day: str) -> None:
    [card] = noted(grounded([said(words)], events=[event(words, content=words, occurred_at_hint=hint)]))
    assert card.occurred_at.astimezone(card.origin.said_at.tzinfo).date().isoformat() == day


def test_an_event_that_lies_ahead_has_not_happened() -> None:
    trip = event("Dinner with Lou tomorrow", occurred_at_hint="tomorrow", status="happened")
    [card] = noted(grounded([said("Dinner with Lou tomorrow.")], events=[trip]))
    assert card.status == "planned"


def test_a_key_keeps_the_cardinality_that_its_known_fact_has() -> None:
    known = known_of(stated("home_value", "$350,000", 1))
    worth = state("it is worth two cars now", "two cars", concept_key="home_value", cardinality="multi_value")
    turn = said("Our home? I think it is worth two cars now.")
    found = ground_cards(answer_of({"states": [worth]}), SessionBatch((turn,), known=known))
    [card] = states(found)
    assert (card.concept_key, card.cardinality) == ("home_value", "single_value")


def test_a_fact_that_is_true_when_it_is_said_has_no_end_before() -> None:
    done = state(
        "it is half done by May 1", "half done", content="Half done", concept_key="hall_stage",
        occurred_at_hint="by May 1", time_role="end",
    )  # fmt: skip
    [card] = states(grounded([said("The hall: it is half done by May 1.")], states=[done]))
    assert card.effective_until is None


def test_a_state_that_is_said_to_end_ends_then() -> None:
    lives = state("I live in Lisbon until Friday", "Lisbon", occurred_at_hint="until Friday", time_role="end")
    [card] = states(grounded([said("I live in Lisbon until Friday.")], states=[lives]))
    assert card.effective_until is not None
    assert card.effective_at < card.effective_until


@examples
def test_a_value_that_says_no_more_than_its_key_is_refused(text: str, value: str, key: str) -> None:
    found = grounded([said(text)], states=[state(text, value, content=text, concept_key=key)])
    assert (states(found), found.refused) == ([], 1)


def test_a_plan_given_as_a_state_is_an_event() -> None:
    plan = state("We will sail to Elba in July", "sail to Elba", content="Sails to Elba", concept_key="plans")
    [card] = noted(
        grounded([said("We will sail to Elba in July.")], states=[plan | {"occurred_at_hint": "in July"}])
    )
    assert (card.status, card.content, card.time_resolved) == ("planned", "Sails to Elba", True)


def test_a_value_of_the_list_is_derived_and_no_other() -> None:
    words = "I don't eat meat, but I never gave up fish."
    derived = [
        state(words, value, content=f"Is {value}", concept_key="diet")
        for value in ("pescatarian", "fruitarian")
    ]
    found = grounded([said(words)], states=derived)
    assert ([card.value for card in states(found)], found.refused) == (["pescatarian"], 1)


def test_a_noun_of_a_later_turn_of_the_speaker_counts_and_the_card_rests_on_both_turns() -> None:
    puppy = state("I finally adopted one", "puppy", content="Adopted a puppy", concept_key="pet")
    turns = [
        said("I finally adopted one!", 1),
        said("Nice!", 2, role="assistant"),
        said("The puppy sleeps.", 3),
    ]
    [card] = states(grounded(turns, states=[puppy]))
    assert (card.content, card.origin.turn_ids) == ("Adopted a puppy", ("t1", "t3"))
    other = [turns[0], said("My puppy sleeps.", 2, speaker="Leo")]
    assert grounded(other, states=[puppy]).refused == 1


def test_a_name_of_a_later_turn_does_not_cost_the_content_of_a_trip() -> None:
    turns = [said("We camped last weekend.", 1, speaker="Vera"), said("Wow, where?", 2, speaker="Leo")]
    turns.append(said("In the Rockies!", 3, speaker="Vera"))
    content = "Vera camped in the Rockies"
    trip = event("We camped last weekend", content=content, occurred_at_hint="last weekend")
    [card] = noted(grounded(turns, events=[trip]))
    assert (card.content, card.time_resolved, card.origin.turn_ids) == (content, True, ("t1", "t3"))


@examples
def test_what_is_said_again_with_something_new_is_kept_as_a_detail(
    text: str, content: str, value: str
) -> None:
    hint = {"occurred_at_hint": "every Tuesday"} if "Tuesday" in text else {}
    again = state(text, "painting", content=content, concept_key="hobby", same_as="F1", **hint)
    found = grounded([said(text)], states=[again])
    [card] = states(found)
    assert (card.concept_key, card.value, card.cardinality) == ("hobby_detail", value, "multi_value")
    assert [link.predicate for link in found.links] == ["expands"]


@examples
def test_a_description_replaces_another_only_when_the_words_announce_it(
    value: str, announced: bool, cardinality: str
) -> None:
    text = f"我現在{value}" if value == "活得更健康" else f"These days: {value}"
    found = state(text, value, content=text, concept_key="lifestyle", announced=announced)
    [card] = states(grounded([said(text)], states=[found]))
    assert card.cardinality == cardinality


def test_what_happened_closes_the_plan_of_its_label() -> None:
    went = event("We saw Ghent", content="Saw Ghent", replaces="P1")
    [card] = noted(grounded([said("We saw Ghent at last.")], events=[went]))
    assert (card.status, card.replaces_event) == ("happened", UUID(int=9))


def test_a_wish_is_an_event_that_is_wished_and_never_a_state() -> None:
    words = "I want to sail to Elba next year."
    wish = event(words, content="Wants to sail to Elba", status="wished", occurred_at_hint="next year")
    goal = state(words, "sail to Elba", content="Wants to sail to Elba one day", concept_key="goal")
    found = grounded([said(words)], events=[wish], states=[goal])
    assert ([card.status for card in noted(found)], found.refused) == (["wished"], 1)


@examples
def test_a_slip_is_corrected_and_may_be_planned(given: dict[str, Any], status: str, corrects: bool) -> None:
    text = "Sorry, we visit Bruges, not Ghent."
    right = event(text, content="Visits Bruges", replaces="P1", **given)
    [card] = noted(grounded([said(text)], events=[right]))
    assert (card.status, card.corrects, card.replaces_event) == (status, corrects, UUID(int=9))


def test_of_a_bad_answer_the_good_cards_are_kept() -> None:
    turns = [said("I painted again with Vera today.", 1), said("Ghent was lovely.", 2)]
    good = event("I painted again", content="Painted again with Vera", participants=["Vera"])
    bad = [
        event("I painted again with Vera today. Ghent was lovely.", content="Painted in Ghent"),
        event("Ghent was lovely", turn=2, content="Gent war wunderschön und teuer"),
        event("Ghent was lovely", turn=2, content="根特很美"),
        event("Ghent was lovely", turn=2, content="Ghent was lovely", replaces="P4"),
    ]
    found = grounded(turns, events=[good, *bad])
    assert [card.content for card in noted(found)] == ["Painted again with Vera", "Ghent was lovely"]
    assert all(card.replaces_event is None for card in noted(found))
    assert found.refused == 3
    assert found.reasons == (
        "event of turn 1: nobody said the quote", "event of turn 2: the words do not bear it out",
    )  # fmt: skip
    crowd = answer_of({"events": [good | {"participants": [f"P{number}" for number in range(1000)]}, good]})
    assert (len(crowd.events), crowd.faulty) == (1, 1)
    assert "write at most" in crowd.faults[0]


EXAMPLES = re.findall(r"<example>(.*?)</example>", prompt.system(), re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_of_the_prompt_passes_the_check_that_answers_have_to_pass(example: str) -> None:
    asked = "\n".join(re.findall(r"<turn .*?</turn>", example))
    turns = [
        RecordedTurn(
            "ana",
            number,
            recorded(
                words,
                turn_id=f"t{number}",
                role="assistant" if attributes["role"] == "assistant" else "user",
                said_at=datetime.fromisoformat(attributes["said_at"]),
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
    assert about_tokens(text[: text.index("<concept_keys>")]) <= 2_000


def test_a_cancelled_plan_lies_ahead() -> None:
    off = event("I can't make the quiz on Monday", status="cancelled", occurred_at_hint="on Monday")
    [card] = noted(grounded([said("I can't make the quiz on Monday.")], events=[off]))
    assert card.occurred_at > card.origin.said_at
    off = event("We skipped the quiz last Monday", status="cancelled", occurred_at_hint="last Monday")
    [card] = noted(grounded([said("We skipped the quiz last Monday.")], events=[off]))
    assert card.occurred_at < card.origin.said_at


def test_a_loose_content_is_the_part_of_a_turn_without_punctuation_that_the_quote_touches() -> None:
    words = "搬家第三天 房東送了一盆蘭花 蘭花要多久澆一次水"
    gift = event("房東送了一盆蘭花", content="房東親切地贈送蘭花")
    [card] = noted(grounded([said(words)], events=[gift]))
    assert card.content == "房東送了一盆蘭花"


def test_a_space_between_chinese_words_separates_what_is_past_from_what_is_to_come() -> None:
    words = "昨天拔了智齒 週一要回診"
    visit = event("週一要回診", content="週一要回診", occurred_at_hint="週一")
    [card] = noted(grounded([said(words)], events=[visit]))
    assert (card.status, card.occurred_at.day) == ("planned", 11)


@pytest.mark.parametrize("statement", ["ended", "asserted"])
@pytest.mark.parametrize("hint", ["from 2015 to 2018", "2015到2018年"])
def test_what_was_true_for_a_stretch_of_time_holds_from_its_begin_until_its_end(
    hint: str, statement: str
) -> None:
    words = f"Rented a loft in Porto {hint}."
    rented = state(words, "Porto", content=words, statement=statement, occurred_at_hint=hint)
    [card] = states(grounded([said(words)], states=[rented]))
    assert card.effective_until is not None
    assert (card.statement, card.effective_at.year, card.effective_until.year) == ("asserted", 2015, 2019)


def test_a_known_fact_ends_with_the_stretch_in_which_it_was_true() -> None:
    words = "I painted watercolours from 2015 to 2018."
    over = state(
        words,
        "painting",
        content=words,
        statement="ended",
        same_as="F1",
        occurred_at_hint="from 2015 to 2018",
    )
    [card] = states(grounded([said(words)], states=[over]))
    assert (card.statement, card.effective_at.year, card.effective_until) == ("ended", 2019, None)
