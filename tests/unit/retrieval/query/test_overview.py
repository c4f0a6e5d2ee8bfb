"""Questions for everything about the asker, and questions that only look like them."""

from datetime import UTC, datetime

import pytest

from retrieval.query.question import understand
from retrieval.query.question_forms import asks_for_overview
from tests.support.tables import texts

ASKING = texts(__file__, "overview.txt")

OTHERWISE = texts(__file__, "no_overview.txt")


@pytest.mark.parametrize("question", ASKING)
def test_a_question_about_the_asker_is_taken_for_it(question: str) -> None:
    assert asks_for_overview(question)


@pytest.mark.parametrize("question", OTHERWISE)
def test_a_question_with_a_topic_is_not(question: str) -> None:
    assert not asks_for_overview(question)


def test_an_overview_is_about_the_present_and_has_no_window() -> None:
    now = datetime(2026, 5, 8, 12, tzinfo=UTC)
    for text in (
        "What have you learned about me so far?",
        "What do you know about me today?",
        "你到目前為止知道我什麼",
    ):
        question = understand(text, now)
        assert (question.overview, question.intent, question.times) == (True, "present", ()), text
    assert not understand("What do you know about Rust?", now).overview


@pytest.mark.processor_seconds(20)
@pytest.mark.parametrize(
    "piece", ["please ", "so far ", "现在", "请", "关于我", "what do you know about ", "你知道"]
)
def test_a_long_text_of_the_same_words_is_read(piece: str) -> None:
    for length in (150, 199, 100_000):
        assert not asks_for_overview((piece * length)[:length] + "x")
