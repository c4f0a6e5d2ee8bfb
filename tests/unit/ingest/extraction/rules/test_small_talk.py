"""Small talk makes no episode, and pasted data makes one of least importance."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.types.cards import PASTED
from events.types.turn_contract import parse_turn
from ingest.extraction.episodes import read
from ingest.extraction.extractor_port import RecordedTurn, SessionBatch
from ingest.extraction.rules.extractor import RulesExtractor
from ingest.extraction.small_talk import is_small_talk
from tests.support.ingest.rules import episodes
from tests.support.tables import texts

NOW = datetime(2026, 5, 8, 16, tzinfo=UTC)
SMALL_TALK, CONTENT = texts(__file__, "small_talk.txt"), texts(__file__, "no_small_talk.txt")


@pytest.mark.parametrize("text", SMALL_TALK)
def test_greetings_thanks_cheering_and_assent_make_no_episode(text: str) -> None:
    assert episodes(text) == []


@pytest.mark.parametrize("text", CONTENT)
def test_one_word_of_content_keeps_the_turn(text: str) -> None:
    (found,) = episodes(text)
    assert found.content == text
    assert 1 <= found.importance <= 10


@given(st.sampled_from(SMALL_TALK), st.sampled_from(CONTENT))
def test_small_talk_around_content_hides_no_content(small: str, content: str) -> None:
    assert not is_small_talk(f"{small}\n{content}")
    assert not is_small_talk(f"{content}\n{small}")


@given(st.text(max_size=700))
def test_any_text_gets_a_judgement(text: str) -> None:
    assert is_small_talk(text) in (True, False)


@pytest.mark.parametrize("text", texts(__file__, "data.txt"))
def test_pasted_data_and_code_are_marked_and_matter_least(text: str) -> None:
    found = read(text)
    assert found.pasted
    assert found.tags[0] == PASTED
    assert found.importance(cards=2, question=False) == 1


@pytest.mark.parametrize("text", texts(__file__, "no_data.txt"))
def test_words_that_somebody_says_are_not_data(text: str) -> None:
    assert not read(text).pasted


@pytest.mark.parametrize("text", ["   ", "\u3000", "\n\t"])
def test_a_turn_of_blanks_is_recorded_and_makes_no_card(text: str) -> None:
    _, turn = parse_turn({"user_id": "u", "text": text}, entry_time=NOW, entry_id="1-0")
    assert turn.text == text
    assert RulesExtractor().extract(SessionBatch((RecordedTurn("u", 1, turn),))).cards == ()
