"""The terms of texts, and the terms and parts of questions."""

import subprocess
import sys
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.language.terms import analyse, question_terms, term_keys
from retrieval.query.question_forms import parse_question
from tests.support.tables import LongText, examples


@examples
def test_terms(text: str, terms: str) -> None:
    assert analyse(text) == terms.split()


@examples
def test_scripts_do_not_matter(traditional: str, simplified: str) -> None:
    assert analyse(traditional) == analyse(simplified) != []


def test_repeats_are_kept_for_cards_and_dropped_for_questions() -> None:
    assert analyse("hiking, hiked, hikes") == ["hike", "hike", "hike"]
    assert question_terms("hiking, hiked, hikes") == ["hike"]


@examples
def test_question_words_are_no_topic(question: str, terms: str) -> None:
    assert question_terms(question) == terms.split()


def test_a_card_keeps_words_that_only_ask_in_questions() -> None:
    assert "kind" in analyse("She is so kind")


@given(st.text(max_size=200))
def test_any_text_has_terms_without_space_or_case(text: str) -> None:
    for term in analyse(text):
        assert term
        assert not any(map(str.isspace, term))
        assert term == term.casefold()


@given(st.text(max_size=80), st.text(max_size=80))
def test_terms_of_lines_are_the_terms_of_the_text(first: str, second: str) -> None:
    assert analyse(f"{first}\n{second}") == analyse(first) + analyse(second)


@given(st.text(st.characters(max_codepoint=0x24F), max_size=60))
def test_spelling_does_not_matter(text: str) -> None:
    assert analyse(unicodedata.normalize("NFD", text)) == analyse(unicodedata.normalize("NFC", text))


@examples
def test_hostile_text_takes_linear_time(text: LongText) -> None:
    analyse("中")
    began = time.process_time()
    analyse(text)
    # A quadratic step takes minutes at this size; the widest real one 0.1 s.
    assert time.process_time() - began < 2


def test_keys_are_signed_32_bit_and_belong_to_the_user() -> None:
    keys = term_keys("ann", ["dog", "cat", "dog"])
    assert keys == [*term_keys("ann", ["dog"]), *term_keys("ann", ["cat"]), *term_keys("ann", ["dog"])]
    assert len({*keys, *term_keys("bob", ["dog", "cat"]), *term_keys("dog", ["ann"])}) == 5
    many = term_keys("ann", map(str, range(2000)))
    assert all(-(2**31) <= key < 2**31 for key in many)
    assert min(many) < 0 < max(many)
    assert len(set(many)) == 2000


def test_keys_are_the_same_in_every_process() -> None:
    code = "from events.language.terms import term_keys; print(*term_keys('ann', ['dog']), *term_keys('安', ['狗']))"
    fresh = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert fresh.stdout.split() == list(map(str, (*term_keys("ann", ["dog"]), *term_keys("安", ["狗"]))))
    assert term_keys("ann", ["dog"]) == [GOLDEN]


GOLDEN = -1738087776
"""The keys are stored in tables. A change of them requires a rebuild of every card table."""


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
