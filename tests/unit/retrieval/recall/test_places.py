"""The places of an answer: one for each turn, the user's words first, and what holds now above what changed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from projectors.cards.card import StoredCard
from retrieval.query.question import understand
from retrieval.recall.ranking.places import ranked
from retrieval.recall.ranking.turns import MOST_WORDS, beside
from tests.support.cards import NOW, card


def episode(number: int, content: str, **fields: Any) -> StoredCard:
    usual = {
        "card_id": UUID(int=number),
        "kind": "event",
        "content": content,
        "episode": True,
        "occurred_at": NOW,
    }
    return card(**usual | {"turn_ids": [f"t{number}"]} | fields)


def state(number: int, content: str, key: str, **fields: Any) -> StoredCard:
    usual = {"card_id": UUID(int=number), "content": content, "concept_key": key, "effective_at": NOW}
    return card(**usual | {"turn_ids": [f"t{number}"], "cardinality": "single_value"} | fields)


def order(
    question: str, *cards: StoredCard, votes: tuple[float, ...] = (), leading: tuple[int, ...] = ()
) -> list[int]:
    """The numbers of the cards of the answer. Without ``votes``, the first card has the most."""
    given = votes or tuple(1.0 - 0.01 * place for place in range(len(cards)))
    ranking = ranked(
        {each.card_id: vote for each, vote in zip(cards, given, strict=True)},
        {each.card_id: each for each in cards},
        understand(question, NOW + timedelta(days=1)),
        leading=[UUID(int=number) for number in leading],
    )
    return [placed.card_id.int for placed in ranking.placed]


def test_the_cards_of_a_turn_have_one_place_and_an_episode_leaves_the_lead_to_the_card_with_its_time() -> (
    None
):
    words = episode(1, "We took the night train to Bergen on Friday, and the cabin was tiny", turn_ids=["t"])
    dated = episode(2, "took the night train to Bergen", turn_ids=["t"], episode=False, time_resolved=True)
    other = episode(3, "The station café had no milk")
    ranking = ranked(
        {words.card_id: 1.0, dated.card_id: 0.9, other.card_id: 0.5},
        {each.card_id: each for each in (words, dated, other)},
        understand("When did we take the night train?", NOW),
    )
    assert [placed.card_id.int for placed in ranking.placed] == [2, 3]
    assert ranking.beside == {dated.card_id: [words.card_id]}
    assert ranking.placed[0].score > 1.0
    [told] = beside(dated, [words])
    assert (told.card_id, told.kind, told.content) == (words.card_id, "event", words.content)


def test_a_card_with_a_turn_of_its_own_besides_keeps_its_place() -> None:
    one = episode(1, "The allotment has beans now")
    confirmed = state(2, "grows beans", "hobby", turn_ids=["t1", "t9"])
    assert order("what do I grow?", one, confirmed) == [1, 2]


def test_what_stands_beside_a_card_is_bounded_and_repeats_nothing() -> None:
    lead = state(1, "lives in Bergen", "residence")
    long = episode(2, "wide " * 400)
    others = [long, *(episode(number, f"note {number % 4}", episode=False) for number in range(3, 12))]
    told = beside(lead, [*others, episode(20, lead.content)])
    assert len(told) == 3
    assert told[0].card_id == long.card_id
    assert len(told[0].content) <= MOST_WORDS + 1
    assert len({each.content for each in told}) == 3


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How do I keep the sourdough alive?", 2),
        ("怎麼養酵母？", 2),
        ("What did you suggest for the sourdough?", 1),
        ("你之前建議我怎麼養酵母？", 1),
    ],
)
def test_the_users_words_come_first_unless_the_assistants_answer_is_asked_for(
    question: str, first: int
) -> None:
    answer = episode(1, "Feed the sourdough twice a day. 酵母一天餵兩次", provenance="assistant_stated")
    own = episode(2, "I feed my sourdough on Sundays. 我週日餵酵母")
    assert order(question, answer, own)[0] == first


@pytest.mark.parametrize("question", ["where do I live?", "我住哪裡？"])
def test_a_fact_that_holds_leads_whoever_else_said_the_same_words(question: str) -> None:
    invented = episode(1, "You live in Oslo, as far as I know", provenance="assistant_stated")
    asked = episode(2, "Where do I live if the house is sold?")
    fact = state(3, "lives in Bergen", "residence")
    assert order(question, invented, asked, fact, votes=(1.0, 0.9, 0.5), leading=(2,)) == [3, 2, 1]


def test_a_concept_alone_lifts_no_event_and_never_above_the_first_of_two_channels() -> None:
    said = episode(1, "The vet says the rabbit needs shade in summer")
    without_word = episode(2, "Nap time", concept_key="pet")
    with_word = episode(3, "Rabbit hutch painted", concept_key="pet")
    question = "why did the vet say my pet rabbit needs shade?"
    assert "pet" in understand(question, NOW).concepts
    assert order(question, said, without_word, with_word, leading=(1,))[0] == 1
    assert order(question, said, without_word, votes=(1.0, 0.6)) == [1, 2]


@pytest.mark.parametrize(
    ("question", "old", "new"),
    [
        (
            "Which room is the choir rehearsal in?",
            "Choir rehearsal is in room 12",
            "Choir rehearsal moved to room 30",
        ),
        ("合唱團練習在哪間教室？", "合唱團練習在十二教室", "合唱團練習改到三十教室了"),
        ("合唱团练习在哪间教室？", "合唱团练习在十二教室", "合唱团练习换到三十教室了"),
    ],
)
def test_a_later_change_stands_above_what_it_changed(question: str, old: str, new: str) -> None:
    before = episode(1, old, said_at=NOW - timedelta(days=9))
    after = episode(2, new)
    assert order(question, before, after) == [2, 1]
    assert order(question, before, episode(2, new, said_at=NOW - timedelta(days=20))) == [1, 2]


def test_what_is_asked_of_the_past_is_not_reordered_by_changes() -> None:
    before = episode(1, "Choir rehearsal was in room 12", said_at=NOW - timedelta(days=9))
    after = episode(2, "Choir rehearsal moved to room 30")
    assert order("Which room was the choir rehearsal in before?", before, after) == [1, 2]


def test_a_stretch_of_time_is_answered_from_inside_it() -> None:
    inside = episode(1, "Repaired the kayak", occurred_at=NOW.replace(month=3))
    outside = episode(2, "Repaired the tent", occurred_at=NOW.replace(month=1))
    question = "What did I repair in March 2026?"
    assert order(question, outside, inside) == [1, 2]


def test_words_that_differ_only_in_numbers_do_not_fill_an_answer() -> None:
    bills = [episode(number, f"Electricity bill {number} is paid") for number in range(1, 4)]
    other = episode(9, "The electricity comes from our own panels")
    assert order("what about electricity?", *bills, other) == [1, 9, 2, 3]


def test_an_episode_keeps_the_lead_of_its_turn_where_no_other_card_says_more() -> None:
    words = episode(1, "We took the night train to Bergen, and the cabin was tiny", turn_ids=["t"])
    short = episode(2, "took the night train to Bergen", turn_ids=["t"], episode=False, time_resolved=None)
    ranking = ranked(
        {words.card_id: 1.0, short.card_id: 0.9},
        {each.card_id: each for each in (words, short)},
        understand("Which train did we take?", NOW),
    )
    assert ranking.beside == {words.card_id: [short.card_id]}


@pytest.mark.parametrize("asked", ["Should we plant a fig tree?", "我們要不要種一棵無花果樹？"])
def test_a_turn_that_only_asks_comes_after_one_that_answers(asked: str) -> None:
    question = "What did we decide about the fig tree? 無花果樹"
    assert order(question, episode(1, asked), episode(2, "We decided on a fig tree 無花果樹"))[0] == 2


@pytest.mark.parametrize(
    ("question", "first"),
    [("Where do I live?", 2), ("我住哪裡？", 2), ("Which JSON did I send?", 1), ("我貼的設定是什麼？", 1)],
)
def test_pasted_data_comes_after_what_somebody_said_unless_it_is_asked_for(question: str, first: int) -> None:
    pasted = episode(1, '{"lives_in": "Zurich"}', tags=["pasted"])
    said = episode(2, "I live near the harbour")
    assert order(question, pasted, said)[0] == first


@pytest.mark.parametrize(
    ("asked", "telling"),
    [
        ("Is the kiln still in the shed?", "I had the kiln moved to the garage, is it safe there?"),
        ("窯還放在倉庫嗎？", "我把窯搬到車庫了，這樣安全嗎？"),
    ],
)
def test_a_turn_that_tells_something_before_it_asks_keeps_its_place(asked: str, telling: str) -> None:
    question = "Where is the kiln? 窯在哪裡？"
    assert order(question, episode(1, asked), episode(2, telling))[0] == 2


@pytest.mark.parametrize(
    ("question", "old", "new"),
    [
        (
            "How high is the rent of the studio?",
            "The studio rent is 900 euros",
            "I pay 950 euros rent for the studio",
        ),
        ("What share of the harvest do we sell?", "We sell 30% of the harvest", "We sell 45% of the harvest"),
        ("工作室的租金是多少？", "工作室租金是9000元", "工作室租金要9500元"),
        ("工作室的租金是多少？", "工作室的租金是1萬元", "工作室的租金是1.2萬元"),
    ],
)
def test_a_later_amount_stands_above_the_earlier_one(question: str, old: str, new: str) -> None:
    before = episode(1, old, said_at=NOW - timedelta(days=9))
    assert order(question, before, episode(2, new)) == [2, 1]
    assert order(question, before, episode(2, old, said_at=NOW))[0] == 1
    assert order(question, before, episode(2, new, said_at=NOW - timedelta(days=20))) == [1, 2]


def test_an_amount_of_something_else_and_an_amount_that_the_question_names_pass_nothing() -> None:
    before = episode(1, "The studio rent is 900 euros", said_at=NOW - timedelta(days=9))
    assert (
        order("How high is the rent of the studio?", before, episode(2, "Studio rent for 12 months"))[0] == 1
    )
    named = "Who pays 950 euros of rent for the studio?"
    assert order(named, before, episode(2, "I pay 950 euros rent for the studio"))[0] == 1


@pytest.mark.parametrize(
    ("now", "past", "former", "holds"),
    [
        (
            "Where is the pottery class?",
            "Where was the pottery class originally?",
            "The pottery class was originally in the chapel",
            "The pottery class is in the school",
        ),
        ("陶藝課在哪裡？", "陶藝課原本在哪裡？", "陶藝課一開始在教堂", "陶藝課在學校"),
        ("陶艺课在哪里？", "陶艺课当初在哪里？", "陶艺课本来在教堂", "陶艺课在学校"),
    ],
)
def test_how_it_was_at_first_comes_later_unless_it_is_asked_for(
    now: str, past: str, former: str, holds: str
) -> None:
    cards = episode(1, former), episode(2, holds)
    assert order(now, *cards) == [2, 1]
    assert order(past, *cards) == [1, 2]


@pytest.mark.parametrize(
    ("question", "withdrawn", "holds"),
    [
        (
            "How many seats does the hall have?",
            "The count of 80 seats for the hall is no longer valid",
            "The hall has 64 seats",
        ),
        ("禮堂有幾個座位？", "禮堂有80個座位的數字作廢", "禮堂有64個座位"),
    ],
)
def test_a_withdrawal_comes_after_what_holds(question: str, withdrawn: str, holds: str) -> None:
    said = episode(2, holds, said_at=NOW - timedelta(days=9))
    assert order(question, episode(1, withdrawn), said) == [2, 1]


def test_the_answer_to_a_message_is_spread_over_the_sessions() -> None:
    same = [episode(number, f"The loom note {'abc'[number]}", session_id="one") for number in range(3)]
    other = episode(9, "The loom thread", session_id="two")
    message = "I repaired the loom. I bought thread for it too. What is left?"
    assert order(message, *same, other)[:2] == [0, 9]
    assert order("What about the loom?", *same, other)[-1] == 9


def test_of_what_a_message_is_about_the_later_comes_first_unless_it_names_a_time() -> None:
    early = episode(1, "We sanded the hull of the canoe", said_at=NOW - timedelta(days=200), session_id="one")
    late = episode(2, "We varnished the hull of the canoe", said_at=NOW - timedelta(days=2), session_id="two")
    message = "I am back at the canoe. The hull looks good. What comes next for the hull?"
    assert order(message, early, late) == [2, 1]
    assert order("What comes next for the hull of the canoe?", early, late) == [1, 2]
    assert order(f"{message} Tomorrow I have time.", early, late) == [2, 1]
    assert order(f"{message} I mean what we did in May 2011.", early, late) == [1, 2]


@pytest.mark.parametrize(
    ("question", "asks", "tells"),
    [
        (
            "Which paint did we choose for the fence?",
            "Which paint should we take for the fence?",
            "We chose the green paint for it",
        ),
        (
            "Which paint did we choose for the fence?",
            "What about the fence? Should we choose a paint??",
            "We chose the green one",
        ),
        ("我們決定用哪種油漆漆圍籬？", "圍籬要用哪種油漆？", "我們決定用綠色的"),
    ],
)
def test_a_turn_that_only_asks_gains_nothing_by_coming_first(question: str, asks: str, tells: str) -> None:
    cards = episode(1, asks, said_at=NOW - timedelta(days=3)), episode(2, tells)
    assert order(question, *cards, votes=(1.0, 0.85), leading=(1,)) == [2, 1]
    told = episode(1, tells, said_at=NOW - timedelta(days=3)), episode(2, asks)
    assert order(question, *told, votes=(0.85, 1.0), leading=(1,)) == [1, 2]


def test_what_happened_before_yields_to_a_plan_when_the_question_is_about_days_ahead() -> None:
    before = episode(1, "On the weekend I slept late and went fishing")
    ahead = episode(2, "Visiting the harbour", occurred_at=NOW + timedelta(days=9), event_status="planned")
    day = (NOW + timedelta(days=9)).strftime("%B %d")
    assert order(f"What will I do on {day}?", before, ahead, votes=(1.0, 0.6)) == [2, 1]
    assert order("What do I do?", before, ahead, votes=(1.0, 0.6)) == [1, 2]
