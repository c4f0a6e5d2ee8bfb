"""Which questions ask for what the assistant answered."""

from __future__ import annotations

import pytest

from retrieval.query.addressee import asks_the_assistant


@pytest.mark.parametrize(
    "question",
    [
        "What did you recommend against the snails?",
        "Which paint have you suggested?",
        "Remind me of your advice on the fence",
        "what were the steps you gave me?",
        "你推薦了什麼肥料？",
        "你推荐了什么肥料？",
        "上次你跟我說要怎麼修？",
        "你的建議是什麼？",
        "你给我的菜谱在哪？",
    ],
)
def test_a_question_about_an_earlier_answer(question: str) -> None:
    assert asks_the_assistant(question)


@pytest.mark.parametrize(
    "question",
    [
        "What would you recommend against the snails?",
        "Can you suggest a paint?",
        "What did my sister recommend?",
        "When did I buy the fence?",
        "你推薦什麼肥料？",
        "你建议我吃什么？",
        "醫生給了我什麼建議？",
        "我上次說要怎麼修？",
        "",
    ],
)
def test_any_other_question(question: str) -> None:
    assert not asks_the_assistant(question)
