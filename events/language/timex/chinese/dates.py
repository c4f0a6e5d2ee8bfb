"""Chinese dates: years, months, days, weekdays, holidays, and dates in digits."""

from __future__ import annotations

from dataclasses import replace

from events.language.timex.tables import words_of

from .. import calendar
from ..calendar import Span, add_days
from ..clock import part
from ..cycles import Cycle, Reading, monthly, yearly
from ..lunar import solar
from ..scan import given, listed, packrat
from .numbers import neighbours, positional, value
from .words import DAYS, ERAS, NIGHTS, SEASONS, WEEKDAYS, YEARS
from .words import ChineseScan as Scan

Found = tuple[Reading, int]
_LUNAR = frozenset({"农历", "阴历", "旧历", "夏历"})
RANGE = frozenset({"到", "至", "~", "-", "—", "–", "―"})
"""Marks and words between the two sides of a range."""
_LUNAR_MONTHS = {"正月": 1, "大年": 1, "冬月": 11, "腊月": 12}


# Events that a year without 年 often names: 2022世界杯.
_YEARLY_EVENTS = tuple(
    "世界杯 世界盃 世足 奥运 奧運 亚运 亞運 欧洲杯 歐洲盃 大选 大選 选举 選舉".split()  # noqa: SIM905
)


def full_year(short: int) -> int:
    """Returns the full year of two digits: 00 to 39 are 20xx, 40 to 99 are 19xx."""
    return short + (2000 if short < 40 else 1900)


def de(scan: Scan, i: int) -> int:
    """Skips 的 at word `i`."""
    return scan.skip(i, "的")


@packrat
def year_number(scan: Scan, i: int) -> tuple[int, int] | None:
    """Parses a year with a number: 2016年, 二〇一六年, 07年, 民国一一四年, 康熙二十年."""
    words = scan.words
    j = scan.skip(i, "公元", "西元")
    era = ERAS.get(words[j])
    if era is not None:
        reign = 1 if words[j + 1] == "元" else value(words[j + 1])
        if reign is not None and 1 <= reign <= 200 and words[j + 2] == "年" and era + reign > 0:
            return era + reign, j + 3
        return None
    number = value(words[j])
    if number is not None and len(words[j]) == 4 and words[j].isdecimal() and 1900 <= number <= 2150:
        if words[j + 1] in ("上半年", "下半年", "前半年", "后半年"):
            return number, j + 1
        if words[j + 1] == "年度":
            return number, j + 2
        if words[j + 1] in SEASONS or scan.text.startswith(_YEARLY_EVENTS, scan.stops[j]):
            return number, j + 1
    if number is None or words[j + 1] not in ("年", "年份"):
        return None
    word, k = words[j], j + 2
    if words[k] == "次":  # a year of birth; without a century it is a year of the Republic
        short = number + 1911 if 20 <= number <= 150 else number
        return (short, k + 1) if 1900 <= short <= 2150 else None
    if "千零" in word and 1900 <= number <= 2150:
        return number, k
    if len(word) == 4 and positional(word) and 1 <= number <= 2999:
        return number, k
    if (
        len(word) == 3
        and positional(word)
        and 60 <= number <= 150
        and (not word.isdecimal() or words[k + 1] == "月")
    ):
        return number + 1911, k  # a year of the Republic; Taiwan often omits 民国
    if len(word) != 2 or not positional(word):
        return (number, k) if j > i and 1 <= number <= 2999 else None
    if words[k] in listed("前 后 之前 之后 来 内 以前的 多 半 级") and not word.startswith(("0", "零", "〇")):
        if words[k] in ("前", "后", "之前", "之后") and number >= 60:
            return (full_year(number), k) if neighbours(word) is None else None
        return None
    if not word.startswith(("0", "零", "〇", "9", "九", "8", "八")) and number >= 32:
        return None
    if scan.before(i) in ("了", "过", "已", "近", "第", "前", "最近", "过去", "未来", "满", "共", "约", "活"):
        return None
    return full_year(number), k


@packrat
def year(scan: Scan, i: int) -> Found | None:
    """Parses a year, by number or relative to this year: 去年, 2016年."""
    words = scan.words
    shift = YEARS.get(words[i])
    if shift is not None:
        return given(calendar.year(scan.frame.now.year + shift), i + 1)
    if words[i] == "上" and words[i + 1] == "一" and words[i + 2] == "年":
        return given(calendar.year(scan.frame.now.year - 1), i + 3)
    found = year_number(scan, i)
    span = calendar.year(found[0]) if found else None
    return (span, found[1]) if span and found else None


