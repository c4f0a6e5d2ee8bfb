"""The terms of a question, and the weight of each term."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.language.terms import question_terms
from retrieval.query.question_forms import parse_question
from tests.support.tables import examples


def test_an_ordinary_question_is_one_part_with_its_words_alike() -> None:
    (part,) = parse_question("When did Caroline go hiking?")
    assert part.text == "When did Caroline go hiking?"
    assert part.terms == {"carolin": 1.0, "go": 1.0, "hike": 1.0}


@examples
def test_parts(question: str, texts: list[str]) -> None:
    assert [part.text for part in parse_question(question)] == texts


@examples
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
