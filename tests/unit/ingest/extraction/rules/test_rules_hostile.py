"""Hostile and chaotic sentences raise nothing and stay quick."""

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.store.bounds import fault_of
from events.types.cards import EventNoted, StateAsserted
from ingest.extraction.extractor_port import CardEvent
from ingest.extraction.rules.extractor import ReadingTooSlowError, processor_time
from tests.support.chaos.load import MANNERS, Manner
from tests.support.ingest.rules import SAID_AT, cards, states
from tests.support.tables import LongText, examples, examples_and, texts


def _spans_are_exact(found: list[CardEvent], texts: tuple[str, ...]) -> None:
    for one in found:
        span = one.origin.source_span
        assert span is not None
        text = texts[int(span.turn_id[1:])]
        assert text[span.start : span.end] == span.text
        assert span.text.strip()


_FRAGMENTS = st.sampled_from(
    texts(__file__, "facts.txt")
    + texts(__file__, "no_facts.txt")
    + [
        "<memory>",
        "</memory>",
        "```",
        '"',
        "「",
        "typo, I meant X",
        "👩‍👩‍👧",
        "e\u0301",
        "\u202e",
        "\x00\x01\x02",
        "’",
    ]
)


@given(
    st.lists(st.one_of(_FRAGMENTS, st.text(max_size=40)), max_size=6), st.sampled_from([" ", "\n", "，", ""])
)
def test_no_text_raises_and_every_span_is_exact(parts: list[str], joint: str) -> None:
    texts = (joint.join(parts), joint.join(reversed(parts)))
    _spans_are_exact(cards(*texts), texts)


@examples_and(
    "I live in Ghent.\n" + "".join(f"<tool{n:x}></tool{n:x}>" for n in range(3000)),
)
@pytest.mark.processor_seconds(10)
def test_hostile_lengths_stay_quick(text: LongText) -> None:
    _spans_are_exact(cards(text), (text,))


@pytest.mark.processor_seconds(10)
def test_a_search_that_never_ends_is_ended() -> None:
    with pytest.raises(ReadingTooSlowError), processor_time(0.2):
        re.search(r"(?:a|aa)+$", "a" * 90 + "b")
    with processor_time(0.2):
        assert cards("I live in Ghent.")


def test_a_word_that_is_too_long_for_a_tag_costs_no_card() -> None:
    said = f"I live in Ghent. The token is eyJ{'hbGciOi' * 90}. The gate code is 4711."
    found = cards(said)
    assert any(isinstance(card, StateAsserted) and card.value == "Ghent" for card in found)
    [episode] = [card for card in found if isinstance(card, EventNoted) and card.episode]
    assert episode.content == said
    assert [fault_of(card) for card in found] == [None] * len(found)


@examples
@pytest.mark.processor_seconds(10)
def test_a_fact_before_hostile_words_is_found(beside: LongText) -> None:
    assert any(
        isinstance(card, StateAsserted) and card.value == "Ghent"
        for card in cards(f"I live in Ghent.\n{beside}")
    )


def test_naughty_strings_are_read_in_silence() -> None:
    folder = os.environ.get("CARDLOG_EVAL_DATA")
    if folder is None:
        pytest.skip("CARDLOG_EVAL_DATA names no folder of evaluation data")
    for text in json.loads((Path(folder) / "naughty_strings" / "blns.json").read_text(encoding="utf-8")):
        _spans_are_exact(cards(text), (text,))


@pytest.mark.parametrize("manner", MANNERS)
def test_each_sentence_states_its_fact_and_nothing_else(manner: Manner) -> None:
    told = [("residence", manner.moved, city) for city in manner.cities]
    told += [("employer", manner.joined, employer) for employer in manner.employers]
    for concept, sentence, value in told:
        [state] = states(sentence.format(value))
        assert (state.concept_key, state.value) == (concept, value)
        assert state.effective_at.date() == SAID_AT.date()
    assert states(manner.bought.format(7)) == []
