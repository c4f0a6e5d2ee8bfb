"""Chinese dates: years, months, days, dates in digits, and holidays."""

import re
from dataclasses import replace

from .. import calendar
from ..calendar import Span, add_days, full_year
from ..clock import part
from ..cycles import Cycle, Reading, dated_yearly, each, monthly, yearly
from ..holidays import CHINESE, RULES, solar
from ..scan import Found, given, listed, packrat
from ..tables import values_of, words_of
from .numbers import neighbours, positional, value
from .words import DAYS, ERAS, NIGHTS, SEASONS, UNITS, WEEKDAYS, YEARS
from .words import ChineseScan as Scan

_LUNAR = listed("农历 阴历 旧历 夏历")
RANGE = listed("到 至 ~ - — – ―")
"""Marks and words between the two sides of a range."""
_LUNAR_MONTHS = {"正月": 1, "大年": 1, "冬月": 11, "腊月": 12}
# Events that a year without 年 often names: 2022世界杯.
_YEARLY_EVENTS = tuple(words_of("chinese.yearly_events"))
_MEASURES = words_of("chinese.measures")
_SHORT_YEARS = ("0", "零", "〇")


def de(scan: Scan, i: int) -> int:
    """Skips 的 at word `i`."""
    return scan.skip(i, "的")


@packrat
def year_number(scan: Scan, i: int) -> tuple[int, int] | None:
    """Parses a year with a number: 2016年, 二〇一六年, 07年, 两千年, 民国一一四年, 康熙二十年."""
    words = scan.words
    j = scan.skip(i, "公元", "西元")
    era = ERAS.get(words[j])
    if era is not None:
        reign = 1 if words[j + 1] == "元" else value(words[j + 1])
        told = reign is not None and 1 <= reign <= 200 and words[j + 2] == "年" and era + reign > 0
        return (era + (reign or 0), j + 3) if told else None
    word, number, k = words[j], value(words[j]), j + 2
    if number is None:
        return None
    if len(word) == 4 and word.isdecimal() and 1900 <= number <= 2150 and words[j + 1] not in ("年", "年份"):
        if words[j + 1] in listed("上半年 下半年 前半年 后半年 年度"):
            return number, j + 1 + (words[j + 1] == "年度")
        named = words[j + 1] in SEASONS or scan.text.startswith(_YEARLY_EVENTS, scan.stops[j])
        return (number, j + 1) if named else None
    if words[j + 1] not in ("年", "年份"):
        return None
    if words[k] == "次":  # a year of birth; without a century it is a year of the Republic
        short = number + 1911 if 20 <= number <= 150 else number
        return (short, k + 1) if 1900 <= short <= 2150 else None
    lasts = number == 2000 and (words[k] in ("的", "历") or scan.before(i) in ("有", "了", "近"))
    if (
        "千" in word
        and 1900 <= number <= 2150
        and not lasts
        and ("千零" in word or words[k] not in _AFTER_LENGTH)
    ):
        return number, k
    if len(word) == 4 and positional(word) and 1 <= number <= 2999:
        return number, k
    republican = not word.isdecimal() or words[k + 1] == "月"
    if len(word) == 3 and positional(word) and 60 <= number <= 150 and republican:
        return number + 1911, k  # a year of the Republic; Taiwan often omits 民国
    if len(word) != 2 or not positional(word):
        return (number, k) if j > i and 1 <= number <= 2999 else None
    if words[k] in _AFTER_LENGTH and not word.startswith(_SHORT_YEARS):
        beside = words[k] in ("前", "后", "之前", "之后") and number >= 60 and neighbours(word) is None
        return (full_year(number), k) if beside else None
    if number >= 32 and not word.startswith((*_SHORT_YEARS, "9", "九", "8", "八")):
        return None
    counted = scan.before(i) in listed("了 过 已 近 第 前 最近 过去 未来 满 共 约 活")
    return None if counted else (full_year(number), k)


_AFTER_LENGTH = listed("前 后 之前 之后 以前 以后 来 内 以前的 多 半 级")


@packrat
def year(scan: Scan, i: int) -> Found | None:
    """Parses a year, by number or relative to this year: 去年, 2016年."""
    words = scan.words
    shift = -1 if words[i : i + 3] == ["上", "一", "年"] else YEARS.get(words[i])
    if shift is not None:
        return given(calendar.year(scan.frame.now.year + shift), i + (3 if words[i] == "上" else 1))
    found = year_number(scan, i)
    return given(calendar.year(found[0]), found[1]) if found else None


def _lunar_day(scan: Scan, i: int) -> tuple[int, int] | None:
    """Parses a lunar day: 初一 to 三十."""
    word = scan.words[i]
    if word.startswith("初") and len(word) == 2:
        return given(value(word[1]), i + 1)
    number = value(word)
    if number is None or not 1 <= number <= 30 or (word.isdecimal() and counts(scan, i + 1)):
        return None
    return number, scan.skip(i + 1, "日", "号")


