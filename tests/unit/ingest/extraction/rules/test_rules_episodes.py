"""Events, knowledge and episodes that the rules find."""

from __future__ import annotations

import pytest

from tests.support.ingest.rules import (
    episodes,
    events,
    knowledge,
)


@pytest.mark.parametrize(
    ("text", "key", "day"),
    [
        ("I went hiking yesterday.", "activity", "2026-05-07"),
        ("Last Friday I showed my aunt the old lighthouse.", "activity", "2026-05-01"),
        ("Ran along the canal yesterday.", "activity", "2026-05-07"),
        ("I'm flying to Tokyo next Friday.", "plan", "2026-05-15"),
        ("I have an appointment with the dentist tomorrow.", "plan", "2026-05-09"),
        ("We decided to use Postgres instead of Mongo.", "decision", "2026-05-08"),
        ("我昨天去爬山了", "activity", "2026-05-07"),
        ("我下週五要去東京出差", "plan", "2026-05-15"),
        ("上週三的會議決定了改用 PostgreSQL", "decision", "2026-04-29"),
    ],
)
def test_what_happened_or_will_is_an_event_at_its_own_time(text: str, key: str, day: str) -> None:
    (found,) = events(text)
    assert (found.concept_key, found.occurred_at.date().isoformat()) == (key, day)


@pytest.mark.parametrize(
    "text",
    [
        "I went hiking.",
        "I might fly to Tokyo next Friday.",
        "We moved the sofa to the window.",
        "Set the alarm for Monday.",
        "我會去東京",
    ],
)
def test_an_event_without_its_time_is_left_to_the_episode(text: str) -> None:
    assert events(text) == []
    assert len(episodes(text)) == 1


@pytest.mark.parametrize(
    ("text", "title", "alias"),
    [
        ("JWT (JSON Web Token) is a compact format for signed claims.", "JWT", "JSON Web Token"),
        ("RRF stands for Reciprocal Rank Fusion.", "RRF", "Reciprocal Rank Fusion"),
        ("Event sourcing is a pattern where state is derived from a log.", "Event sourcing", None),
        ("TIL that Postgres has partial indexes.", "Postgres", None),
        ("I learned that B-trees keep keys sorted.", "B-trees", None),
        ("JWT 是一種用來簽署聲明的格式", "JWT", None),
        ("所謂事件溯源是指把狀態的每次變化都記成事件", "事件溯源", None),
    ],
)
def test_a_definition_is_knowledge(text: str, title: str, alias: str | None) -> None:
    (found,) = knowledge(text)
    assert found.title == title
    assert found.aliases == ((alias,) if alias else ())


@pytest.mark.parametrize(
    "text",
    [
        "Tom is a teacher.",
        "That means a lot.",
        "It is a great idea.",
        "Lisbon is a beautiful place.",
        "I learned that my sister is coming.",
        "What is a JWT?",
        "這是一種很好的感覺",
        "他是一種很特別的人",
    ],
)
def test_a_person_a_feeling_and_a_question_are_not_knowledge(text: str) -> None:
    assert knowledge(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "hi",
        "Thanks!",
        "ok",
        "Hey Mel!",
        "hahaha",
        "Yesss",
        "👍",
        "好的",
        "哈哈哈",
        "謝謝你！",
        "嗯嗯",
        "",
        "  \n",
    ],
)
def test_small_talk_is_no_episode(text: str) -> None:
    assert episodes(text) == []


@pytest.mark.parametrize(
    "text",
    ["Yeah, two cats", "Luna and Oliver!", "What did you paint?", "在三樓", "麻糬", "ok, Tuesday then", "42"],
)
def test_anything_with_content_is_an_episode_in_its_own_words(text: str) -> None:
    (found,) = episodes(text)
    assert found.content == text
    assert 1 <= found.importance <= 10


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        (
            "I tried the dawn phenomenon strategy... It's been working really well!",
            ("dawn phenomenon strategy", "working"),
        ),
        ("My blood glucose is better with the insulin management", ("blood glucose", "insulin management")),
        ("I have type 2 diabetes, diagnosed in 2018.", ("type 2 diabetes", "diagnosed")),
        ("I started yoga three times a week for stress.", ("started", "yoga", "three", "stress")),
        (
            "We saw Rome's old streets and the Sistine Chapel",
            ("Rome", "Sistine Chapel", "old streets"),
        ),
        ("the postgres 18 upgrade broke our backup job", ("postgres 18 upgrade", "broke", "backup job")),
        ("我最近試了黎明現象的策略，血糖控制得很好", ("黎明現象", "策略", "血糖控制")),
    ],
)
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
