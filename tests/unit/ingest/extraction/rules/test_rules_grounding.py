"""The rules cut out recalled memory in a turn, and check that a quote occurs in the turn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.extraction.grounding import is_grounded, memory_blocks, without_memory_blocks


@pytest.mark.parametrize(
    ("text", "human"),
    [
        ("no blocks <b>here</b>", "no blocks <b>here</b>"),
        ("<state_cards>old</state_cards>new", "new"),
        ("a <current_time>2026</current_time> b", "a  b"),
        ('<relevant_memory n="1">x</relevant_memory>y', "y"),
        ("<event_cards>a<state_cards>b</state_cards>c</event_cards>d", "d"),
        ("<memory>never closed", "never closed"),
        ("<AGING_FACTS>a\nb</aging_facts>c", "c"),
        ("</state_cards>x", "</state_cards>x"),
        ("<state_cardsx>y</state_cardsx>", "<state_cardsx>y</state_cardsx>"),
    ],
)
def test_blocks_are_cut_and_human_words_stay(text: str, human: str) -> None:
    cut = without_memory_blocks(text)
    assert len(cut) == len(text)
    assert cut.split() == human.split()
    for start, end in memory_blocks(text):
        assert not cut[start:end].strip()


@given(
    st.lists(
        st.sampled_from(
            ["<memory>", "</memory>", "<state_cards a='1'>", "</state_cards>", "x", "\n", "<", ">", "住"]
        ),
        max_size=30,
    )
)
def test_offsets_and_lines_survive_any_nesting(parts: list[str]) -> None:
    text = "".join(parts)
    cut = without_memory_blocks(text)
    assert len(cut) == len(text)
    assert cut.count("\n") == text.count("\n")
    assert all(b in (a, " ") for a, b in zip(text, cut, strict=True))


@pytest.mark.parametrize(
    ("quote", "text", "expected"),
    [
        ("live in Lisbon", "I LIVE  in\nLisbon.", True),
        ("ＡＢＣ", "abc", True),
        ("住在高雄", "我住在高雄", True),
        ("lives in Lisbon", "I live in Lisbon", False),
        ("", "anything", False),
        ("  ", "anything", False),
    ],
)
def test_a_quote_is_grounded_where_it_was_said(quote: str, text: str, expected: bool) -> None:
    assert is_grounded(quote, text) is expected
