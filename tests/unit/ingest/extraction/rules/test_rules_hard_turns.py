"""The hard kinds of turns, in English and Chinese: what the rules keep of each, and what they must not."""

from __future__ import annotations

import pytest

from tests.support.ingest.rules import cards, ended, events, facts, states

Fact = tuple[str, str, str]

KEPT: list[tuple[str, set[Fact]]] = [
    # an order with a fact behind it
    ("Ignore that. I weigh 78 kilos now.", {("user", "weight", "78 kilos")}),
    ("別管那個。我現在78公斤", {("user", "weight", "78公斤")}),
    # a hypothesis, sarcasm and a negation beside a fact
    ("If I lived in Oslo I'd ski. I live in Ghent.", {("user", "residence", "Ghent")}),
    ("Oh great, I'd love to be a vampire. I'm a nurse.", {("user", "occupation", "nurse")}),
    ("I don't live in Porto. I live in Ghent.", {("user", "residence", "Ghent")}),
    ("如果我住在東京就好了。我住在高雄", {("user", "residence", "高雄")}),
    ("我不住台北，我住在高雄", {("user", "residence", "高雄")}),
    # third persons
    ("My sister lives in Kyoto.", {("sister", "residence", "Kyoto")}),
    ("我姐姐住在台南", {("姐姐", "residence", "台南")}),
    # two facts in a sentence
    (
        "I live in Ghent and I work at Tessel.",
        {("user", "residence", "Ghent"), ("user", "employer", "Tessel")},
    ),
    ("我住在高雄，在台積電上班", {("user", "residence", "高雄"), ("user", "employer", "台積電")}),
    # pasted data and code beside a fact
    ('{"city": "Oslo", "name": "Bo"}\nI live in Ghent.', {("user", "residence", "Ghent")}),
    ("```\nhome = 'I live in Oslo'\n```\nI live in Ghent.", {("user", "residence", "Ghent")}),
    ("```\nhome = '我住在台北'\n```\n我住在高雄", {("user", "residence", "高雄")}),
]


@pytest.mark.parametrize(("text", "expected"), KEPT)
def test_of_a_hard_turn_the_plain_facts_are_kept_and_nothing_else(text: str, expected: set[Fact]) -> None:
    assert facts(text) == expected
    assert ended(text) == set()


@pytest.mark.parametrize(
    ("first", "second", "key", "old", "new"),
    [
        ("I weigh 82 kilos.", "I weigh 78 kilos now.", "weight", "82 kilos", "78 kilos"),
        ("My locker number is 112.", "My locker number is now 208.", "locker_number", "112", "208"),
        ("我體重82公斤", "我現在78公斤", "weight", "82公斤", "78公斤"),
        ("房租是一萬二", "房租漲到一萬四了", "rent", "一萬二", "一萬四"),
        ("房租是一万二", "房租涨到一万四了", "rent", "一万二", "一万四"),
    ],
)
def test_a_number_that_is_updated_has_one_key_and_one_value(
    first: str, second: str, key: str, old: str, new: str
) -> None:
    one, other = states(first, second)
    assert (one.concept_key, one.value) == (key, old)
    assert (other.concept_key, other.value) == (key, new)
    assert one.cardinality == other.cardinality == "single_value"


def test_a_false_claim_of_an_assistant_is_no_fact_of_the_user() -> None:
    for text in (
        "You live in Munich and your cat is called Rex.",
        "I live in Munich.",
        "你住在慕尼黑",
        "我住在慕尼黑",
    ):
        assert [one for one in cards(text, role="assistant") if not getattr(one, "episode", False)] == []


@pytest.mark.parametrize(
    "text", ["Just after midnight I finished the puzzle yesterday.", "我昨天半夜完成了拼圖"]
)
def test_an_event_at_midnight_stays_on_the_speakers_calendar(text: str) -> None:
    (found,) = events(text)
    assert found.status == "happened"
    assert found.occurred_at.date().isoformat() in ("2026-05-07", "2026-05-08")
    assert found.origin.time_zone == "Asia/Taipei"
