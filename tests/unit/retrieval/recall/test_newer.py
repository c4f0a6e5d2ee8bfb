"""A newer turn may end what an older card says. The card says so, and a fact stands below that turn."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from events.language.changes import READ
from events.types.cards import PASTED
from projectors.cards.card import StoredCard
from retrieval.recall.fusion import of_share
from retrieval.recall.ranking.candidate import Candidate
from retrieval.recall.ranking.places import below_the_newer
from tests.support.cards import NOW
from tests.support.tables import examples
from tests.unit.retrieval.recall.test_places import episode, order, rank, state

EARLIER, LATER = NOW - timedelta(days=30), NOW - timedelta(days=3)
OTHERS = [episode(number, text) for number, text in enumerate(("a pie", "a lake", "a bus", "a kite"), 50)]


def ended(question: str, *cards: StoredCard) -> dict[int, int]:
    """The cards that perhaps no longer hold, with the card that may have ended each."""
    ranking = rank(question, *cards, *OTHERS, shares=(*(0.9 for _ in cards), *(0.1 for _ in OTHERS)))
    return {older.int: newer.int for older, newer in ranking.newer.items()}


@examples
def test_a_fact_yields_to_a_newer_turn_that_may_end_it(
    question: str, fact: str, key: str, value: str, later: str
) -> None:
    old = state(1, fact, key, value=value, said_at=EARLIER)
    newer = episode(2, later, said_at=LATER)
    assert ended(question, old, newer) == {1: 2}
    places = order(question, old, newer, *OTHERS, shares=(1.0, 0.5, 0.1, 0.1, 0.1, 0.1))
    assert places.index(2) < places.index(1)


@examples
def test_a_repetition_a_question_and_another_matter_end_nothing(
    question: str, fact: str, key: str, value: str, other: str
) -> None:
    assert (
        ended(question, state(1, fact, key, value=value, said_at=EARLIER), episode(2, other, said_at=LATER))
        == {}
    )


@examples
def test_what_others_do_and_what_did_not_happen_end_no_fact(
    question: str, fact: str, key: str, value: str, other: str
) -> None:
    own = state(1, fact, key, value=value, said_at=EARLIER)
    assert ended(question, own, episode(2, other, said_at=LATER)) == {}


def test_another_number_of_the_same_thing_puts_a_fact_in_doubt() -> None:
    fact = state(1, "Takes ibuprofen 200mg", "medication", value="ibuprofen 200mg", said_at=EARLIER)
    for words in ("the doctor has me on 400mg of ibuprofen", "ibuprofen 400mg before bed"):
        assert ended("What do I take?", fact, episode(2, words, said_at=LATER)) == {1: 2}
    for words in (
        "400mg of magnesium before bed",
        "ibuprofen 200mg before bed",
        "the ibuprofen is in the drawer",
    ):
        assert ended("What do I take?", fact, episode(2, words, said_at=LATER)) == {}


def test_a_repetition_after_the_change_refreshes_the_fact() -> None:
    fact = state(1, "Works at Hartwig", "employer", value="Hartwig", said_at=EARLIER)
    change = episode(2, "I am leaving Hartwig", said_at=LATER - timedelta(days=9))
    assert ended("Where do I work?", fact, change) == {1: 2}
    assert ended("Where do I work?", fact, change, episode(3, "still at Hartwig", said_at=LATER)) == {}


@examples
def test_a_later_change_stands_above_the_turn_that_it_changes(
    question: str, earlier: str, later: str
) -> None:
    before, after = episode(1, earlier, said_at=EARLIER), episode(2, later, said_at=LATER)
    assert order(question, before, after, *OTHERS, shares=(0.9, 0.9, 0.1, 0.1, 0.1, 0.1))[:2] == [2, 1]
    assert ended(question, before, after) == {1: 2}
    of_another = episode(2, later, said_at=LATER, speaker="Bo")
    assert ended(question, before, of_another) == {}


@examples
def test_a_brief_correction_stands_above_the_turn_before_it(first: str, then: str) -> None:
    def said(number: int, text: str, after: timedelta = timedelta(), **fields: Any) -> StoredCard:
        return episode(number, text, said_at=LATER + after, **fields)

    question, soon = "When is the recital? 發表會是什麼時候？", timedelta(minutes=1)
    shares = (0.9, 0.05, 0.1, 0.1, 0.1, 0.1)
    assert order(question, said(1, first), said(2, then, soon), *OTHERS, shares=shares)[:2] == [2, 1]
    for late in (said(2, then, timedelta(days=1)), said(2, then, soon, session_id="other")):
        assert order(question, said(1, first), late, *OTHERS, shares=shares)[0] == 1


@pytest.mark.parametrize(
    "question", ["What time was my haircut originally?", "How has the haircut changed over time?"]
)
def test_a_question_about_before_keeps_the_order(question: str) -> None:
    before = episode(1, "My haircut is at 2pm", said_at=EARLIER)
    after = episode(2, "My haircut was moved to 4pm", said_at=LATER)
    assert ended(question, before, after) == {}


def test_a_fact_that_the_registry_does_not_know_is_named_by_the_words_of_its_slot() -> None:
    old = state(1, "The locker code is 4471", "locker_code", value="4471", said_at=EARLIER)
    newer = episode(2, "they changed the locker code again, 9035", said_at=LATER)
    assert ended("How do I open the locker?", old, newer) == {1: 2}
    assert ended("How do I open the locker?", old, episode(2, "I changed the tyres", said_at=LATER)) == {}


@examples
def test_a_change_to_another_value_of_one_kind_needs_no_word_of_the_topic_when_both_are_near(
    question: str, earlier: str, later: str
) -> None:
    before, after = episode(1, earlier, said_at=EARLIER), episode(2, later, said_at=LATER)
    places = order(question, before, after, *OTHERS, shares=(1.0, 0.6, 0.1, 0.1, 0.1, 0.1))
    assert places[:2] == [2, 1]
    far = order(question, before, after, *OTHERS, shares=(1.0, 0.2, 0.1, 0.1, 0.1, 0.1))
    assert far[0] == 1
    elsewhere = episode(2, later, said_at=LATER, session_id="other")
    assert ended(question, before, elsewhere) == {}


def test_the_value_that_a_question_names_tells_which_thing_is_meant() -> None:
    asked = episode(1, "Hired Brandt for 300 a month", said_at=EARLIER)
    other = episode(2, "Hired Okoye for 450 a month, changed my mind twice", said_at=LATER)
    assert ended("Who is hired for 300 a month?", asked, other) == {}
    assert ended("Who is hired for a month?", asked, other) == {1: 2}


def test_of_two_values_said_in_one_instant_the_one_recorded_later_is_newer() -> None:
    first = episode(1, "My haircut is at 2pm", said_at=LATER)
    second = episode(2, "My haircut is at 4:30pm", said_at=LATER)
    assert (
        order("What time is my haircut?", first, second, *OTHERS, shares=(0.9, 0.9, 0.1, 0.1, 0.1, 0.1))[0]
        == 2
    )
    assert ended("What time is my haircut?", second, first) == {1: 2}


@examples
def test_a_change_of_another_thing_ends_nothing(
    question: str, earlier: str, of_another: str, of_it: str
) -> None:
    """Both turns are near to the question, and only one of the later ones names the same thing."""
    before = episode(1, earlier, said_at=EARLIER)
    for later, found in ((of_another, {}), (of_it, {1: 2})):
        assert ended(question, before, episode(2, later, said_at=LATER)) == found, later


@examples
def test_one_word_of_the_question_and_a_change_of_another_thing_end_nothing(
    question: str, earlier: str, later: str
) -> None:
    before, after = episode(1, earlier, said_at=EARLIER), episode(2, later, said_at=LATER)
    assert ended(question, before, after) == {}


@examples
def test_the_quoted_words_of_others_end_no_fact(
    question: str, fact: str, key: str, value: str, words: str
) -> None:
    own = state(1, fact, key, value=value, said_at=EARLIER)
    assert ended(question, own, episode(2, words, said_at=LATER)) == {}
    pasted = episode(2, "I moved to Bruges, I live there now", said_at=LATER, tags=(PASTED,))
    assert (
        ended(
            "Where do I live?",
            state(1, "Lives in Ghent", "residence", value="Ghent", said_at=EARLIER),
            pasted,
        )
        == {}
    )


def test_a_correction_names_what_it_corrects() -> None:
    birthday = state(1, "The birthday is 2 June", "birthday", value="2 June", said_at=EARLIER)
    words = episode(3, "my birthday is 2 June", said_at=EARLIER)
    for later in ("Correction: the picnic is on 9 July", "Oops, the picnic is on 9 June"):
        assert ended("When is my birthday?", birthday, words, episode(2, later, said_at=LATER)) == {}
    right = episode(2, "Correction: my birthday is 9 June", said_at=LATER)
    assert ended("When is my birthday?", birthday, words, right) == {1: 2, 3: 2}


def test_a_question_that_gives_its_reason_tells_it() -> None:
    before = episode(1, "My haircut is at 2pm", said_at=EARLIER)
    asks = "What shall I do with the afternoon now that my haircut moved to 4:30pm?"
    assert ended("What time is my haircut?", before, episode(2, asks, said_at=LATER)) == {1: 2}
    only = "Can my haircut be moved to 4:30pm?"
    assert ended("What time is my haircut?", before, episode(2, only, said_at=LATER)) == {}
    chinese = "既然理髮改到下午四點半，我下午做什麼？"
    assert ended(
        "理髮是幾點？", episode(1, "理髮約在下午兩點", said_at=EARLIER), episode(2, chinese, said_at=LATER)
    ) == {1: 2}


def test_a_further_member_of_a_list_ends_no_other_member() -> None:
    old = state(1, "Enjoys rowing", "hobby", value="rowing", cardinality="multi_value", said_at=EARLIER)
    told = episode(2, "Rowing is the hobby of my heart", said_at=EARLIER, turn_ids=["t2"])
    another = episode(3, "The marimba is my new hobby", said_at=LATER)
    assert ended("What are my hobbies?", old, told, another) == {}
    assert ended("What are my hobbies?", old, episode(3, "I gave up rowing", said_at=LATER)) == {1: 3}


@examples
def test_what_people_do_ends_no_tie_to_them(
    question: str, fact: str, key: str, value: str, other: str
) -> None:
    tie = state(1, fact, key, value=value, cardinality="multi_value", said_at=EARLIER)
    assert ended(question, tie, episode(2, other, said_at=LATER)) == {}
    assert ended(question, tie, episode(2, f"I lost touch with {value}", said_at=LATER)) == {1: 2}


def test_texts_of_nothing_but_values_or_change_words_end_nothing_in_another_project() -> None:
    values = [f"value{number}" for number in range(15)]
    facts = [
        state(number, f"Uses {value}", "tool", value=value, said_at=EARLIER, project_id="mine")
        for number, value in enumerate(values, 1)
    ]
    hostile = [
        episode(100 + number, text, said_at=LATER, project_id="theirs")
        for number, text in enumerate(
            (
                " ".join(values) * 200,
                "no longer " * 1000,
                "changed moved quit " * 1000,
                "現在不再" * 2000,
                "9" * 5000,
                "二千" * 2500,
            )
        )
    ]
    ranking = rank("Which tools do I use?", *facts, *hostile)
    assert not ranking.newer
    assert {placed.card_id for placed in ranking.placed} >= {UUID(int=number) for number in range(1, 16)}


def test_only_the_beginning_of_a_text_of_the_same_project_is_compared() -> None:
    fact = state(1, "Reports to Ines", "manager", value="Ines", said_at=EARLIER)
    assert ended("Who is my boss?", fact, episode(2, "Ines quit", said_at=LATER)) == {1: 2}
    assert ended("Who is my boss?", fact, episode(2, "hm " * READ + "Ines quit", said_at=LATER)) == {}
    assert ended("Who is my boss?", fact, episode(2, "Ines quit", said_at=LATER, project_id="theirs")) == {}


@examples
def test_news_of_somebody_else_ends_no_fact_of_the_asker_and_stands_below_it(
    question: str, fact: str, other: str, words: str
) -> None:
    own = state(1, fact, "residence", value=fact[-5:], said_at=EARLIER)
    theirs = state(2, other, "residence", entity="ruben", value="there", said_at=LATER)
    turn = episode(3, words, turn_ids=["t2"], said_at=LATER)
    assert ended(question, own, theirs, turn) == {}
    assert order(question, theirs, turn, own, *OTHERS, shares=(1.0, 1.0, 0.9, 0.1, 0.1, 0.1, 0.1))[0] == 1


def test_a_turn_about_the_slot_that_does_not_repeat_the_value_confirms_nothing() -> None:
    boss = state(1, "The boss is Ines", "manager", value="Ines", said_at=EARLIER)
    new = episode(2, "I have a new manager: Tom", said_at=LATER)
    pity = episode(3, "What a manager my cousin has!", said_at=LATER + timedelta(hours=1))
    assert ended("Who is my manager?", boss, new, pity)[1] == 2


def test_a_name_is_no_topic() -> None:
    fact = state(
        1, "Piet lives in Ghent", "residence", value="Ghent", said_at=EARLIER, entity="piet", speaker="Piet"
    )
    for words in ("I moved the piano, Piet here!", "My sister's exam was cancelled"):
        other = episode(2, words, said_at=LATER, speaker="Piet")
        assert ended("What does Piet's sister play?", fact, other) == {}
    # A third person's name that both turns call is none either.
    one = episode(1, "Nora, my tooth hurts", said_at=EARLIER, speaker="Piet")
    two = episode(2, "Nora, the bus line was cancelled", said_at=LATER, speaker="Piet")
    hers = episode(3, "Oh dear", said_at=LATER, speaker="Nora")
    assert ended("What did Piet tell Nora?", one, two, hers) == {}


def test_what_has_happened_is_not_ended() -> None:
    party = {"said_at": EARLIER, "event_status": "happened"}
    later = episode(2, "The harbour party was cancelled", said_at=LATER)
    happened = episode(1, "Went to the harbour party", episode=False, **party)
    assert ended("How was the harbour party?", happened, later) == {}
    planned = episode(1, "Goes to the harbour party", episode=False, **party | {"event_status": "planned"})
    assert ended("How was the harbour party?", planned, later) == {1: 2}


def test_a_fact_with_a_number_holds_when_another_number_of_its_turn_changed() -> None:
    turn = {"said_at": EARLIER, "turn_ids": ("t1",)}
    height = state(1, "Height is 176 cm", "height", value="176 cm", **turn)
    weight = state(2, "Weight is 92 kg", "weight", value="92 kg", **turn)
    said = episode(3, "I am 176 cm tall and my weight is 92 kg", **turn)
    now = episode(4, "my weight is down to 85 kg", said_at=LATER)
    assert ended("How much do I weigh, what is my weight?", height, weight, said, now) == {2: 4, 3: 4}


def test_a_fact_of_another_matter_holds_when_a_fact_of_its_turn_changed() -> None:
    turn = {"said_at": EARLIER, "turn_ids": ("t1",)}
    home = state(1, "Lives in Ghent", "residence", value="Ghent", **turn)
    work = state(2, "Works at Hartwig", "employer", value="Hartwig", **turn)
    role = state(5, "Works as a welder", "occupation", value="welder", **turn)
    said = episode(3, "I live in Ghent and weld at Hartwig", **turn)
    assert ended(
        "Where do I live and work?", home, work, role, said, episode(4, "I left Hartwig", said_at=LATER)
    ) == {2: 4, 3: 4, 5: 4}


def test_what_ends_a_turn_ends_no_fact_of_it_that_the_question_does_not_ask_for() -> None:
    turn = {"said_at": EARLIER, "turn_ids": ("t1",)}
    name = state(1, "Is named Dev", "name", value="Dev", **turn)
    said = episode(2, "My name is Dev. I live in the old mill", **turn)
    now = episode(3, "I live in Ghent now", said_at=LATER)
    assert ended("Where do I live?", name, said, now) == {2: 3}
    assert order("Where do I live?", said, name, *OTHERS)[0] == 2


def test_a_turn_holds_for_a_question_about_other_words_than_those_of_its_fact_that_is_over() -> None:
    said = episode(1, "I'm vegetarian and allergic to figs", said_at=EARLIER)
    diet = state(2, "Follows a pescatarian diet", "diet", value="pescatarian", said_at=LATER)
    over = {said.card_id: diet.card_id}
    assert rank("Am I allergic to figs?", said, diet, over=over).newer == {}
    assert rank("What is my diet?", said, diet, over=over).newer == over


def test_a_card_that_a_card_of_its_own_place_ended_keeps_the_place() -> None:
    evidence = of_share(1.0, of_best=1.0, inside=False)
    ended = Candidate(card=episode(1, "I moved to Oslo."), evidence=evidence)
    by = Candidate(card=episode(1, "I moved to Oslo, and then to Rome."), evidence=evidence)
    ended.is_ended(by, 1.0, surely=True)
    assert below_the_newer([ended], {ended: [by]}) == [ended]


def test_a_correction_means_the_last_sentence_or_one_with_another_value() -> None:
    def mended(question: str, turn: str, correction: str) -> bool:
        said = episode(1, turn, said_at=LATER)
        return ended(question, said, episode(2, correction, said_at=LATER + timedelta(minutes=2))) == {1: 2}

    course, cash = "I signed up for the pottery course. I pay by card for now.", "Actually, cash is easier."
    assert not mended("Which pottery course is it?", course, cash)
    assert mended("Do I pay by card?", course, cash)
    assert mended("How is it going?", course, cash)
    dentist = "My dentist is on the 3rd. Remind me to bring the form."
    assert mended("When is my dentist?", dentist, "no wait, it's the 5th")
    assert not mended("我报了哪个陶艺课？", "我报了陶艺课。钱先用卡付。", "不对，用现金。")


def test_the_time_of_a_plan_is_no_part_of_its_topic() -> None:
    plan = episode(1, "My flight to Rome is next Friday at 9am.", said_at=EARLIER)
    assert ended(
        "what is coming up?", plan, episode(2, "The flight to Rome was cancelled.", said_at=LATER)
    ) == {1: 2}


def test_a_change_that_tells_little_else_than_the_topic_stands_above_it() -> None:
    question, old = "Do I have judo this term?", episode(1, "Signed up for judo in the hall", said_at=EARLIER)
    for words, places in (
        ("Judo in the hall is cancelled", [2, 1]),
        ("Judo has moved a row of fans to tears", [1, 2]),
    ):
        newer = episode(2, words, said_at=LATER)
        assert order(question, old, newer, *OTHERS, shares=(1.0, 0.5, 0.1, 0.1, 0.1, 0.1))[:2] == places


def test_a_turn_with_other_words_of_the_question_is_about_another_thing() -> None:
    cellar = episode(1, "The lamp of the cellar is green", said_at=EARLIER)
    garage = episode(2, "The lamp of the garage is white now", said_at=LATER)
    assert ended("Which colour is the lamp of the garage?", cellar, garage) == {}
    assert ended("Which colour is the lamp of the cellar?", cellar, garage) == {}
    again = episode(3, "The lamp of the cellar is white now", said_at=LATER)
    assert ended("Which colour is the lamp of the cellar?", cellar, again) == {1: 3}


def test_a_card_with_little_of_the_question_is_about_another_thing() -> None:
    ladder = episode(1, "We use 4 ladders for the roof", said_at=EARLIER)
    paint = episode(2, "We use 6 buckets of lime now", said_at=LATER, session_id="another")
    oil = episode(3, "Linseed oil helps against rust, mould and moss", said_at=EARLIER)
    assert ended("What do we use against rust, mould and moss?", ladder, paint, oil) == {}
    assert ended("What do we use?", ladder, paint, oil) == {1: 2}


def test_written_cantonese_tells_a_change() -> None:
    old, newer = episode(1, "我食素", said_at=EARLIER), episode(2, "我冇食素喇", said_at=LATER)
    assert ended("我食唔食素", old, newer) == {1: 2}
