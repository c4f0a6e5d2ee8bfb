"""Events, knowledge and episodes that the rules find."""

from tests.support.ingest.rules import (
    episodes,
    events,
    knowledge,
)
from tests.support.tables import examples


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
