"""The parts of a Chinese period: 上半年 of 今年, 初 of 五月, 第二周 of 2021年, 前10天 of 去年."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import cast

from .. import calendar
from ..calendar import WITHIN_DAY, Span, add_days, add_months, in_week
from ..cycles import Cycle
from ..scan import listed, packrat
from ..shares import Share, nth, nth_weekday, share
from ..tables import values_of
from .dates import dated, holiday
from .numbers import value
from .words import SEASONS, UNITS, WEEKDAYS
from .words import ChineseScan as Scan

PeriodPart = tuple[Callable[[Span], Span | None], int]
"""The rule that narrows a period to its part, and the index of the next word."""
SHARES = cast("dict[str, Share]", values_of("chinese.shares"))
DAYS_OF_MONTH = {"上旬": (0, 10), "中旬": (10, 20), "下旬": (20, 31), "上半月": (0, 15), "下半月": (15, 31)}
HALVES = {"上半年": 1, "前半年": 1, "下半年": 2, "后半年": 2, "上半": 1, "下半": 2}
_LENGTH_UNITS = frozenset({"year", "quarter", "month", "week", "day", "weekend", "working_day"})


# An event that has no date here. A length beside it is not counted from now: 婚礼前一天.
_EVENT = re.compile(
    r"(?:婚[礼禮]|[结結订訂离離]婚|手[术術]|[考面口笔筆][试試]|[高中期末大会會联聯]考|[比决決]赛|[比決]賽|生日|退休|[毕畢][业業]|出[发發国國院差]"
    r"|[开開入][学學]|放假|住院|[怀懷]孕|生[产產]|分娩|[离離入][职職]|[会會][议議]|[开開][会會]|演[出唱]|活[动動]|睡[觉覺]?|[吃早午晚][饭飯餐]|[饭飯餐]"
    r"|[起登][飞飛机機]|入住|[结結]束|搬家|分手|去世|[过過]世|[上下][班课課线線市]|地震|[选選][举舉]|旅[行游遊]|[战戰][争爭]|到期)的?$"
)


def after_event(scan: Scan, i: int) -> bool:
    """True when word `i` directly follows the name of an event without a date."""
    begin = scan.begins[i]
    return scan.tight(i) and _EVENT.search(scan.text[max(0, begin - 4) : begin]) is not None


@packrat
def period_part(scan: Scan, i: int) -> PeriodPart | None:
    """Parses a word that narrows a period. Returns the rule of the part, and the next word."""
    words = scan.words
    word = words[i]
    if word in ("年", "月") and words[i + 1] in SHARES:
        which, kind = SHARES[words[i + 1]], "year" if word == "年" else "month"
        return (lambda span: share(span, which) if span.grain == kind else None), i + 2
    if word in SHARES:
        which = SHARES[word]
        return (lambda span: _shared(span, which)), i + 1
    if words[i : i + 3] in (["上半", "个", "月"], ["下半", "个", "月"]):
        word, i = f"{word}月", i + 2
    if word in DAYS_OF_MONTH:
        first, last = DAYS_OF_MONTH[word]
        return (lambda span: _days_of_month(span, first, last)), i + 1
    if word in ("上半", "下半", "前半", "后半") and words[i + 1] in ("周", "星期", "礼拜"):
        side: Share = "early" if word in ("上半", "前半") else "late"
        return (lambda span: share(span, side) if span.grain == "week" else None), i + 2
    if word in HALVES:
        number = HALVES[word]
        return (lambda span: _in_year(span, lambda year: calendar.half(year, number))), i + 1
    return _ordinal(scan, i) or _named(scan, i)


def _shared(span: Span, which: Share) -> Span | None:
    return share(span, which) if span.grain not in (*WITHIN_DAY, "day", "week") else None


def _days_of_month(span: Span, first: int, last: int) -> Span | None:
    if span.grain != "month":
        return None
    return replace(span, start=add_days(span.begins, first), end=min(span.ends, add_days(span.begins, last)))


def _ordinal(scan: Scan, i: int) -> PeriodPart | None:
    """Parses units inside a period: 第二周, 第三季度, 最后3周, 前10天, 最后一个星期一, Q2."""
    words, word = scan.words, scan.words[i]
    if word in ("q", "h") and scan.digits(i + 1, 1) is not None:
        rule, number = calendar.quarter if word == "q" else calendar.half, int(words[i + 1])
        return (lambda span: _in_year(span, lambda year: rule(year, number))), i + 2
    count, j = 1, i + 1
    where = {"首": 1, "头": 1, "前": 1, "最初": 1, "最后": -1, "最末": -1, "后": -1}.get(word)
    if word == "第":
        where, j = value(words[j]), j + 1
    elif where is None:
        where = value(word) if words[j] in ("季度", "季") else None
    else:
        many = 3 if words[j] == "几" else value(words[j])
        if many is None and word != "首" and words[j] not in ("个", "季"):
            return None
        count, j = many or 1, j + (many is not None)
    if where is None:
        return None
    place = where
    j = scan.skip(j, "个")
    weekday, kind = WEEKDAYS.get(words[j]), UNITS.get(words[j])
    if weekday is not None:
        return (lambda span: nth_weekday(span, weekday, place) if count == 1 else None), j + 1
    if kind not in _LENGTH_UNITS or kind is None:
        return None
    return (lambda span: nth(span, kind, place, count) if span.grain != kind else None), j + 1


def _named(scan: Scan, i: int) -> PeriodPart | None:
    """Parses a season, a holiday or a month inside a year, a day inside a month, or a weekday inside a week."""
    words, word, today = scan.words, scan.words[i], scan.frame.today
    ends = words[i + 1] in listed("$ ， , 。 ！ ？ 、 的 到 至 - ~ 在 我 他 她 开 开始")
    season = SEASONS.get(word) or (_BARE_SEASONS.get(word) if ends else None)
    if season is not None:
        return (lambda span: _in_year(span, lambda year: calendar.season(year, season))), i + 1
    weekday = WEEKDAYS.get(word)
    if weekday is not None:
        return (lambda span: in_week(span, weekday) if span.grain == "week" else None), i + 1
    if word == "周末":
        return (lambda span: calendar.unit("weekend", span.begins) if span.grain == "week" else None), i + 1
    dom = value(word)
    if dom is not None and words[i + 1] in ("日", "号"):
        return (lambda span: _in_month(span, dom)), i + 2
    if word in listed("这个时候 这时候 此时 同期 今天 同一天"):
        about = word not in ("今天", "同一天")
        return (lambda span: _in_year(span, lambda year: _anniversary(today, year, about=about))), i + 1
    found = holiday(scan, i) or dated(scan, i)
    cycle = found[0] if found is not None else None
    return ((lambda span: _in_year(span, cycle.at)), found[1]) if found and isinstance(cycle, Cycle) else None


_BARE_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}


def _anniversary(today: datetime, year: int, *, about: bool) -> Span | None:
    """Returns this day in another year, or the weeks about it."""
    day = add_months(today, 12 * (year - today.year))
    return Span(add_days(day, -14), add_days(day, 15), "month", sure=0.6) if about else calendar.day(day)


def _in_year(span: Span, at: Callable[[int], Span | None]) -> Span | None:
    return at(span.begins.year) if span.grain == "year" else None


def _in_month(span: Span, dom: int) -> Span | None:
    return calendar.date(span.begins.year, span.begins.month, dom) if span.grain == "month" else None
