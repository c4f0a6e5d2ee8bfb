"""Every extractor gives a card the range, the grain and the other reading of the words of time."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from events.types.cards import SourceSpan
from events.types.turns import TurnRecorded
from ingest.extraction.claude.moments import moment
from ingest.extraction.rules.moments import Dates
from ingest.extraction.rules.sentences import sentences
from tests.support.events.turns import recorded
from tests.support.tables import examples

ROME = ZoneInfo("Europe/Rome")
SAID_AT = datetime(2026, 5, 8, 16, 44, 10, tzinfo=ROME)


def _turn(text: str) -> TurnRecorded:
    return recorded(text, turn_id="t", said_at=SAID_AT, timezone="Europe/Rome", project_id="p")


@examples
def test_a_range_holds_the_day_it_is_said_to_end_with(text: str, words: str, start: str, end: str) -> None:
    [sentence] = sentences(text)
    [by_rules] = Dates(sentence, SAID_AT).moments
    by_model = moment(words, _turn(text), SourceSpan(turn_id="t", start=0, end=len(text), text=text))
    assert by_model is not None
    for found in (by_rules, by_model):
        assert found.start == datetime.fromisoformat(start).replace(tzinfo=ROME)
        assert found.end == datetime.fromisoformat(end).replace(tzinfo=ROME)


@examples
def test_every_extractor_keeps_the_other_day_that_the_words_may_mean(
    text: str, words: str, start: str, other: str | None
) -> None:
    [sentence] = sentences(text)
    [by_rules] = Dates(sentence, SAID_AT).moments
    by_model = moment(words, _turn(text), SourceSpan(turn_id="t", start=0, end=len(text), text=text))
    assert by_model is not None
    for found in (by_rules, by_model):
        assert found.start == datetime.fromisoformat(start).replace(tzinfo=ROME)
        assert found.alternative == (datetime.fromisoformat(other).replace(tzinfo=ROME) if other else None)


@examples
def test_a_hint_of_two_days_is_the_stretch_between_them(text: str, start: str, end: str) -> None:
    turn = _turn(text)
    span = SourceSpan(turn_id=turn.turn_id, start=0, end=len(text), text=text)
    found = moment(text, turn, span, ahead=True)
    assert found is not None
    assert found.start is not None
    assert found.end is not None
    assert (f"{found.start:%Y-%m-%d}", f"{found.end:%Y-%m-%d}") == (start, end)


@pytest.mark.parametrize("hint", ["when I was ten", "十歲那年", "at the age of six"])
def test_an_age_is_no_time(hint: str) -> None:
    text = f"I broke my arm {hint}."
    quote = SourceSpan(turn_id="t", start=0, end=len(text), text=text)
    assert moment(hint, _turn(text), quote) is None


def test_years_that_are_told_vaguely_are_no_single_day() -> None:
    text = "A few years back we lived in a lighthouse."
    found = moment(
        "a few years back", _turn(text), SourceSpan(turn_id="t", start=0, end=len(text), text=text)
    )
    assert found is not None
    assert found.start is not None
    assert found.end is not None
    assert (found.grain, (found.end - found.start).days) == ("year", 366)


def test_letters_that_become_longer_without_case_move_no_hint() -> None:
    text = f"{chr(0x130) * 23} left on Monday and came back on Friday."
    quote = SourceSpan(turn_id="t", start=0, end=len(text), text=text)
    found = moment("on Monday", _turn(text), quote)
    assert found is not None
    assert found.start is not None
    assert found.start.strftime("%A") == "Monday"
