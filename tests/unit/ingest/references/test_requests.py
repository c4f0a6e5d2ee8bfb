"""Only words that ask for a change of a list are requests. Wishes, plans, questions and reports are none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.references.proposals import list_key, new_key, requests_in
from tests.support.tables import examples


@examples
def test_a_request_is_found(text: str, op: str, items: tuple[str, ...], name: str) -> None:
    [found] = requests_in(text)
    assert (found.op, found.items, found.list_name) == (op, items, name)
    assert found.quote in text


@examples
def test_wishes_reports_and_questions_ask_for_nothing(text: str) -> None:
    assert requests_in(text) == []


@given(st.text(max_size=300))
def test_any_text_is_read_and_quoted(text: str) -> None:
    for found in requests_in(f"{text} list. add {text} to my list"):
        assert all(item in text or item in f"{text} list. add {text} to my list" for item in found.items)


@examples
def test_a_key_and_a_spoken_name_are_compared_in_one_form(one: str, other: str) -> None:
    assert list_key(one) == list_key(other)


@examples
def test_a_new_list_keeps_the_script_of_its_name(spoken: str, key: str) -> None:
    assert new_key(spoken) == key


@pytest.mark.parametrize("word", ["请你", "请帮我", "麻烦你"])
@pytest.mark.processor_seconds(10)
def test_a_request_beside_words_of_politeness_in_a_row_is_found(word: str) -> None:
    [found] = requests_in(f"{word * (360 // len(word))}x。Please add milk to my shopping list.")
    assert found.items == ("milk",)
