"""A recorded reading of private turns holds no sentence of them, and comes back word for word."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.answers.private_words import PlaceInvalidError, with_words, without_words

TURNS = {
    1: "The ferry to the island leaves at noon, so we packed sandwiches and a kite.",
    2: "我們下個月要去阿里山看日出，已經訂好山上的小木屋了。",
    0: "Bring a warm coat, it is windy up there.",
}


def test_a_quote_becomes_its_place() -> None:
    answer = {"events": [{"turn": 1, "quote": "we packed sandwiches and a kite"}]}
    kept = without_words(answer, TURNS)
    assert kept == {"events": [{"turn": 1, "quote": {"places": [[1, 43, 74]]}}]}
    assert with_words(kept, TURNS) == answer


def test_a_quote_that_differs_a_little_keeps_only_the_difference() -> None:
    quote = "the ferry to the island leaves at noon - so we packed sandwiches"
    kept = without_words({"quote": quote}, TURNS)
    left = "".join(part for part in kept["quote"]["places"] if isinstance(part, str))
    assert left == " -"
    assert with_words(kept, TURNS) == {"quote": quote}


def test_other_fields_keep_short_words_and_lose_sentences() -> None:
    answer = {
        "content": "They said that the ferry to the island leaves at noon",
        "value": "a kite",
        "place": "他們已經訂好山上的小木屋",
        "aliases": ["Bring a warm coat, it is windy"],
    }
    kept = without_words(answer, TURNS)
    written = json.dumps(kept, ensure_ascii=False)
    assert "ferry to the island" not in written
    assert "訂好山上的小木屋" not in written
    assert "warm coat" not in written
    assert kept["value"] == "a kite"
    assert with_words(kept, TURNS) == answer


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=60) | st.sampled_from([*TURNS.values()]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["quote", "content", "x"]), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_every_answer_comes_back(answer: object) -> None:
    kept = without_words(answer, TURNS)
    assert with_words(json.loads(json.dumps(kept)), TURNS) == answer
    assert not any(words in json.dumps(kept, ensure_ascii=False) for words in TURNS.values())


@pytest.mark.parametrize(
    "place", [[1, 0, 1000], [7, 0, 1], [1, 5, 2], [1, -3, 2], [1, 0], "1:0:2", None, [[1], 0, 2]]
)
def test_a_place_outside_the_turns_is_refused(place: object) -> None:
    if isinstance(place, str):
        assert with_words({"places": [place]}, TURNS) == place
        return
    with pytest.raises(PlaceInvalidError):
        with_words({"places": [place]}, TURNS)
