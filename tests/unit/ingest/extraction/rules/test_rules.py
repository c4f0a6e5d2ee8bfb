"""The rules extractor: the turns that become cards, and the turns that must not."""

from __future__ import annotations

import dataclasses

import pytest

from events.types.cards import EventNoted, KnowledgeLearned
from ingest.extraction.extractor_port import SessionBatch
from tests.support.ingest.rules import (
    EXTRACTOR,
    SAID_AT,
    cards,
    ended,
    episodes,
    facts,
    states,
    turn,
)
from tests.support.ingest.sentences import ASSERTED, ENDED, NOTHING


@pytest.mark.parametrize(("text", "fact"), ASSERTED)
def test_a_fact_stated_becomes_a_state(text: str, fact: tuple[str, str, str]) -> None:
    assert fact in facts(text)


@pytest.mark.parametrize(("text", "fact"), ENDED)
def test_an_ending_ends_the_state_and_does_not_assert_it(text: str, fact: tuple[str, str, str]) -> None:
    assert fact in ended(text)
    assert fact not in facts(text)


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_no_statement_of_fact_makes_no_state(text: str) -> None:
    assert states(text) == []


def test_another_persons_facts_are_never_the_speakers() -> None:
    for text in (
        "我朋友搬到台中了",
        "My brother works at Apple.",
        "我的貓叫麻糬，今年三歲",
        "Tom said he moved to Berlin.",
    ):
        assert all(one.entity != "user" or one.concept_key in ("pet", "sibling") for one in states(text)), (
            text
        )


def test_a_speaker_with_a_name_is_the_entity_of_the_first_person() -> None:
    (found,) = states("I live in Lisbon.", speaker="Caroline")
    assert found.entity == "Caroline"
    assert found.content == "Caroline lives in Lisbon"
    assert states("My sister lives in Kyoto.", speaker="Caroline")[0].entity == "Caroline's sister"


@pytest.mark.parametrize(
    ("text", "day", "announced"),
    [
        ("I moved to Lisbon yesterday.", "2026-05-07", True),
        ("I moved to Lisbon last month.", "2026-04-01", True),
        ("I moved to Lisbon last week.", "2026-04-30", True),  # a week has no first day anyone means
        ("I've been living in Lisbon since 2019.", "2019-01-01", False),
        ("I live in Lisbon.", "2026-05-08", False),
        ("我上個月搬到台中", "2026-04-01", True),
        ("我從三月開始在聯發科上班", "2026-03-01", False),
        ("我現在住在高雄", "2026-05-08", False),
    ],
)
def test_a_state_holds_from_the_time_said_with_it(text: str, day: str, announced: bool) -> None:
    (found,) = [one for one in states(text) if one.statement == "asserted"]
    assert found.effective_at.date().isoformat() == day
    assert found.announced is announced
    assert found.time_resolved is (found.effective_at != SAID_AT)


@pytest.mark.parametrize(
    ("text", "day", "other"),
    [
        ("I moved to Lisbon last Tuesday.", "2026-04-28", "2026-05-05"),
        ("I moved to Lisbon yesterday.", "2026-05-07", None),
    ],
)
def test_a_card_keeps_the_other_day_that_its_words_may_mean(text: str, day: str, other: str | None) -> None:
    (found,) = [one for one in states(text) if one.statement == "asserted"]
    assert found.effective_at.date().isoformat() == day
    assert (found.alternative_at.date().isoformat() if found.alternative_at else None) == other


@pytest.mark.parametrize(
    ("text", "year"),
    [("I've worked at Stripe for three years now.", 2023), ("我在聯發科工作三年了", 2023)],
)
def test_what_goes_on_for_years_now_is_open_and_began_years_ago(text: str, year: int) -> None:
    (found,) = [one for one in states(text) if one.statement == "asserted"]
    assert (found.effective_at.year, found.effective_until, found.time_grain) == (year, None, "year")


def test_what_lasted_for_years_began_years_ago() -> None:
    (found,) = states("I've worked at Stripe for three years.")
    assert (found.effective_at.year, found.time_grain, found.occurred_at_hint) == (
        2023,
        "year",
        "for three years",
    )


