"""Casual English is read as books write it, and every span leads back to what was said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.language.casual import written_out
from tests.support.ingest.rules import cards, events, facts

WORDS = st.sampled_from(
    (
        *(
            "i",
            "im",
            "ill",
            "were",
            "going",
            "sat",
            "u",
            "w/",
            "my",
            "sis",
            "brothers",
            "name",
            "is",
            "leeds",
        ),
        *("in", "It's", "don’t", ",", ".", "\n", "我"),
    )
)


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("im moving to leeds next month", "I'm moving to Leeds next month"),
        ("were meeting on sat, ill be late", "we're meeting on Saturday, I'll be late"),
        ("they were going home", "they were going home"),
        ("were vegetarian so no ham", "we're vegetarian so no ham"),
        ("were you there", "were you there"),
        ("just moved to leeds im working now", "just moved to Leeds. I'm working now"),
        ("the day im leaving", "the day I'm leaving"),
        ("the cat sat on my bed", "the cat sat on my bed"),
        ("sat i helped my bro move", "Saturday I helped my brother move"),
        ("my sis anna lives in new york", "my sister Anna lives in New York"),
        ("my brothers name is tim", "my brother's name is Tim"),
        ("its called rex", "it's called Rex"),
        ("lost its tail", "lost its tail"),
        ("My ID is 5 and I was ill", "My ID is 5 and I was ill"),
        ("what did u recommend", "what did you recommend"),
        ("Anna said im late", "Anna said I'm late"),
        ("Anna lives in reading", "Anna lives in reading"),
    ],
)
def test_only_forms_with_one_reading_are_written_out(said: str, written: str) -> None:
    assert written_out(said).text == written


@given(st.lists(WORDS, max_size=40).map(" ".join))
def test_every_span_leads_back_to_what_was_said(said: str) -> None:
    written = written_out(said)
    assert written.original(0, len(written.text)) == (0, len(said))
    for begin in range(len(written.text)):
        first, last = written.original(begin, begin + 1)
        assert 0 <= first <= last <= len(said)
        if said[first:last] == written.text[begin]:
            continue
        # A changed word counts as a whole.
        assert said[first:last].strip() == said[first:last] != ""


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("ive got a dog named rex", ("user", "pet", "Rex")),
        ("my brothers name is tim", ("user", "sibling", "Tim")),
        ("ok so i live in leeds now", ("user", "residence", "Leeds")),
        ("ugh i cant stand cilantro", ("user", "dislikes", "cilantro")),
        ("ive been vegan since 2019", ("user", "diet", "vegan")),
        ("my fav band is wilco", ("user", "favourite_music", "Wilco")),
    ],
)
def test_facts_of_casual_turns_are_read_and_their_sources_are_the_words_said(
    said: str, fact: tuple[str, str, str]
) -> None:
    assert fact in facts(said)
    for card in cards(said):
        span = card.origin.source_span
        assert span is not None
        assert said[span.start : span.end] == span.text


def test_a_plan_of_a_casual_turn_lies_ahead() -> None:
    # Said on a Friday.
    [plan] = events("sunday im flying to rome")
    assert (plan.status, plan.occurred_at.date().isoformat()) == ("planned", "2026-05-10")
