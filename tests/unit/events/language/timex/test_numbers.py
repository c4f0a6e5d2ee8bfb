"""Numbers, clock times and written dates: one reader for every notation."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.language import timex
from events.language.chinese_script import to_simplified
from tests.support.tables import examples

NOW = datetime(2026, 5, 8, 16, 44, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Make that $150,000.", [("$150,000", 150_000, "$")]),
        (
            "a salary of NT$62,500 or 1.2 million",
            [("NT$62,500", 62_500, "NT$"), ("1.2 million", 1_200_000, "")],
        ),
        ("from 10k to €3.5m", [("10k", 10_000, ""), ("€3.5m", 3_500_000, "€")]),
        (
            "twenty-five, three hundred and five",
            [("twenty-five", 25, ""), ("three hundred and five", 305, "")],
        ),
        (
            "薪水三萬五，房租1.5万，共一百零五天",
            [("三萬五", 35_000, ""), ("1.5万", 15_000, ""), ("一百零五", 105, "")],
        ),
        ("１２，０００元、二〇二六", [("１２，０００", 12_000, ""), ("二〇二六", 2026, "")]),
    ],
)
def test_a_number_keeps_its_thousands_its_scale_and_its_currency(
    text: str, said: list[tuple[str, float, str]]
) -> None:
    assert [(text[n.begin : n.stop], n.value, n.currency) for n in timex.numbers(text)] == said


@examples
def test_a_number_says_if_it_counts_places_and_if_it_may_be_another_word(
    text: str, ordinal: bool, loose: bool
) -> None:
    [number] = timex.numbers(text)
    assert (number.ordinal, number.loose) == (ordinal, loose)


@given(value=st.integers(0, 10**12))
@settings(max_examples=60, deadline=None)
def test_every_grouping_of_digits_is_the_same_number(value: int) -> None:
    for written in (str(value), f"{value:,}", f"${value:,}", f"{value:,}元"):
        assert [number.value for number in timex.numbers(f"It was {written} then")] == [value]


@given(text=st.text(alphabet="0123456789,.$€kmbn oneandtwhuird一二十百千万億第年月日点at:/-", max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read_and_the_findings_do_not_overlap(text: str) -> None:
    for read in (timex.numbers, timex.calendar_dates):
        stop = 0
        for one in read(text):
            assert stop <= one.begin < one.stop <= len(text)
            stop = one.stop


@pytest.mark.parametrize(
    ("text", "said"),
    [("8 May 2016", (2016, 5, 8)), ("the 8th of May", (None, 5, 8)), ("2016年5月8號", (2016, 5, 8)),
     ("5月", (None, 5, None)), ("5/8/1990", (1990, 5, 8)), ("二〇一六年十二月", (2016, 12, None)),
     ("March next year", None), ("农历八月十五", None)],
)  # fmt: skip
def test_written_dates_are_read_without_a_reference(
    text: str, said: tuple[int | None, int, int | None] | None
) -> None:
    found = [(one.year, one.month, one.day) for one in timex.calendar_dates(text)]
    assert found == ([] if said is None else [said])


@pytest.mark.parametrize("reference", ["2026-03-01", "2026-05-08", "2025-12-10"])
@pytest.mark.parametrize("weekday", ["Monday", "Wednesday", "Sunday"])
def test_a_weekday_that_does_not_fit_its_date_loses_to_the_date(weekday: str, reference: str) -> None:
    now = datetime.fromisoformat(reference).replace(tzinfo=UTC)
    [found] = timex.find(f"The final launch date is {weekday} March 18th.", now)
    assert found.start is not None
    assert (found.start.month, found.start.day) == (3, 18)
    assert found.start > now


@pytest.mark.parametrize("end", ["", ".", ", 2019"])
@pytest.mark.parametrize("connector", ["to", "till", "until", "through", "-", "–"])
@pytest.mark.parametrize(
    "sides", [("May 5", "May 9"), ("5 May", "9 May"), ("5/5", "5/9"), ("the 5th", "9th of May")]
)
def test_a_range_is_the_same_with_every_connector(sides: tuple[str, str], connector: str, end: str) -> None:
    found = timex.find(f"We were away from {sides[0]} {connector} {sides[1]}{end}", NOW)[0]
    assert found.start is not None
    assert found.end is not None
    assert (found.start.month, found.start.day, found.end.month, found.end.day) == (5, 5, 5, 9)
    if end.endswith("2019"):
        assert found.end.year == 2019


@pytest.mark.parametrize("unit", ["天", "週", "個月", "年", "個星期", "小時", "分鐘"])
@pytest.mark.parametrize(
    "form", ["三{}前", "兩{}後", "過去五{}", "未來十{}", "3{}之內", "近兩{}", "二〇二六年五月三號後三{}"]
)
def test_both_scripts_name_the_same_time(form: str, unit: str) -> None:
    text = form.format(unit)
    read = [
        [(one.start, one.end, one.kind) for one in timex.find(said, NOW)]
        for said in (text, to_simplified(text))
    ]
    assert read[0] == read[1]
    assert read[0]
