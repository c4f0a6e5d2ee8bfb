"""Properties of timex that hold for every text and every reference time."""

import random
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.language.timex import find
from tests.support.tables import LongText, examples_and

_WORDS = (
    "last next this the of from to between and in on at since before after until by for a few two 3 12 31 2026 99 "
    "week weeks month day year Monday Friday May March June second minute hour ago later now today tomorrow early "
    "late end beginning first 5pm 10:30 7/6 2026-02-30 Q3 summer Christmas weekend every 's - , ( ) noon morning"
)
ENGLISH = _WORDS.split()
_CHINESE_WORDS = "星期 以前 之後 今天 晚上 下午 春節 12 2026 - / : 民國 世紀 年代"
CHINESE = [
    *"上下前後后今明昨去本這个個年月日號号天週周星期禮拜季時点點分秒初中底末半一二三十百千零〇兩第最近從到至和以之內的每隔農曆闰",
    *_CHINESE_WORDS.split(),
]
AWARE = st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31)).flatmap(
    lambda wall: st.sampled_from(
        [UTC, timezone(timedelta(hours=-12)), ZoneInfo("Asia/Taipei"), ZoneInfo("America/New_York")]
    ).map(lambda zone: wall.replace(tzinfo=zone))
)
HOSTILE = st.one_of(
    st.text(max_size=80),
    st.lists(st.sampled_from(ENGLISH), max_size=14).map(" ".join),
    st.lists(st.sampled_from(CHINESE), max_size=20).map("".join),
    st.lists(st.sampled_from([*ENGLISH, *CHINESE]), max_size=16).map("".join),
)


@given(text=HOSTILE, now=AWARE, asked=st.booleans())
def test_any_text_is_read_without_error_and_findings_are_whole(text: str, now: datetime, asked: bool) -> None:
    found = find(text, now, reading="question" if asked else "statement")
    assert found == find(text, now, reading="question" if asked else "statement")
    for one in found:
        assert text[one.begin : one.stop] == one.text
        assert one.text.strip()
        assert 0 < one.confidence <= 1
        assert (one.kind == "duration") == (one.start is None and one.end is None)
        if one.start is not None and one.end is not None:
            assert one.start < one.end
        for moment in (one.start, one.end, one.through):
            assert moment is None or moment.tzinfo is now.tzinfo
    for earlier, later in pairwise(found):
        assert earlier.stop <= later.begin


@given(
    now=st.datetimes(min_value=datetime(1950, 1, 1), max_value=datetime(2090, 1, 1)),
    weeks=st.integers(-500, 500),
    text=st.sampled_from(
        [
            "last Tuesday",
            "I'll see her Friday",
            "next week",
            "the weekend before last",
            "3 weeks ago",
            "上週三",
            "下下禮拜一",
        ]
    ),
)
def test_whole_weeks_shift_weekdays_by_the_same(now: datetime, weeks: int, text: str) -> None:
    shift = timedelta(weeks=weeks)
    (here,) = find(text, now.replace(tzinfo=UTC))
    (there,) = find(text, (now + shift).replace(tzinfo=UTC))
    assert here.start is not None
    assert here.end is not None
    assert (there.start, there.end) == (here.start + shift, here.end + shift)


@given(day=st.dates(min_value=datetime(1950, 1, 1).date(), max_value=datetime(2089, 12, 31).date()))
def test_every_way_of_writing_a_date_is_that_date(day: datetime) -> None:
    now = datetime(2026, 5, 8, 16, 44, tzinfo=UTC)
    expected = datetime(day.year, day.month, day.day, tzinfo=UTC)
    for pattern in ("%Y-%m-%d", "%Y/%m/%d", "%m/%d/%Y", "%d %B %Y", "%B %d, %Y", "%b %d %Y", "%Y年%m月%d日"):
        (found,) = find(day.strftime(pattern), now)
        assert (found.start, found.end) == (expected, expected + timedelta(days=1)), pattern


@examples_and(
    "".join(random.Random(5).choices("年月日一二三上下周週1234-/:. fromtolastmay5pm", k=4096)),
)
@pytest.mark.processor_seconds(60)
def test_long_hostile_text_is_read_in_linear_time(text: LongText) -> None:
    """The test asserts only that the call ends. An exponential or quadratic rule would not end in time."""
    for found in find(text, datetime(2026, 5, 8, tzinfo=UTC)):
        assert text[found.begin : found.stop] == found.text
