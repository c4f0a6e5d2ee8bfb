"""What a question asks for: its intent, time, parts, addressee, and if it is about the asker."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.query.question import understand
from retrieval.query.question_forms import asks_for_overview, asks_the_assistant
from retrieval.query.scope import scope_of
from tests.support.cards import card
from tests.support.tables import LongText, examples, texts

NOW = datetime(2026, 5, 8, 16, 44, 10, tzinfo=UTC)


@examples
def test_the_intent(text: str, intent: str) -> None:
    assert understand(text, NOW).intent == intent


@examples
def test_the_language(text: str, language: str) -> None:
    assert understand(text, NOW).language == language


@pytest.mark.parametrize("text", ["do I have judo on Tuesday?", "我週二有柔道課嗎？"])
def test_a_weekday_without_a_tense_may_be_the_last_or_the_next(text: str) -> None:
    question = understand(text, NOW)  # a Friday
    days = [window.start.date().isoformat() for window in question.times if window.start is not None]
    assert (question.intent, days) == ("present", ["2026-05-05", "2026-05-12"])


@pytest.mark.parametrize(
    "text", ["did I have judo on Tuesday?", "我週二去了柔道課嗎？", "was I away in March?"]
)
def test_the_tense_of_a_question_decides_its_time(text: str) -> None:
    question = understand(text, NOW)
    assert (question.intent, len(question.times)) == ("past", 1)


def test_two_questions_in_one_breath_are_two_parts() -> None:
    question = understand("Where do I work? Also, what is my dog called?", NOW)
    assert len(question.parts) == 2
    assert set(question.weights) == set(question.parts[0]) | set(question.parts[1])


def test_the_words_of_a_time_count_a_little() -> None:
    question = understand("那個時間是下周三的活動，規模是什麼？", NOW)
    assert question.times
    assert question.weights["规模"] == 1.0
    assert 0 < question.weights["周三"] < 0.5
    assert "现在" not in understand("我現在住在哪裡？", NOW).weights


def test_a_time_that_is_only_thought_aloud_of_is_not_asked_about() -> None:
    aloud = "最近真是忙翻天了，今天天氣真好。不好意思，我真正想問的是：那個三千人的活動在哪裡？"
    assert understand(aloud, NOW).times == ()
    assert understand("最近有什麼活動？", NOW).times != ()


@pytest.mark.parametrize("text", ["where do I live these days?", "Where do I live nowadays?"])
def test_these_days_ask_for_what_is_true_now(text: str) -> None:
    question = understand(text, NOW)
    assert (question.intent, question.times, question.terms) == ("present", (), ("live",))
    scope = scope_of(question, user_id="u", projects=None)
    assert (scope.valid_from, scope.valid_until) == (NOW, NOW)


@examples
def test_lately_looks_at_what_is_new_first_and_shuts_out_nothing_that_is_true(text: str, intent: str) -> None:
    question = understand(text, NOW)
    assert question.intent == intent
    assert question.span is not None
    assert question.span.end == NOW
    scope = scope_of(question, user_id="u", projects=None)
    assert (scope.valid_from, scope.valid_until) == (NOW, NOW)


@pytest.mark.parametrize(
    "text", ["where did I live recently?", "我最近三個月住過哪裡？", "what did I do in the last month?"]
)
def test_a_stretch_that_is_past_or_has_bounds_keeps_them(text: str) -> None:
    question = understand(text, NOW)
    assert question.intent == "past"
    scope = scope_of(question, user_id="u", projects=None)
    assert scope.valid_from is not None
    assert scope.valid_from < NOW


@pytest.mark.parametrize("text", ["What was here 2025 years ago?", "两千零二十五年前这里有什么？"])
def test_a_time_at_the_end_of_the_calendar_can_be_asked(text: str) -> None:
    span = understand(text, NOW).span
    assert span is not None
    assert span.start is not None
    assert span.start.year == 1


def test_a_long_message_names_its_time_at_one_of_its_ends() -> None:
    pasted = "1 " * 7_000
    yesterday = understand("What did I do yesterday?", NOW).span
    assert understand(f"{pasted}\nWhat did I do yesterday?", NOW).span == yesterday
    assert understand(f"What did I do yesterday?\n{pasted}", NOW).span == yesterday


@given(st.text(max_size=200), st.datetimes(timezones=st.just(UTC)))
def test_any_text_can_be_asked_at_any_time(text: str, now: datetime) -> None:
    question = understand(text, now)
    scope = scope_of(question, user_id="u", projects=None)
    assert scope.widened().refuses(card(kind="event", occurred_at=now, created_at=now)) is None


@examples
@pytest.mark.processor_seconds(10)
def test_a_long_hostile_question_is_understood_in_linear_time(text: LongText) -> None:
    assert understand(text, NOW).terms


@pytest.mark.parametrize(
    "question", ["What should I cook tonight?", "Any dinner ideas?", "推薦一家餐廳給我", "晚餐該吃什麼？"]
)
def test_a_question_for_advice_on_food_asks_what_somebody_must_not_eat(question: str) -> None:
    assert {"allergy", "avoids", "diet"} <= set(understand(question, NOW).concepts)


def test_a_question_about_a_meal_of_the_past_does_not() -> None:
    assert "allergy" not in understand("What did I eat for dinner yesterday?", NOW).concepts


@examples
def test_the_words_that_ask_for_the_latest_are_no_words_of_the_topic(text: str) -> None:
    question = understand(text, NOW)
    assert question.last
    assert set(question.terms).isdisjoint({"last", "most", "recent", "上次", "上", "次", "最近"})
    assert set(question.terms) & {"basil", "罗勒"}


@pytest.mark.parametrize(
    "text", ["What was my last address?", "How long does the basil last for?", "上週的事"]
)
def test_other_uses_of_last_do_not_ask_for_the_latest(text: str) -> None:
    assert not understand(text, NOW).last


@examples
def test_a_question_about_an_earlier_answer(question: str) -> None:
    assert asks_the_assistant(question)


@examples
def test_any_other_question(question: str) -> None:
    assert not asks_the_assistant(question)


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