def _lunar_day(scan: Scan, i: int) -> tuple[int, int] | None:
    """Parses a lunar day: 初一 to 三十."""
    word = scan.words[i]
    if word.startswith("初") and len(word) == 2:
        return value(word[1]), i + 1  # type: ignore[return-value]
    number = value(word)
    counts = scan.words[i + 1][:1] in listed("个 人 次 点 : 天 岁 年 月 - / % .")
    if number is not None and 1 <= number <= 30 and not (word.isdecimal() and counts):
        return number, scan.skip(i + 1, "日", "号")
    return None


@packrat
def month_day(scan: Scan, i: int) -> tuple[Reading, int, int] | None:
    """Parses a month, perhaps with a day, without a year. Returns the reading, the next word, and 1 when lunar."""
    words = scan.words
    lunar = words[i] in _LUNAR
    j = i + 1 if lunar else i
    leap = words[j] == "闰"
    j += leap
    month = _LUNAR_MONTHS.get(words[j])
    if (
        words[j] == "年"
        and len(words[j + 1]) == 2
        and words[j + 1].startswith("初")
        and not _counted(scan, j)
    ):
        month = 1
    if month is not None:
        lunar, k = True, j + 1
    else:
        month = value(words[j]) if neighbours(words[j]) is None else None
        if month is None or words[j] == "两" or not 1 <= month <= 12 or words[j + 1] not in ("月", "月份"):
            return None
        k = j + 2
    k = de(scan, k) if value(words[k + 1]) and words[k] == "的" and words[k + 2] in ("日", "号") else k
    traditional_day = (words[k].startswith("初") and len(words[k]) == 2) or (
        lunar and _lunar_day(scan, k) is not None
    )
    if traditional_day:
        day = _lunar_day(scan, k)
        if day is None:
            return None
        number, month_number = day[0], month

        def lunar_date(year: int) -> Span | None:
            start = solar(year, month_number, number, leap=leap)
            if start is None and not 1930 <= year < 2100:
                return calendar.date(year, month_number, number)
            return calendar.day(start) if start else None

        return yearly(lunar_date, "day", 0.85), day[1], 1
    dom = value(words[k])
    fixed = month
    if dom is not None and 1 <= dom <= 31 and (words[k + 1] in ("日", "号") or _ends_bare(scan, k)):
        end = k + 2 if words[k + 1] in ("日", "号") else k + 1
        if dom > (29 if month == 2 else calendar.days_in_month(2001, month)):
            return None
        return yearly(lambda number: calendar.date(number, fixed, dom), "day"), end, 0
    if lunar:

        def lunar_month(year: int) -> Span | None:
            start, after = solar(year, fixed, 1, leap=leap), None
            if start is not None:
                after = add_days(start, 30 if solar(year, fixed, 30, leap=leap) else 29)
            return Span(start, after, "month") if start else None

        return yearly(lunar_month, "month", 0.85), k, 1
    return yearly(lambda number: calendar.month(number, fixed), "month"), k, 0


def _counted(scan: Scan, i: int) -> bool:
    """True when word `i` is the unit of the word before it: 三年, 每年."""
    last = scan.before(i)
    return scan.tight(i) and (
        value(last) is not None or last in ("个", "半", "每", "整", "第", "几", "数", "多", "元")
    )


def _ends_bare(scan: Scan, i: int) -> bool:
    """True for a day without 日 after its month: "五月八，" but not "五月八个"."""
    return scan.tight(i) and scan.words[i + 1] in listed("$ ， , 。 、 到 至 - ~ 的 早上 下午 晚上")


def _first_month(scan: Scan, i: int) -> tuple[Reading, int, int] | None:
    """Parses the number of the first month of a range: 一 of 一到三月. Returns it as :func:`month_day` does."""
    words = scan.words
    number = value(words[i])
    if (
        number is None
        or not 1 <= number <= 12
        or words[i + 1] not in RANGE
        or words[i + 3] not in ("月", "月份")
    ):
        return None
    return yearly(lambda year: calendar.month(year, number), "month"), i + 1, 0


@packrat
def dated(scan: Scan, i: int) -> Found | None:
    """Parses a date, the year first: 2016年一月十日, 去年八月, 10月12号，星期一."""
    words = scan.words
    j = i
    lunar = words[j] in _LUNAR
    found = year(scan, j + 1 if lunar else j)
    if found is not None:
        span, j = found
        if not isinstance(span, Span) or span.start is None:
            return None
        k = scan.skip(j, "的", ",", "，")
        below = month_day(scan, k) or _first_month(scan, k)
        if below is None:
            return None if lunar else found
        reading, stop, is_lunar = below
        if lunar and not is_lunar:
            return _lunar_again(scan, span.start.year, k)
        assert isinstance(reading, Cycle)
        inside = reading.at(span.start.year)
        if inside is None:
            return None
        return inside, weekday_after(scan, stop)
    below = month_day(scan, j)
    if below is not None:
        return below[0], weekday_after(scan, below[1]) if below[0].grain == "day" else below[1]
    return None


