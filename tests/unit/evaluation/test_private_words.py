"""A recorded reading of private turns holds no sentence of them, and comes back word for word."""

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
