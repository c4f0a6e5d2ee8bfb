"""The terms of a question, and the weight of each term."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.language.terms import question_terms
from retrieval.query.question_forms import parse_question


def test_an_ordinary_question_is_one_part_with_its_words_alike() -> None:
    (part,) = parse_question("When did Caroline go hiking?")
    assert part.text == "When did Caroline go hiking?"
    assert part.terms == {"carolin": 1.0, "go": 1.0, "hike": 1.0}


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("Where do I live? Also, who has my keys?", ["Where do I live?", "who has my keys?"]),
        ("上司是做什麼工作的呢？另外，會議的地點是什麼？", ["上司是做什麼工作的呢？", "會議的地點是什麼？"]),
        ("上司是做什么工作的呢？另外，会议的地点是什么？", ["上司是做什么工作的呢？", "会议的地点是什么？"]),
        ("Did I also buy milk?", ["Did I also buy milk?"]),
        ("另外一個方案是什麼？", ["另外一個方案是什麼？"]),
        ("What is it? Also, who?", ["What is it? Also, who?"]),
    ],
)
def test_parts(question: str, texts: list[str]) -> None:
    assert [part.text for part in parse_question(question)] == texts


@pytest.mark.parametrize(
    ("question", "point", "aloud"),
    [
        (
            "The weather is lovely. What I really want to know is: where did I park?",
            "where did I park?",
            "weather",
        ),
        ("今天天氣真好。對了，我想問，我的護照號碼是多少？", "我的護照號碼是多少？", "天气"),
        ("今天天气真好。我真正的问题是：护照在哪里？", "护照在哪里？", "天气"),
    ],
)
def test_thinking_aloud_counts_little(question: str, point: str, aloud: str) -> None:
    (part,) = parse_question(question)
    assert part.text == point
    assert part.terms[aloud] == pytest.approx(0.2)
    full = question_terms(point)
    assert [term for term, weight in part.terms.items() if weight >= 0.5] == full


@pytest.mark.parametrize("question", ["我想知道，", "蘋果、香蕉等等，哪個便宜？", "I wanted to ask Bob"])
def test_no_point_is_made_where_none_follows(question: str) -> None:
    (part,) = parse_question(question)
    assert part.text == question


def test_a_lone_character_counts_half() -> None:
    (part,) = parse_question("我的狗叫什麼名字？")
    assert part.terms == {"狗": 0.5, "名字": 1.0}


@given(st.text(max_size=200))
def test_every_question_has_parts_and_every_term_of_theirs(question: str) -> None:
    parts = parse_question(question)
    assert parts
    for part in parts:
        assert all(0 < weight <= 1 for weight in part.terms.values())
        assert set(question_terms(part.text)) <= set(part.terms)


@pytest.mark.parametrize(
    "piece", ["我想問，", "等等，", ". Also, where", "what i want to know is ", "？另外，"]
)
def test_hostile_questions_take_linear_time(piece: str) -> None:
    parse_question("中")
    began = time.process_time()
    parse_question(piece * (65536 // len(piece)))
    assert time.process_time() - began < 2
