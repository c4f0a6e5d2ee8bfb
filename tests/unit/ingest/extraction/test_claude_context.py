"""A content may say what the words shortly before it, the speakers and the known cards resolve, and nothing more."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from ingest.extraction.claude.cards import ground_cards
from ingest.extraction.claude.schema import answer_of
from ingest.extraction.extractor_port import Extraction, SessionBatch
from ingest.extraction.known_cards import NOTHING, KnownCards
from tests.support.ingest.claude import event, noted, said, state, states
from tests.support.ingest.known import known_of, planned, stated
from tests.support.tables import examples


def shown(facts: Sequence[tuple[str, str, str]] = (), plans: Sequence[str] = ()) -> KnownCards:
    """Returns known facts (entity, key, value) and open plans, which the prompt shows."""
    return known_of(
        *(
            stated(key, value, number, entity=entity, cardinality="multi_value")
            for number, (entity, key, value) in enumerate(facts, 1)
        ),
        *(planned(plan, 100 + number) for number, plan in enumerate(plans, 1)),
    )


Spoken = Sequence[tuple[str | None, str]]  # speaker ("bot" is an assistant) and words of each turn


def grounded(spoken: Spoken, known: KnownCards = NOTHING, **lists: list[dict[str, Any]]) -> Extraction:
    turns = [
        said(words, number, role="assistant", at="2026-05-08T09:00:00+00:00")
        if speaker == "bot"
        else said(words, number, speaker=speaker, at="2026-05-08T09:00:00+00:00")
        for number, (speaker, words) in enumerate(spoken, 1)
    ]
    answer = answer_of(lists)
    assert not answer.faults
    return ground_cards(answer, SessionBatch(tuple(turns), known=known))


WEDDING: Spoken = (
    ("Ruth", "Tom and Ana are getting married! Where will the wedding be?"),
    ("Ana", "In October, at my parents' place."),
)
MARKET: Spoken = (
    ("bot", "Which stall do you run at the night market?"),
    ("Ivo", "Mostly the noodles, since March."),
)
CHINESE: Spoken = (
    ("若雨", "你跟承恩的婚禮在哪辦啊？"),
    ("思齊", "十月，在她爸媽家辦。"),
)


@pytest.mark.parametrize(
    ("spoken", "content", "known"),
    [
        (WEDDING, "Tom and Ana's wedding is in October at Ana's parents' place", NOTHING),
        (MARKET, "Ivo runs the noodles stall at the night market since March", NOTHING),
        (CHINESE, "承恩和思齊的婚禮十月在承恩爸媽家辦", NOTHING),
        (
            (("Ivo", "The grant came through, I start in June."),),
            "Ivo's grant for the Sava survey came through",
            shown(facts=[("Ivo", "project", "Sava survey")]),
        ),
        (
            ((None, "拿到補助了，六月開工。"),),
            "拿到淡水河調查的補助，六月開工",
            shown(facts=[("user", "project", "淡水河調查")]),
        ),
    ],
)
def test_a_content_may_resolve_what_the_words_before_it_and_the_known_cards_say(
    spoken: Spoken, content: str, known: KnownCards
) -> None:
    quote = spoken[-1][1]
    [card] = noted(grounded(spoken, known, events=[event(quote, turn=len(spoken), content=content)]))
    assert card.content == content


@pytest.mark.parametrize(
    ("spoken", "content"),
    [
        (WEDDING, "Tom and Ana's wedding is in October at Boris's place"),
        (WEDDING, "Tom and Ana's wedding for 300 guests is in October"),
        (CHINESE, "承恩和思齊的婚禮十月在王大偉家辦"),
        (CHINESE, "承恩和思齊的婚禮十月辦八十桌"),
    ],
)
def test_a_name_or_a_number_that_nobody_said_is_refused(spoken: Spoken, content: str) -> None:
    found = grounded(spoken, events=[event(spoken[-1][1], turn=len(spoken), content=content)])
    assert (noted(found), found.refused) == ([], 1)


def test_what_an_assistant_claims_bears_out_nothing() -> None:
    spoken = (("bot", "You moved to Gdansk last year, so I know your town."), ("Ivo", "It is cold."))
    lives = state("It is cold", "Gdansk", turn=2, content="Lives in Gdansk")
    moved = event("It is cold", turn=2, content="Ivo is cold in Gdansk")
    found = grounded(spoken, states=[lives], events=[moved])
    assert (states(found), noted(found), found.refused) == ([], [], 2)


@examples
def test_a_state_of_something_known_by_another_name_is_kept(
    words: str, value: str, entity: str, key: str
) -> None:
    known = shown(
        facts=[("Ivo", "business", "pottery shop"), ("Ivo", "business", "陶藝店"), ("Ivo", "pet", "Pixel")]
    )
    found = grounded(
        [("Ivo", words)], known, states=[state(words, value, content=words, entity=entity, concept_key=key)]
    )
    [card] = states(found)
    assert (card.value, card.entity, found.refused) == (value, entity, 0)


def test_a_value_is_no_part_of_a_longer_word() -> None:
    found = grounded(
        [(None, "I educate dogs.")], states=[state("I educate dogs.", "cat", content="I educate dogs.")]
    )
    assert (states(found), found.refused) == ([], 1)


@pytest.mark.parametrize("entity", ["user's father", "user's dad"])
def test_an_english_name_for_a_relative_fits_chinese_words(entity: str) -> None:
    ill = state("我爸有痛風", "痛風", content="爸爸有痛風", entity=entity, concept_key="medical_condition")
    [card] = states(grounded([(None, "我沒有，是我爸有痛風")], states=[ill]))
    assert (card.value, card.content) == ("痛風", "爸爸有痛風")


@examples
def test_what_ends_takes_the_entity_the_key_and_the_value_of_the_known_fact(
    words: str, more: dict[str, Any]
) -> None:
    known = shown(facts=[("Ivo", "roommate", "Bea from Split")])
    ended = (
        state(
            words,
            "roommate",
            content="Bea is no longer the roommate",
            concept_key="roommate",
            statement="ended",
        )
        | more
    )
    [card] = states(grounded([("Ivo", words)], known, states=[ended]))
    assert (card.entity, card.concept_key, card.value, card.statement) == (
        "Ivo",
        "roommate",
        "Bea from Split",
        "ended",
    )


@pytest.mark.parametrize("status", ["cancelled", "planned", "happened"])
def test_a_labelled_plan_is_closed_even_when_the_content_is_in_other_words(status: str) -> None:
    known = shown(plans=["Ivo and Bea row to the lighthouse"])
    words = "Next Friday works, hurray!"
    found = grounded([("Ivo", words)], known, events=[
        event(words, content="Gets together for fun", status=status, replaces="P1"),
    ])  # fmt: skip
    [card] = noted(found)
    assert (card.content, card.replaces_event) == (words, UUID(int=101))


@examples
def test_a_key_for_persons_is_no_key_of_a_thing(entity: str, key: str, kept: str) -> None:
    words = f"{entity}: Split"
    found = grounded(
        [("Ivo", words)], states=[state(words, "Split", content=words, entity=entity, concept_key=key)]
    )
    assert [card.concept_key for card in states(found)] == [kept]


@examples
def test_a_time_that_only_ends_bounds_a_plan(words: str, hint: str) -> None:
    plan = event(words, content=words, occurred_at_hint=hint, status="planned")
    [card] = noted(grounded([(None, words)], events=[plan]))
    assert card.occurred_until == datetime.fromisoformat("2027-01-01T00:00:00+08:00")
    assert not card.time_resolved


@examples
def test_days_without_a_month_lie_in_the_month_named_before_them(
    words: str, hint: str, start: str, end: str
) -> None:
    plan = event(words, content=words, occurred_at_hint=hint, status="planned")
    [card] = noted(grounded([(None, words)], events=[plan]))
    assert card.occurred_until is not None
    assert (f"{card.occurred_at:%Y-%m-%d}", f"{card.occurred_until:%Y-%m-%d}") == (start, end)
