"""Earlier turns are needed where a turn begins with a pronoun, an ellipsis or a very short answer."""

from hypothesis import given
from hypothesis import strategies as st

from ingest.extraction.earlier_turns import MOST_TURNS, leans_back, needed_turns
from ingest.extraction.extractor_port import SessionBatch
from tests.support.ingest.claude import said
from tests.support.tables import examples


@examples
def test_a_turn_that_leans_back(text: str) -> None:
    assert leans_back(text)


@examples
def test_a_turn_that_stands_alone(text: str) -> None:
    assert not leans_back(text)


EARLIER = tuple(said(f"I told you of my cat number {number}.", number) for number in range(6))


def test_only_the_nearest_turns_are_given_and_only_where_they_are_needed() -> None:
    alone = said("I moved to Lisbon last week with my two cats.", 7)
    leaning = said("She sleeps all day on the warm sofa.", 7)
    assert needed_turns(SessionBatch((alone, leaning), EARLIER)) == ()
    assert needed_turns(SessionBatch((leaning, alone), EARLIER)) == EARLIER[-MOST_TURNS:]
    assert needed_turns(SessionBatch((leaning,))) == ()


def test_the_second_turn_counts_when_the_first_says_nothing() -> None:
    leaning = said("She sleeps all day on the warm sofa.", 8)
    assert needed_turns(SessionBatch((said("haha", 7), leaning), EARLIER)) == EARLIER[-MOST_TURNS:]


@given(st.text(max_size=500))
def test_no_text_makes_it_raise(text: str) -> None:
    assert leans_back(text) in (True, False)