@pytest.mark.parametrize(
    ("before", "text", "key", "value", "replaces"),
    [
        ("I live in Taipei.", "typo, I meant Kaohsiung", "residence", "Kaohsiung", "Taipei"),
        ("I work at Google.", "sorry, I mean Goodyear", "employer", "Goodyear", "Google"),
        (
            "fibon plans to open-source in July.",
            "Oops, I meant August, not July.",
            "release_date",
            "August",
            "July",
        ),
        ("我住在台北", "打錯了，是高雄", "residence", "高雄", "台北"),
        ("我住在台北", "不是台北，是高雄", "residence", "高雄", "台北"),
    ],
)
def test_a_correction_is_corrected_within_a_burst_and_across_bursts(
    before: str, text: str, key: str, value: str, replaces: str
) -> None:
    for found in (states(before, text)[-1], states(text, preceding=(before,))[-1]):
        assert (found.statement, found.concept_key, found.value, found.replaces) == (
            "corrected",
            key,
            value,
            replaces,
        )


def test_a_correction_of_nothing_known_is_nothing() -> None:
    assert states("typo, I meant Kaohsiung") == []
    assert states("My cat is called Mochi.", "I meant to call you. Sorry, I mean, whatever.")[1:] == []


@pytest.mark.parametrize("preceding", [("I have a dog named Rex.",), ()])
def test_a_death_ends_the_pet_of_that_name_whenever_it_was_spoken_of(preceding: tuple[str, ...]) -> None:
    found = states("Rex died yesterday.", preceding=preceding)
    assert [(one.value, one.statement, one.effective_at.date().isoformat()) for one in found] == [
        ("Rex", "ended", "2026-05-07")
    ]
    assert (found[0].confidence > 0.8) is bool(preceding)


def test_an_assistant_states_no_facts_of_the_user_but_keeps_its_words_and_definitions() -> None:
    found = cards("I live in Lisbon. JWT is a compact format for signed claims.", role="assistant")
    assert [type(one) for one in found] == [EventNoted, KnowledgeLearned]
    assert {one.origin.provenance for one in found} == {"assistant_stated"}


def test_a_system_turn_makes_no_cards() -> None:
    assert cards("I live in Lisbon.", role="system") == []


def test_what_a_memory_gave_is_not_heard_again() -> None:
    text = "<state_cards>\nI live in Porto.\n</state_cards>\nI live in Lisbon. <current_time>2026-05-08</current_time>"
    (episode,) = episodes(text)
    assert facts(text) == {("user", "residence", "Lisbon")}
    assert episode.content == "I live in Lisbon."


def test_content_is_in_the_language_and_script_of_the_turn() -> None:
    assert [one.content for one in states("I moved from Porto to Lisbon.")] == [
        "No longer lives in Porto",
        "Lives in Lisbon",
    ]
    assert states("我養了一隻貓叫麻糬")[0].content == "養了貓，名叫麻糬"
    assert states("Alex has a dog named Rex")[0].content == "Alex has a dog named Rex"


def test_the_same_fact_twice_in_a_turn_is_one_card() -> None:
    assert len(states("I live in Lisbon. I really do live in Lisbon.")) == 1


def test_the_same_burst_gives_the_same_cards() -> None:
    texts = ("I moved to Lisbon last week.", "我養了一隻貓叫麻糬", "typo, I meant Porto")
    assert cards(*texts) == cards(*texts)


def test_every_card_carries_the_scope_of_its_turn() -> None:
    recorded = turn("I moved to Lisbon last week. JWT is a compact format for signed claims.")
    recorded = dataclasses.replace(
        recorded,
        turn=dataclasses.replace(
            recorded.turn, project_id="p", agent_id="a", document_id="d", context_layer="work", mode="code"
        ),
    )
    for one in EXTRACTOR.extract(SessionBatch((recorded,))).cards:
        origin = one.origin
        assert (
            origin.project_id,
            origin.agent_id,
            origin.document_id,
            origin.context_layer,
            origin.mode,
        ) == ("p", "a", "d", "work", "code")
        assert (origin.turn_ids, origin.session_id, origin.said_at) == (("t0",), "s", SAID_AT)
