"""English expressions of time, read on Friday 8 May 2026, 16:44 in Taipei."""

from __future__ import annotations

import pytest

from events.language.timex import find
from tests.support.events.moments import NOW, only, shown


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        # dates
        ("It was 2025-03-09.", "2025-03-09", "2025-03-10"),
        ("on May 8th, 2024", "2024-05-08", "2024-05-09"),
        ("on 8 May 2024", "2024-05-08", "2024-05-09"),
        ("12/31/2024", "2024-12-31", "2025-01-01"),
        ("31/12/2024", "2024-12-31", "2025-01-01"),
        ("Sep-23-2020", "2020-09-23", "2020-09-24"),
        ("22/Jan/2019", "2019-01-22", "2019-01-23"),
        ("the twenty third day of September 2020", "2020-09-23", "2020-09-24"),
        ("twenty five January nineteen eighty six", "1986-01-25", "1986-01-26"),
        ("in April 2017", "2017-04-01", "2017-05-01"),
        ("in 2019", "2019-01-01", "2020-01-01"),
        ("nineteen ninety six was in 1996", "1996-01-01", "1997-01-01"),
        # words of the day
        ("I saw it today", "2026-05-08", "2026-05-09"),
        ("yesterday we met", "2026-05-07", "2026-05-08"),
        ("the day before yesterday", "2026-05-06", "2026-05-07"),
        ("the day after tomorrow", "2026-05-10", "2026-05-11"),
        ("Last night we sang", "2026-05-07 20:00:00", "2026-05-08"),
        ("yesterday morning", "2026-05-07 08:00:00", "2026-05-07 12:00:00"),
        # weeks and weekdays
        ("last week", "2026-04-27", "2026-05-04"),
        ("the week before last", "2026-04-20", "2026-04-27"),
        ("next week on Tuesday", "2026-05-12", "2026-05-13"),
        ("last Tuesday", "2026-04-28", "2026-04-29"),
        ("this past Wednesday", "2026-05-06", "2026-05-07"),
        ("Tuesday of last week", "2026-04-28", "2026-04-29"),
        ("Wednesday evening next week", "2026-05-13 16:00:00", "2026-05-13 20:00:00"),
        ("this past weekend", "2026-05-02", "2026-05-04"),
        ("two Fridays ago", "2026-04-24", "2026-04-25"),
        # months, quarters, halves, seasons, years
        ("last month", "2026-04-01", "2026-05-01"),
        ("back in April", "2026-04-01", "2026-05-01"),
        ("late March 2025", "2025-03-16", "2025-04-01"),
        ("mid-November 2025", "2025-11-10", "2025-11-21"),
        ("Q2 2026", "2026-04-01", "2026-07-01"),
        ("last quarter", "2026-01-01", "2026-04-01"),
        ("the first half of 2025", "2025-01-01", "2025-07-01"),
        ("last summer", "2025-06-01", "2025-09-01"),
        ("the summer of 2020", "2020-06-01", "2020-09-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("in the 90s", "1990-01-01", "2000-01-01"),
        ("15th century", "1400-01-01", "1500-01-01"),
        # pieces
        ("the first Monday of next month", "2026-06-01", "2026-06-02"),
        ("the last week of July 2016", "2016-07-25", "2016-08-01"),
        ("first ten days of last year", "2025-01-01", "2025-01-11"),
        ("week 3 of 2027", "2027-01-18", "2027-01-25"),
        ("later this week", "2026-05-08", "2026-05-11"),
        # lengths back and ahead
        ("two weeks ago", "2026-04-24", "2026-04-25"),
        ("in 3 days", "2026-05-11", "2026-05-12"),
        ("for the past two months", "2026-03-08", "2026-05-08"),
        ("the last 5 days", "2026-05-03", "2026-05-08"),
        ("the next two days", "2026-05-09", "2026-05-11"),
        ("2 weeks before May 13 1999", "1999-04-29", "1999-04-30"),
        ("5 minutes ago", "2026-05-08 16:39:10", "2026-05-08 16:40:10"),
        ("within 2h", "2026-05-08 16:44:10", "2026-05-08 18:44:10"),
        ("next 4 business days", "2026-05-09", "2026-05-15"),
        # ranges and bounds
        ("from 2018 to 2021", "2018-01-01", "2021-01-01"),
        ("from last month to now", "2026-04-01", "2026-05-08 16:44:10"),
        ("between 3 and 12 of September 2025", "2025-09-03", "2025-09-12"),
        ("Nov-Feb 5th, 2017", "2016-11-01", "2017-02-05"),
        ("from 2007 to the end of 2008", "2007-01-01", "2009-01-01"),
        ("since 2021", "2021-01-01", None),
        ("after 2010", "2011-01-01", None),
        ("before 2000", None, "2000-01-01"),
        ("by the end of next month", None, "2026-07-01"),
        ("2012 or later", "2012-01-01", None),
        ("no later than January 1, 2010", None, "2010-01-01"),
        # times of day
        ("tomorrow at 8:45a.", "2026-05-09 08:45:00", "2026-05-09 08:46:00"),
        ("yesterday from 3-8pm", "2026-05-07 15:00:00", "2026-05-07 20:00:00"),
        ("between 10 and 11:30 on 1/1/2015", "2015-01-01 10:00:00", "2015-01-01 11:30:00"),
        ("half past seven pm yesterday", "2026-05-07 19:30:00", "2026-05-07 19:31:00"),
        ("tomorrow before 5pm", "2026-05-09", "2026-05-09 17:00:00"),
        ("2026-05-08T10:00:00Z", "2026-05-08 18:00:00", "2026-05-08 18:00:01"),
        # holidays
        ("Thanksgiving 2024", "2024-11-28", "2024-11-29"),
        ("easter 2018", "2018-04-01", "2018-04-02"),
        ("Mother's Day 2026", "2026-05-10", "2026-05-11"),
        ("labor day 2021 weekend", "2021-09-04", "2021-09-07"),
        ("the Lunar New Year of 2024", "2024-02-10", "2024-02-11"),
        ("Mid-Autumn Festival 2025", "2025-10-06", "2025-10-07"),
        ("Eid al-Fitr 2023", "2023-04-21", "2023-04-22"),
    ],
)
def test_an_expression_is_its_interval(text: str, start: str | None, end: str | None) -> None:
    found = find(text, NOW)[-1]
    assert (shown(found.start), shown(found.end)) == (start, end)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("I saw her Friday", "2026-05-01"),
        ("I'll see her Tuesday", "2026-05-12"),
        ("I saw her in June", "2025-06-01"),
        ("I'm going to Tokyo in June", "2026-06-01"),
        ("We met on May 20", "2025-05-20"),
        ("The deadline is May 20", "2026-05-20"),
        ("I met him on the 20th", "2026-04-20"),
        ("The exam is on the 20th", "2026-05-20"),
        ("Sat 9 May", "2026-05-09"),
    ],
)
def test_tense_says_which_one(text: str, start: str) -> None:
    found = only(text)
    assert shown(found.start) == start


