"""Only words that ask for a change of a list are requests. Wishes, plans, questions and reports are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.references.requests import list_key, requests_in


@pytest.mark.parametrize(
    ("text", "op", "items", "name"),
    [
        (
            "Please add rye flour, yeast and salt to my baking list.",
            "add",
            ("rye flour", "yeast", "salt"),
            "baking",
        ),
        ("can you put a new rake on the garden list?", "add", ("new rake",), "garden"),
        ("Add call the plumber to my to-do list", "add", ("call the plumber",), ""),
        ("Cross the yeast off my baking list!", "mark_done", ("yeast",), "baking"),
        ("mark the tax return as done on my list", "mark_done", ("tax return",), ""),
        ("remove the tent from our camping list", "remove", ("tent",), "camping"),
        ("幫我把酵母加到烘焙清單", "add", ("酵母",), "烘焙"),
        ("请把麻绳、铲子加到我的花园清单里", "add", ("麻绳", "铲子"), "花园"),
        ("露營清單加上頭燈", "add", ("頭燈",), "露营"),
        ("把帳篷從露營清單劃掉", "mark_done", ("帳篷",), "露营"),
        ("把睡袋從我的露營清單刪掉", "remove", ("睡袋",), "露营"),
    ],
)
def test_a_request_is_found(text: str, op: str, items: tuple[str, ...], name: str) -> None:
    [found] = requests_in(text)
    assert (found.op, found.items, found.list_name) == (op, items, name)
    assert found.quote in text


@pytest.mark.parametrize(
    "text",
    [
        "I should probably buy yeast tomorrow",
        "Maybe I'll add yeast to my baking list later",
        "I added yeast to my baking list",
        "Did you add yeast to my baking list?",
        "Should I put yeast on my list?",
        "My aunt put yeast on my list",
        "If I forget, add it to my list of regrets sometime",
        "She asked him to add yeast to her list",
        "我昨天把酵母加到清單了嗎",
        "我想把酵母加到清單",
        "也許該把酵母加到烘焙清單",
        "這份清單很長",
        "",
    ],
)
def test_wishes_reports_and_questions_ask_for_nothing(text: str) -> None:
    assert requests_in(text) == []


@given(st.text(max_size=300))
def test_any_text_is_read_and_quoted(text: str) -> None:
    for found in requests_in(f"{text} list. add {text} to my list"):
        assert all(item in text or item in f"{text} list. add {text} to my list" for item in found.items)


@pytest.mark.parametrize(
    ("one", "other"), [("Shopping List", "shopping"), ("購物清單", "购物"), ("camp_list", "camp")]
)
def test_a_key_and_a_spoken_name_are_compared_in_one_form(one: str, other: str) -> None:
    assert list_key(one) == list_key(other)


@pytest.mark.parametrize("word", ["请你", "请帮我", "麻烦你"])
@pytest.mark.timeout(10)
def test_a_request_beside_words_of_politeness_in_a_row_is_found(word: str) -> None:
    [found] = requests_in(f"{word * (360 // len(word))}x。Please add milk to my shopping list.")
    assert found.items == ("milk",)
