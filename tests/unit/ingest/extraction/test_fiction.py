"""What is said in a role play or of a work of fiction is no fact of the user, and names nobody."""

import pytest

from events.people.mentions import read_card
from events.types.cards import FICTION, EventNoted
from ingest.extraction.claude.cards import ground_cards
from ingest.extraction.claude.schema import answer_of
from ingest.extraction.conversation import CONTEXT_TURNS
from ingest.extraction.extractor_port import SessionBatch
from tests.support.ingest.rules import cards, states, turn
from tests.support.tables import examples

_OPENS = "Let's do a role-play: you be the innkeeper and I'm the thief."
_SAYS = "My brother is called Cormac. I live in Tarn."


def _told(*texts: str, preceding: tuple[str, ...] = ()) -> list[str]:
    return [one.value for one in states(*texts, preceding=preceding)]


def _people(*texts: str, preceding: tuple[str, ...] = ()) -> list[str]:
    return [each.name for card in cards(*texts, preceding=preceding) for each in read_card(card).mentions]


@examples
def test_fiction_holds_to_the_end_of_its_turn(text: str) -> None:
    assert _told(text) == []
    assert _people(text) == []
    assert _told(text, "I live in Ghent.") == ["Ghent"]


@examples
def test_a_role_play_holds_for_the_next_turns(text: str) -> None:
    assert _told(text, _SAYS, "我叫沈清秋。") == []
    assert _people(text, _SAYS, "我妹妹叫沈清月。") == []
    assert _told(_SAYS, preceding=(text, "Go on.")) == []
    assert _people(_SAYS, preceding=(text, "Go on.")) == []


@examples
def test_a_role_play_ends_when_somebody_ends_it(text: str) -> None:
    assert _told(_OPENS, _SAYS, text, "I work at Halloran Freight.") == ["Ghent", "Halloran Freight"]


@examples
def test_words_of_games_and_stories_alone_are_no_fiction(text: str) -> None:
    assert _told(text, _SAYS)[-3:] == ["Ghent", "Cormac", "Tarn"]


@pytest.mark.parametrize(("turns", "told"), [(CONTEXT_TURNS - 1, []), (CONTEXT_TURNS, ["Cormac", "Tarn"])])
def test_a_role_play_holds_for_as_many_turns_as_an_extractor_sees(turns: int, told: list[str]) -> None:
    between = ("Go on.",) * turns
    assert _told(_OPENS, *between, _SAYS) == told
    assert _told(_SAYS, preceding=(_OPENS, *between)[-CONTEXT_TURNS:]) == told


def test_what_is_corrected_in_a_role_play_is_no_fact() -> None:
    assert _told("No wait, I meant Bergen.", preceding=(_OPENS, "I live in Tarn.")) == []


def test_a_model_marks_the_episodes_of_a_role_play() -> None:
    said = SessionBatch((turn(_SAYS, 1),), (turn(_OPENS),))
    [episode] = ground_cards(answer_of({}), said).cards
    assert isinstance(episode, EventNoted)
    assert FICTION in episode.tags
