"""English expressions relative to the present: today, the weekend, week 10, the day after Christmas."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from .. import calendar
from ..calendar import Span, add_days
from ..clock import Clock, part, point
from ..cycles import each, monthly
from ..scan import Scan, listed
from ..shares import nth, share, weekend_about
from .numbers import (
    ordinal,
    plain,
    year_number,
)
from .simple import Found, opens, simple
from .words import UNITS, WEEKDAYS

_DAYS: dict[str, int] = {
    "today": 0, "yesterday": -1, "tomorrow": 1, "tmr": 1, "tmrw": 1, "tomorow": 1, "tommorow": 1, "tommorrow": 1,
    "yday": -1, "otd": 0,
}  # fmt: skip


_ENDING = {"eod": "day", "eow": "week", "eom": "month", "eoy": "year"}
# "the end of the week" and "twice in the week" are not about this week.
_SHARES_OF = listed("end rest most part time times start beginning middle day days week twice")
_AFTER_DATE = listed("and but so i we he she they it is are was has have the this in for of with on at") | {
    "", ".", ",", "!", "?", ";", ":", ")", "-",
}  # fmt: skip
_CLAUSE_END = frozenset(
    ["", ".", ",", "!", "?", ";", ":", ")", "and", "but", "so", "or", "-", "with", "because"]
)


@opens(
    _DAYS,
    (f"{word}'s" for word in _DAYS),
    "tonight",
    "tonite",
    "tonight's",
    _ENDING,
    "cob",
    "the",
    "day",
    "night",
)
def day_word(scan: Scan, i: int) -> Found | None:
    """Parses today, tomorrow, tonight, "the day before yesterday", "the other day"."""
    words, frame = scan.words, scan.frame
    word = words[i]
    if word in _DAYS:
        j = i + 1
        if words[j] == "'s":
            j += 1
        if words[j] == "week" and word in ("today", "tomorrow") and words[j + 1] in _CLAUSE_END:
            return calendar.day(add_days(frame.today, _DAYS[word] + 7)), j + 1
        return calendar.day(add_days(frame.today, _DAYS[word])), j
    bare_word = word.removesuffix("'s")
    if bare_word in _DAYS:
        return calendar.day(add_days(frame.today, _DAYS[bare_word])), i + 1
    if word in ("tonight", "tonite", "tonight's"):
        night = part("night").on(calendar.day(frame.today))
        return (night, i + 1) if night else None
    if word in ("eod", "cob"):
        dated = simple(scan, scan.skip(i + 1, "on", "of"))
        if dated is not None and dated[0].grain == "day":
            closing = each(
                dated[0], _closing if word == "cob" else _ending, "hour" if word == "cob" else "second"
            )
            return (closing, dated[1]) if closing is not None else None
    if word == "cob":
        return _closed_today(scan, i)
    if word in _ENDING:
        whole = calendar.unit(_ENDING[word], frame.now)
        end = share(whole, "end") if whole else None
        return (end, i + 1) if end else None
    j = scan.skip(i, "the")
    if words[j] == "night" and words[j + 1] in ("before", "after") and words[j + 2] in ("last", "next"):
        night = part("night").on(calendar.day(add_days(frame.today, -2 if words[j + 1] == "before" else 2)))
        return (night, j + 3) if night else None
    if words[j] != "day" and not (words[j] == "other" and words[j + 1] == "day" and j > i):
        return None
    if words[j] == "other":
        return Span(add_days(frame.today, -7), frame.today, "week", sure=0.4, ambiguous=True), j + 2
    side = words[j + 1]
    if side in ("before", "after"):
        sign = -1 if side == "before" else 1
        if words[j + 2] in ("yesterday", "tomorrow"):
            return calendar.day(add_days(frame.today, sign + _DAYS[words[j + 2]])), j + 3
        if j > i and words[j + 2] in _CLAUSE_END and words[j + 2] not in ("-", "and"):
            return replace(calendar.day(add_days(frame.today, sign)), sure=0.5, ambiguous=True), j + 2
        around = _neighbour(scan, j + 2, "day", sign) if words[j + 2] not in ("that", "this") else None
        return around
    if j > i and side in _CLAUSE_END and scan.before(i) in ("for", "of") and scan.before(i - 1) not in (
        "end", "rest", "most", "all", "part", "time", "start", "beginning", "middle",
    ):  # fmt: skip
        return replace(calendar.day(frame.today), sure=0.6), j + 1
    return None


def _ending(day: Span) -> Span | None:
    return share(day, "end")


def _closing(day: Span) -> Span | None:
    return point(Clock(17)).on(day)  # close of business


def _closed_today(scan: Scan, i: int) -> Found | None:
    """Parses "COB", in capitals only: cobs of corn are eaten."""
    span = _closing(calendar.day(scan.frame.today)) if scan.original(i).isupper() else None
    return (span.doubted(0.6), i + 1) if span else None


def _neighbour(scan: Scan, i: int, unit: str, sign: int) -> Found | None:
    """Parses the anchor of "the day after Christmas", "the week before Easter", "the month after May"."""
    found = simple(scan, scan.skip(i, "the"))
    if found is None:
        return None
    reading, j = found

    def beside(span: Span) -> Span | None:
        if span.start is None or span.end is None:
            return None
        if unit == "day":
            base = span.start if sign < 0 else add_days(span.end, -1)
            return replace(calendar.day(add_days(base, sign)), sure=span.sure, ambiguous=span.ambiguous)
        other = calendar.unit(unit, span.start if sign < 0 else add_days(span.end, -1), sign)
        return replace(other, sure=span.sure, ambiguous=span.ambiguous) if other else None

    near = each(reading, beside, "day" if unit == "day" else None)
    return (near, j) if near is not None else None


@opens("the", "week", "wk", "weekend", "w", "month", "year", "quarter")
def week(scan: Scan, i: int) -> Found | None:
    """Parses "week 10", "week 3 of 2027", "w/c Feb 4", "the week of May 5", "the week after next"."""
    words, frame = scan.words, scan.frame
    j = scan.skip(i, "the")
    word = words[j]
    if word == "w" and words[j + 1] == "/" and words[j + 2] in ("c", "b", "o"):
        return _week_of(scan, j + 3)
    if word == "weekend":
        return _weekend(scan, j)
    if word == "w" and len(words[j + 1]) == 2 and scan.tight(j + 1) and scan.original(j) == "W":
        dated = year_number(scan, j + 2)
        span = calendar.iso_week(dated[0], scan.digits(j + 1, 2) or 0) if dated else None
        return (span, dated[1]) if span and dated else None
    unit = UNITS.get(word)
    if unit not in ("week", "month", "year", "quarter", "decade", "fortnight") or word.endswith("s"):
        return None
    after = words[j + 1]
    if after in ("after", "before"):
        sign = 1 if after == "after" else -1
        if words[j + 2] == ("next" if sign > 0 else "last") and words[j + 3] not in {*UNITS, *WEEKDAYS}:
            span = calendar.unit(unit, frame.now, 2 * sign)
            return (span, j + 3) if span else None
        if j > i and words[j + 2] in _CLAUSE_END:
            span = calendar.unit(unit, frame.now, sign)
            return (span.doubted(0.5), j + 2) if span else None
        return _neighbour(scan, j + 2, unit, sign) if j > i else None
    if unit == "quarter" and words[j + 1] in ("1", "2", "3", "4"):
        return _numbered_quarter(scan, j)
    if unit == "week":
        if after in ("of", "commencing", "starting", "beginning", "ending"):
            found = _week_of(scan, scan.skip(j + 2, "on"))
            if found is not None:
                return found
        number = words[j + 1]
        if number.isdecimal() and len(number) <= 2 and 1 <= int(number) <= 53 and plain(scan, j + 1):
            k = scan.skip(j + 2, "of", "in", ",")
            inside = simple(scan, k) if words[k - 1] in ("of", "in") else None
            if inside is not None and inside[0].grain == "month":
                reading = each(inside[0], lambda span: nth(span, "week", int(number)), "week")
                return (reading, inside[1]) if reading is not None else None
            year = year_number(scan, k)
            span = calendar.iso_week(year[0] if year else frame.now.isocalendar().year, int(number))
            return (span, year[1] if year else j + 2) if span else None
    if after == "to" and words[j + 2] == "date" and unit in ("week", "month", "year", "quarter"):
        span = calendar.unit(unit, frame.now)
        return (replace(span, end=frame.today, through=frame.now), j + 3) if span else None
    last = scan.before(i)
    alone = j > i and after in _CLAUSE_END and last in ("in", "of", "for", "this", "off", "unavailable")
    if alone and scan.before(i - 1) not in _SHARES_OF:
        span = calendar.unit(unit, frame.now)
        return (span.doubted(0.7), j + 1) if span else None
    return None


def _numbered_quarter(scan: Scan, i: int) -> Found | None:
    """Parses "quarter 3 2017"."""
    which = int(scan.words[i + 1])
    year = year_number(scan, scan.skip(i + 2, "of", "in", ","))
    span = calendar.quarter(year[0], which) if year else None
    return (span, year[1]) if span and year else None


def _week_of(scan: Scan, i: int) -> Found | None:
    j = scan.skip(i, "the")
    found = simple(scan, j)
    if found is None or found[0].grain != "day":
        dom = ordinal(scan, j) if j > i else None
        if dom is None or not 1 <= dom[0] <= 31:
            return None
        found = monthly(dom[0], sure=0.75), dom[1]
    reading = each(found[0], lambda span: calendar.unit("week", span.start) if span.start else None, "week")
    return (reading, found[1]) if reading is not None else None


def _weekend(scan: Scan, i: int) -> Found | None:
    """Parses a weekend. It is the weekend of this week, or the last one when the sentence is in the past tense."""
    frame = scan.frame
    if scan.words[i + 1] in ("of", "before", "after"):
        found = simple(scan, i + 2)
        if found is not None and found[0].grain == "day":
            reading = each(found[0], weekend_about, "weekend")
            return (reading, found[1]) if reading is not None else None
    shift = 0
    if scan.words[i + 1] in ("after", "before") and scan.words[i + 2] in ("next", "last"):
        span = calendar.unit("weekend", frame.now, 2 if scan.words[i + 2] == "next" else -2)
        return (span, i + 3) if span else None
    if scan.tense(i) < 0 and frame.now.weekday() < 5:
        shift = -1
    span = calendar.unit("weekend", frame.now, shift)
    return (span.doubted(0.75), i + 1) if span else None


@opens("to", "ytd", "mtd", "so")
def to_date(scan: Scan, i: int) -> Found | None:
    """Parses "to date", "ytd", "so far this year"."""
    words, frame = scan.words, scan.frame
    if words[i] in ("ytd", "mtd"):
        span = calendar.unit("year" if words[i] == "ytd" else "month", frame.now)
        return (replace(span, end=frame.today, through=frame.now), i + 1) if span else None
    if (
        words[i] == "to"
        and words[i + 1] == "date"
        and scan.before(i) not in ("up", "how", "want", "like", "started")
        and words[i + 2] in _AFTER_DATE
    ):
        return Span(None, frame.today, "day", through=frame.now), i + 2
    if words[i] == "so" and words[i + 1] == "far" and words[i + 2] == "this" and words[i + 3] in UNITS:
        span = calendar.unit(UNITS[words[i + 3]], frame.now)
        return (replace(span, end=frame.now), i + 4) if span else None
    return None


@opens(
    "now",
    "right",
    "just",
    "at",
    "currently",
    "presently",
    "asap",
    "current",
    "present",
    "lately",
    "recently",
    "nowadays",
    "these",
)
def present(scan: Scan, i: int) -> Found | None:
    """Parses "now", "right now", "at the moment", "lately"."""
    words, frame = scan.words, scan.frame
    word = words[i]
    instant = Span(frame.now, frame.now + timedelta(seconds=1), "second", instant=True)
    if word in ("right", "just") and words[i + 1] == "now":
        return instant, i + 2
    if word == "now":
        idle = (words[i + 1] in ("and", "that") and words[i + 2] in ("then", "again", "")) or words[
            i + 1
        ] == "that"
        return (
            None
            if idle or (scan.before(i) in ("until", "by", "know") and words[i + 1] == "and")
            else (instant, i + 1)
        )
    if word == "at":
        if words[i + 1] == "present" or (words[i + 1] == "the" and words[i + 2] == "moment"):
            return instant, i + 2 if words[i + 1] == "present" else i + 3
        if words[i + 1] == "this" and words[i + 2] in ("time", "moment", "point"):
            return instant, i + 3
    if word in ("currently", "presently", "nowadays", "asap"):
        return instant, i + 1
    if word in ("current", "present") and words[i + 1] == "date":
        return calendar.day(frame.today), i + 2
    if word in ("lately", "recently") or (
        word in ("these", "past") and words[i + 1] == "days" and word == "these"
    ):
        recent = Span(add_days(frame.today, -30), frame.now, "month", sure=0.4, ambiguous=True)
        return recent, i + (2 if word == "these" else 1)
    return None
