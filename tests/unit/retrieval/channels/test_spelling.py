"""Words one edit away from a misspelt one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.channels.words import edits1

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_WORDS = st.text(_LETTERS, min_size=5, max_size=12)


@pytest.mark.parametrize("misspelt", ["lisbno", "lisbonn", "lisbom", "isbon", "lisbon"])
def test_a_misspelling_of_one_edit_is_undone(misspelt: str) -> None:
    assert ("lisbon" in edits1(misspelt)) is (misspelt != "lisbon")
    assert "lisbon" not in edits1("lsibno")  # two edits are too many


@given(_WORDS, st.data())
def test_a_word_is_among_the_candidates_of_each_of_its_misspellings(word: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(word) - 2))
    letter = data.draw(st.sampled_from(_LETTERS))
    made = [
        word[:place] + word[place + 1] + word[place] + word[place + 2 :],
        word[:place] + word[place + 1 :],
        word[:place] + letter + word[place:],
        word[:place] + letter + word[place + 1 :],
    ]
    for misspelt in made:
        assert misspelt == word or word in edits1(misspelt)
