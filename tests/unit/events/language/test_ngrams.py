"""N-grams find words that are misspelt, truncated or joined."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.language.ngrams import gram_keys, grams, probe_keys, question_grams, similarity
from events.language.terms import term_keys


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Cat", {"  c", " ca", "cat", "at "}),
        ("a_b", {"  a", " a ", "  b", " b "}),
        ("資料庫", {"资料", "料库"}),
        ("台灣 狗", {"台湾", "狗"}),
        ("用SQL庫", {"用", "  s", " sq", "sql", "ql ", "库"}),
        ("テレビ", {"テレ", "レビ"}),
        ("?! 🐶", set()),
    ],
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


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("Kubernets", "We deploy on Kubernetes", "We deploy on Thursdays"),
        ("where is Kaohsung", "Moved to Kaohsiung", "Where is the cat"),
        ("台北捷運", "我每天搭台北的捷運上班", "我昨天去了台中"),
        ("postgresql", "PostgreSQL", "PostgreSQL " + " ".join(f"word{i}" for i in range(50))),
    ],
)
def test_similarity_prefers_the_right_text(question: str, right: str, wrong: str) -> None:
    wanted = question_grams(question)
    assert similarity(wanted, grams(right)) > similarity(wanted, grams(wrong))


def test_question_words_have_no_grams() -> None:
    assert question_grams("What kind of cat is it?") == grams("cat")
    assert question_grams("哪裡有貓？") == grams("哪裡有貓？")


@given(st.text(max_size=60), st.text(max_size=60))
def test_similarity_is_a_share(first: str, second: str) -> None:
    one, other = grams(first), grams(second)
    assert 0.0 <= similarity(one, other) <= 1.0
    assert similarity(one, one) == (1.0 if one else 0.0)
    assert (similarity(one, other) > 0) == bool(one & other)


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