def test_a_bare_day_is_ambiguous_and_less_sure_than_a_full_date() -> None:
    bare, full = only("Tuesday"), only("2026-05-05")
    assert bare.ambiguous
    assert not full.ambiguous
    assert bare.confidence < full.confidence


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("Where was I on Tuesday?", "2026-05-05"),
        ("Can you tell me about Tuesday?", "2026-05-05"),
        ("What will happen on Tuesday?", "2026-05-12"),
        ("What do I have scheduled for June?", "2026-06-01"),
    ],
)
def test_a_question_looks_back_unless_it_asks_ahead(text: str, start: str) -> None:
    assert shown(only(text, "question").start) == start


def test_a_range_runs_through_the_unit_it_names_last() -> None:
    assert shown(only("from May 1st to May 5th").through) == "2026-05-06"
    assert shown(only("from 2018 to 2021").through) == "2022-01-01"
    assert only("the last five days").through == NOW
    assert only("yesterday").through is None


@pytest.mark.parametrize(
    ("text", "kind", "grain"),
    [
        ("yesterday", "instant", "day"),
        ("last week", "range", "week"),
        ("tomorrow at 5pm", "instant", "hour"),
        ("this afternoon", "range", "part_of_day"),
        ("last summer", "range", "season"),
        ("two months ago", "instant", "month"),
        ("last weekend", "range", "weekend"),
        ("H1 2025", "range", "half_year"),
    ],
)
def test_kind_and_grain(text: str, kind: str, grain: str) -> None:
    found = only(text)
    assert (found.kind, found.grain) == (kind, grain)


def test_a_length_alone_has_no_sides() -> None:
    (found,) = find("It took for 3 hours 30 minutes", NOW)
    assert (found.kind, found.start, found.end) == ("duration", None, None)


def test_several_expressions_keep_their_places() -> None:
    text = "We met last month, and again on 3 May 2026 at 9am."
    assert [text[found.begin : found.stop] for found in find(text, NOW)] == [
        "last month",
        "3 May 2026 at 9am",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "This may or may not be right.",
        "you may not!",
        "We march on",
        "on second thought",
        "the sun is out and I sat down",
        "prices fall in time",
        "now and then",
        "Python 3.11 is out, upgrade to 3.14.2",
        "it costs $20.26",
        "Tel: +86 138-2010-2015",
        "The ssn is 123-12-1234",
        "call (206) 555-1212",
        "This screen has a 4:3 aspect ratio.",
        "we are open 24/7",
        "8/1.5 looks like a formula",
        "1/2 cup sugar",
        "one day I will be rich",
        "Nice day.",
        "Good Morning Paul",
        "There are two to four people in the room",
        "deliver 2000 pieces of toys.",
        "day after day",
        "end of story",
        "the most up to date equipment",
        "There is no week 00, nor W00",
        "feb 30",
        "RFC 2119 and page 2019",
        "192.168.1.1:8080",
        "every Friday and on Mondays",
        "Happy New Year!",
        "spring boot and autumn leaves",
    ],
)
def test_what_is_no_time_is_not_found(text: str) -> None:
    assert [found.text for found in find(text, NOW)] == []


@pytest.mark.parametrize("about", ["around", "about", "roughly"])
def test_roughly_a_day_of_no_stated_month_is_nothing_to_state_and_somewhere_to_look(about: str) -> None:
    assert find(f"Could you plan it {about} the 21st?", NOW) == []
    assert shown(only(f"What did we do {about} the 21st?", "question").start) == "2026-04-21"
    assert shown(only(f"We met {about} the 21st of April.").start) == "2026-04-21"
    assert shown(only("We met on the 21st.").start) == "2026-04-21"
