"""Episodes, events and knowledge by the rules, and the small talk that makes none."""

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
from tests.support.ingest.rules import (
    episodes,
    events,
    knowledge,
)
from tests.support.tables import examples, texts


@examples
def test_what_happened_or_will_is_an_event_at_its_own_time(text: str, key: str, day: str) -> None:
    (found,) = events(text)
    assert (found.concept_key, found.occurred_at.date().isoformat()) == (key, day)


@examples
def test_an_event_without_its_time_is_left_to_the_episode(text: str) -> None:
    assert events(text) == []
    assert len(episodes(text)) == 1


@examples
def test_a_definition_is_knowledge(text: str, title: str, alias: str | None) -> None:
    (found,) = knowledge(text)
    assert found.title == title
    assert found.aliases == ((alias,) if alias else ())


@examples
def test_a_person_a_feeling_and_a_question_are_not_knowledge(text: str) -> None:
    assert knowledge(text) == []


@examples
def test_topics_are_phrases_as_spoken(text: str, topics: tuple[str, ...]) -> None:
    (found,) = episodes(text)
    assert set(topics) <= set(found.topics)
    alone = {word for topic in topics if " " in topic for word in topic.split()} - set(topics)
    assert alone.isdisjoint(found.topics)


def test_an_episode_has_topics_mood_and_weight() -> None:
    (sad,) = episodes("My grandma passed away last week and I'm heartbroken.")
    (dull,) = episodes("Could you look at line three")
    assert sad.sentiment == "negative"
    assert dull.sentiment == "neutral"
    assert sad.importance > dull.importance
    assert "grandma" in sad.topics
    assert episodes("我昨天去爬山，真的很開心")[0].sentiment == "positive"


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