def counts(scan: Scan, i: int) -> bool:
    """True when word `i` makes an amount of the number before it: 3场, 3-5个, 3.5."""
    word = scan.words[i]
    if word in (*RANGE, ".", "/", ":") and value(scan.words[i + 1]) is not None:
        return word not in RANGE or (scan.words[i + 2] not in ("月", "日", "号") and counts(scan, i + 2))
    return word in UNITS or word[:1] in _MEASURES


@packrat
def month_day(scan: Scan, i: int) -> tuple[Reading, int, int] | None:
    """Parses a month, perhaps with a day, without a year. Returns the reading, the next word, and 1 when lunar."""
    words = scan.words
    lunar = words[i] in _LUNAR
    j = i + lunar
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
    k = j + 1
    if month is not None:
        lunar = True
    else:
        month = value(words[j]) if neighbours(words[j]) is None and words[j] != "两" else None
        if month is None or not 1 <= month <= 12 or words[k] not in ("月", "月份"):
            return None
        k += 1
    k = k + 1 if words[k] == "的" and value(words[k + 1]) and words[k + 2] in ("日", "号") else k
    fixed = month
    traditional = words[k].startswith("初") and len(words[k]) == 2
    day = _lunar_day(scan, k) if traditional or lunar else None
    if day is not None:
        number = day[0]

        def lunar_date(year: int) -> Span | None:
            start = solar(year, fixed, number, leap=leap)
            if start is None and not 1930 <= year < 2100:
                return calendar.date(year, fixed, number)
            return calendar.day(start) if start else None

        return yearly(lunar_date, "day", 0.85), day[1], 1
    dom = value(words[k])
    signed = words[k + 1] in ("日", "号")
    digits = words[k].isascii() and len(words[k]) <= 2
    bare = (digits or (dom or 0) > 10) and scan.tight(k) and not counts(scan, k + 1)
    if dom is not None and 1 <= dom <= 31 and (signed or bare):
        reading = dated_yearly(fixed, dom)
        return (reading, k + 1 + signed, 0) if reading else None
    if lunar:
        return yearly(lambda year: _lunar_month(year, fixed, leap=leap), "month", 0.85), k, 1
    return yearly(lambda number: calendar.month(number, fixed), "month"), k, 0


def _lunar_month(year: int, month: int, *, leap: bool = False) -> Span | None:
    start = solar(year, month, 1, leap=leap)
    long = solar(year, month, 30, leap=leap) is not None
    return Span(start, add_days(start, 29 + long), "month") if start else None


def _counted(scan: Scan, i: int) -> bool:
    """True when word `i` is the unit of the word before it: 三年, 每年."""
    last = scan.before(i)
    return scan.tight(i) and (value(last) is not None or last in listed("个 半 每 整 第 几 数 多 元"))


def _first_month(scan: Scan, i: int) -> tuple[Reading, int, int] | None:
    """Parses the number of the first month of a range: 一 of 一到三月. Returns it as :func:`month_day` does."""
    words, number = scan.words, value(scan.words[i])
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
    lunar = scan.words[i] in _LUNAR
    found = year(scan, i + lunar)
    if found is None:
        below = month_day(scan, i)
        if below is None:
            return None
        return below[0], weekday_after(scan, below[1]) if below[0].grain == "day" else below[1]
    span, j = found
    assert isinstance(span, Span)
    k = scan.skip(j, "的", ",", "，")
    below = month_day(scan, k) or _first_month(scan, k)
    if below is None or (lunar and not below[2]):
        return None if lunar else found
    reading, stop, _ = below
    assert isinstance(reading, Cycle)
    return given(reading.at(span.begins.year), weekday_after(scan, stop))


def weekday_after(scan: Scan, i: int) -> int:
    """Skips a weekday that only repeats the date: 10月12号，星期一, 5月8日（周五） and 5/8(五)."""
    words = scan.words
    signed = words[i + 1] in WEEKDAYS or words[i + 1] in tuple("一二三四五六日")
    if words[i] in ("(", "（") and signed and words[i + 2] in (")", "）"):
        return i + 3
    j = scan.skip(i, ",", "，", "、")
    return j + 1 if words[j] in WEEKDAYS else i


@packrat
def day_word(scan: Scan, i: int) -> Found | None:
    """Parses a day or night relative to today: 今天, 昨晚, 大后天."""
    words, today = scan.words, scan.frame.today
    shift = DAYS.get(words[i])
    if shift is not None:
        day = calendar.day(add_days(today, shift))
        if words[i] in listed("翌日 次日 隔天 隔日 当天 当日"):
            return replace(day, sure=0.5, ambiguous=True), i + 1
        return day, weekday_after(scan, i + 1)
    night = NIGHTS.get(words[i])
    span = part(night[1]).on(calendar.day(add_days(today, night[0]))) if night else None
    if span is None:
        return None
    span = span.doubted(0.5) if words[i] == "当晚" else span
    return span, scan.skip(i + 1, "上") if words[i + 2] not in ("周", "个", "星期") else i + 1


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
    return (
        given(calendar.months(today.year + first, 1, 12 * count, "year"), j + 2)
        if words[j + 1] == "年"
        else None
    )


NOT_DAYS = words_of("chinese.not_days")


