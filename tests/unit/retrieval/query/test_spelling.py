"""Words one edit away from a misspelt one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.query.spelling import edits1

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_WORDS = st.text(_LETTERS, min_size=5, max_size=12)


@pytest.mark.parametrize("correction", ["lisbno", "lisbonn", "lisbom", "isbon", "lisbon"])
def test_a_correction_is_undone(correction: str) -> None:
    assert ("lisbon" in edits1(correction)) is (correction != "lisbon")
    assert "lisbon" not in edits1("lsibno")  # two edits are too many


@given(_WORDS, st.data())
def test_whatever_the_correction_the_word_is_among_what_it_may_have_been(
    word: str, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(word) - 2))
    letter = data.draw(st.sampled_from(_LETTERS))
    made = [
        word[:place] + word[place + 1] + word[place] + word[place + 2 :],
        word[:place] + word[place + 1 :],
        word[:place] + letter + word[place:],
        word[:place] + letter + word[place + 1 :],
    ]
    for correction in made:
        assert correction == word or word in edits1(correction)