def _lunar_again(scan: Scan, number: int, i: int) -> Found | None:
    """Parses a date whose year is marked as lunar, not its month: 农历2015年十月十五."""
    words = scan.words
    month = value(words[i])
    if month is None or words[i + 1] != "月":
        return None
    day = _lunar_day(scan, i + 2)
    start = solar(number, month, day[0] if day else 1)
    if start is None:
        return None
    if day is None:
        return replace(calendar.days(start, 30 if solar(number, month, 30) else 29), grain="month"), i + 2
    return calendar.day(start), day[1]


def weekday_after(scan: Scan, i: int) -> int:
    """Skips a weekday that only repeats the date: 10月12号，星期一, 5月8日（周五） and 5/8(五)."""
    words = scan.words
    signed = words[i + 1] in WEEKDAYS or words[i + 1] in ("一", "二", "三", "四", "五", "六", "日")
    if words[i] in ("(", "（") and signed and words[i + 2] in (")", "）"):
        return i + 3
    j = scan.skip(i, ",", "，", "、")
    return j + 1 if words[j] in WEEKDAYS else i


@packrat
def day_word(scan: Scan, i: int) -> Found | None:
    """Parses a day or night relative to today: 今天, 昨晚, 大后天."""
    words, frame = scan.words, scan.frame
    shift = DAYS.get(words[i])
    if shift is not None:
        if words[i] in ("翌日", "次日", "隔天", "隔日", "当天", "当日"):
            return replace(calendar.day(add_days(frame.today, shift)), sure=0.5, ambiguous=True), i + 1
        return calendar.day(add_days(frame.today, shift)), weekday_after(scan, i + 1)
    night = NIGHTS.get(words[i])
    if night is None:
        return None
    span = part(night[1]).on(calendar.day(add_days(frame.today, night[0])))
    if span is not None and words[i] == "当晚":
        span = span.doubted(0.5)
    return (
        (span, scan.skip(i + 1, "上") if words[i + 2] not in ("周", "个", "星期") else i + 1)
        if span
        else None
    )


# The first of two days that are named together, as days from today.
_NAMED_TOGETHER = {("今", "明"): 0, ("明", "后"): 1, ("昨", "今"): -1, ("前", "昨"): -2, ("前昨", ""): -2}


@packrat
def named_together(scan: Scan, i: int) -> Found | None:
    """Parses neighbouring days or years in one word: 今明两天, 明后天, 今明两年."""
    words, today = scan.words, scan.frame.today
    if words[i : i + 2] == ["明", "后天"]:
        return calendar.days(add_days(today, 1), 2), i + 2
    j = i + 1 if words[i] == "前昨" else i + 2
    first = _NAMED_TOGETHER.get((words[i], words[i + 1] if j > i + 1 else ""))
    count = value(words[j])
    if first is None or count not in (2, 3):
        return None
    if words[j + 1] in ("天", "日"):
        return calendar.days(add_days(today, first), count), j + 2
    return given(
        calendar.months(today.year + first, 1, 12 * count, "year") if words[j + 1] == "年" else None, j + 2
    )


NOT_DAYS = words_of("chinese.not_days")


@packrat
def day_of_month(scan: Scan, i: int) -> Found | None:
    """Parses a day without a month: 29日, 十五号. "12号" may number anything, so "12号" alone is not a day."""
    words = scan.words
    number = value(words[i])
    if number is None or not 1 <= number <= 31 or words[i + 1] not in ("日", "号") or words[i] in ("两",):
        return None
    last = scan.before(i)
    if last in ("段", "路", "街", "巷", "弄", "栋", "楼", "住", "号"):
        return None
    if last in ("第", "-", "/", ".", "年", "共", "近", "这", "过", "了") and scan.tight(i):
        return None
    if words[i + 1] == "号" and (words[i + 2][:1] in NOT_DAYS or (i == 0 and not words[i + 2])):
        return None
    if words[i + 1] == "号" and words[i + 2] == "出" and words[i + 3] in ("口", "站"):
        return None
    if words[i + 1] == "日" and (
        words[i + 2] in ("内", "之内", "以内") or words[i + 2][:1] in tuple("游遊通券票谈談程")
    ):
        return None
    if words[i] == "一" and words[i + 1] == "日" and scan.before(i) not in ("、", "和", "到", "至", "月"):
        return None  # one day, not the first of a month
    return monthly(number), weekday_after(scan, i + 2)