@packrat
def day_of_month(scan: Scan, i: int) -> Found | None:
    """Parses a day without a month: 29日, 十五号. "12号" may number anything, so "12号" alone is not a day."""
    words, last, after = scan.words, scan.before(i), scan.words[i + 2]
    number, sign = value(words[i]), words[i + 1]
    if number is None or not 1 <= number <= 31 or sign not in ("日", "号") or words[i] == "两":
        return None
    if last in listed("段 路 街 巷 弄 栋 楼 住 号"):
        return None
    if last in listed("第 - / . 年 共 近 这 过 了") and scan.tight(i):
        return None
    if sign == "号":
        numbers = after[:1] in NOT_DAYS or (i == 0 and not after and not words[i].startswith(("廿", "卅")))
        if numbers or (after == "出" and words[i + 3] in ("口", "站")):
            return None
    elif after in ("内", "之内", "以内") or after[:1] in tuple("游遊通券票谈談程"):
        return None
    elif words[i] == "一" and last not in listed("、 和 到 至 月"):
        return None  # one day, not the first of a month
    return monthly(number), weekday_after(scan, i + 2)


# The words before the number of a version: Ubuntu 22.04.1, 版本24.11.3.
_VERSIONED = re.compile(r"(?:版本[:是]?|[A-Za-z]) ?$")


@packrat
def numeric(scan: Scan, i: int) -> Found | None:
    """Parses a date in digits, the year first: 2010.01.29, 2018-10-12, 12/1. In 23/1/2020 the day is first."""
    words, first = scan.words, scan.words[i]
    if not first.isdecimal() or not first.isascii() or len(first) > 4:
        return None
    mark, second = words[i + 1], scan.digits(i + 2, 4)
    if mark not in ("-", "/", ".") or not scan.tight(i + 1) or not scan.tight(i + 2) or second is None:
        return None
    a, short = int(first), len(words[i + 2]) <= 2
    if words[i + 3] == mark and scan.tight(i + 3) and scan.tight(i + 4):
        third, last, after = scan.digits(i + 4, 4), words[i + 4], words[i + 5]
        if third is None or (scan.tight(i + 5) and after.isalnum() and after.isascii()):
            return None
        republican = mark == "/" and (
            100 <= a <= 150 or (60 <= a < 100 and len(words[i + 2]) == len(last) == 2)
        )
        begin = scan.begins[i]
        versioned = mark == "." and len(first) < 4 and _VERSIONED.search(scan.text, max(0, begin - 4), begin)
        if len(last) == 4 and short:
            span = calendar.date(third, second, a) or calendar.date(third, a, second)
        elif len(last) > 2 or versioned or not (len(first) in (2, 4) or (len(first) == 3 and republican)):
            span = None
        else:
            span = calendar.date({2: full_year(a % 100), 3: a + 1911, 4: a}[len(first)], second, third)
        return given(span, scan.skip(weekday_after(scan, i + 5), "日", "号"))
    if len(first) == 4 and short and 1 <= second <= 12 and mark != ".":
        return given(calendar.month(a, second) if 1900 <= a <= 2100 else None, i + 3)
    after = words[i + 3]
    if mark != "/" or len(first) > 2 or not short or (a, second) == (24, 7):
        return None
    if (after == "号" and words[i + 4][:1] in NOT_DAYS) or after[:1] in tuple("的个杯匙份分月"):
        return None
    month, dom = (a, second) if 1 <= a <= 12 else (second, a)
    runs_on = scan.tight(i + 3) and after.isascii() and after.isalnum()
    return given(None if runs_on else dated_yearly(month, dom, 0.75), weekday_after(scan, i + 3))


# Holidays that Taiwan keeps on another day, for texts in traditional characters.
_IN_TAIWAN = values_of("chinese.in_taiwan")
_WEEKS = {"national_china": 7, "spring_festival": 7, "workers": 5}
_WISHES = ("快乐", "快樂", "愉快", "安康", "吉祥")


@packrat
def holiday(scan: Scan, i: int) -> Found | None:
    """Parses a holiday without a year. The script of its name decides between the calendars of China and Taiwan."""
    words = scan.words
    key = CHINESE.get(words[i])
    if key is None:
        return None
    original = scan.source[scan.begins[i] : scan.stops[i]]
    for written, other in _IN_TAIWAN.items():
        if original.startswith(written):
            key = other
    rule = RULES[key]
    j = i + 1
    if words[i] in ("过年", "新年", "五一", "清明") and words[j] in ("的话", "好"):
        return None
    if scan.text.startswith(_WISHES, scan.stops[i]):
        return None
    if words[j] in ("黄金周", "长假", "假期", "连假", "小长假") and key in _WEEKS:
        length = _WEEKS[key]
        return given(each(yearly(rule, "week", 0.7), lambda day: calendar.days(day.begins, length)), j + 1)
    if words[j] == "前夕":
        return given(each(yearly(rule, "day", 0.8), calendar.day_before), j + 1)
    j = scan.skip(j, "连假", "假期", "长假")
    sure = 0.6 if words[i] in ("过年", "新年") else 0.9
    return yearly(rule, "day", sure), scan.skip(j, "当天", "期间", "那天")
