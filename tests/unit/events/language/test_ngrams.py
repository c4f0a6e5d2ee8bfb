"""N-grams find words that are misspelt, truncated or joined."""

from hypothesis import given
from hypothesis import strategies as st

from events.language.ngrams import grams, probe_keys
from events.language.terms import GRAMS, USERS, term_keys
from tests.support.tables import examples_and


def gram_keys(user_id: str, text: str) -> list[int]:
    """Returns the keys that the table of words has for a text."""
    return sorted({USERS[user_id] ^ GRAMS[gram] for gram in grams(text)})


@examples_and(
    ("?! 🐶", set()),
)
def test_grams(text: str, expected: set[str]) -> None:
    assert grams(text) == expected


@given(st.text(max_size=100), st.text(max_size=100))
def test_grams_of_lines_are_the_grams_of_the_text(first: str, second: str) -> None:
    assert grams(f"{first}\n{second}") == grams(first) | grams(second)


def test_keys_are_sorted_distinct_the_users_own_and_no_terms() -> None:
    keys = gram_keys("ann", "cat cat catalogue")
    assert keys == sorted(set(keys))
    assert len(keys) == len(grams("cat catalogue"))
    assert not set(keys) & set(gram_keys("bob", "cat catalogue"))
    assert not set(gram_keys("ann", "資料")) & set(term_keys("ann", ["资料"]))


@given(
    st.text("abcr ", min_size=1, max_size=12), st.text("abcr", min_size=1, max_size=12), st.floats(0.1, 0.9)
)
def test_words_that_are_near_enough_meet_among_the_probes(word: str, other: str, least: float) -> None:
    ours, theirs = set(gram_keys("ann", word)), set(gram_keys("ann", other))
    probes = set(probe_keys("ann", word, least))
    assert probes <= ours
    if ours and len(ours & theirs) / len(ours | theirs) >= least:
        assert probes & theirs


def test_the_beginning_that_many_words_share_is_no_probe() -> None:
    assert len(probe_keys("ann", "kaohsiung", 0.27)) < len(gram_keys("ann", "kaohsiung"))
    assert not set(probe_keys("ann", "kaohsiung", 0.27)) & set(gram_keys("ann", "k"))
