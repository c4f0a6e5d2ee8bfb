"""English periods: relative units, parts and pieces of periods, quarters, seasons, decades, holidays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from ..scan import Scan, packrat
from .. import calendar
from ..calendar import Grain, Span, add_days, add_months, midnight
from ..clock import part
from ..cycles import Cycle, Reading, each, settle, weekly, yearly
from ..lengths import Length
from ..shares import Share, nth, nth_weekday, share, weekend_about
from . import dates
from .holidays import FIRST_WORDS as HOLIDAY_WORDS
from .holidays import bare, holiday
from .times import hours, part_of_day
from .numbers import amount, first_length, full_year, integer, length, ordinal, plain, unit_word, year_number
from .words import MONTHS, NUMBERS, ORDINALS, PART_WORDS, SEASON_WORDS, SHIFTS, UNITS, WEEKDAYS

Found = tuple[Reading, int]
Rule = Callable[[Scan, int], Found | None]

_DAYS: dict[str, int] = {
    "today": 0, "yesterday": -1, "tomorrow": 1, "tmr": 1, "tmrw": 1, "tomorow": 1, "tommorow": 1, "tommorrow": 1,
    "yday": -1, "otd": 0,
}  # fmt: skip
_DECADES = {
    "twenties": 20, "thirties": 30, "forties": 40, "fifties": 50, "sixties": 60, "seventies": 70, "eighties": 80,
    "nineties": 90, "noughties": 0,
}  # fmt: skip
_SHARE_WORDS: dict[str, Share] = {
    "early": "early", "earlier": "early", "mid": "mid", "middle": "middle", "late": "late", "later": "late",
    "beginning": "beginning", "start": "beginning", "end": "end", "close": "end",
}  # fmt: skip
_SLIDING = frozenset({"past", "coming", "upcoming"})
_CLAUSE_END = frozenset(["", ".", ",", "!", "?", ";", ":", ")", "and", "but", "so", "or", "-", "with", "because"])


@packrat
def day_word(scan: Scan, i: int) -> Found | None:
    """today, tomorrow, tonight, "the day before yesterday", "the next day"."""
    words, frame = scan.words, scan.frame
    word = words[i]
    if word in _DAYS:
        j = i + 1
        if words[j] == "'s":
            j += 1
        return calendar.day(add_days(frame.today, _DAYS[word])), j
    bare_word = word.removesuffix("'s")
    if bare_word in _DAYS:
        return calendar.day(add_days(frame.today, _DAYS[bare_word])), i + 1
    if word in ("tonight", "tonite", "tonight's"):
        night = part("night").on(calendar.day(frame.today))
        return (night, i + 1) if night else None
    if word == "eod":
        return _end_of(calendar.day(frame.today)), i + 1
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


def _end_of(span: Span) -> Span | None:
    return share(span, "end")


def _neighbour(scan: Scan, i: int, unit: str, sign: int) -> Found | None:
    """ "the day after Christmas", "the week before Easter", "the month after May"."""
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


@packrat
def shifted(scan: Scan, i: int) -> Found | None:
    """ "last week", "this past Friday", "next three months", "next year's first quarter"."""
    words, frame = scan.words, scan.frame
    j = scan.skip(i, "the")
    word = words[j]
    if word not in SHIFTS:
        return None
    shift, sliding = SHIFTS[word], word in _SLIDING
    lead = word
    j += 1
    if word == "this" and words[j] == "time" and words[j + 1] in ("last", "next"):
        return _this_time(scan, j + 1)
    if word in ("this", "the") and words[j] in ("past", "coming", "upcoming", "last", "next"):
        shift, sliding, lead = SHIFTS[words[j]], True, words[j]
        j += 1
    counted = _rolling(scan, j, shift)
    if counted is not None:
        return counted
    if words[j] in ("calendar", "working", "business", "work") and words[j + 1].removesuffix("'s") in UNITS:
        if words[j] != "calendar" and words[j + 1] == "week":
            week = calendar.unit("working_week", frame.now, shift)
            return (week, j + 2) if week else None
        j += 1
    weekday = dates.weekday_name(scan, j)
    if weekday is not None:
        return _shifted_weekday(scan, j, weekday, shift, sliding)
    named = unit_word(scan, j)
    if named is not None and not (words[j] in ("night", "nights") or (words[j].endswith("s") and not words[j].endswith("'s"))):
        return _shifted_unit(scan, named[0], named[1], shift, lead)
    if words[j] in ("that", "same"):
        return None
    share_word = _SHARE_WORDS.get(words[j])
    name = PART_WORDS.get(words[j]) or (PART_WORDS.get(words[j + 1]) if share_word else None)
    if name and lead not in ("that", "same") and name not in ("lunch", "dinner", "breakfast"):
        k = j + 1 if words[j] in PART_WORDS else j + 2
        from ..clock import part as part_of

        hours = part_of(name, "" if k == j + 1 else "early" if share_word in ("early", "beginning") else "late")
        span = hours.on(calendar.day(add_days(frame.today, shift)))
        return (span, k) if span else None
    return _shifted_name(scan, j, shift, lead)


def _this_time(scan: Scan, i: int) -> Found | None:
    """ "this time last year": a stretch about the day so long ago."""
    unit = UNITS.get(scan.words[i + 1])
    if unit not in ("week", "month", "year"):
        return None
    there = Length(((1, unit),)).from_(scan.frame.today, scan.frame, SHIFTS[scan.words[i]])
    about = {"week": 0, "month": 3, "year": 14}[unit]
    span = Span(add_days(there, -about), add_days(there, about + 1), "day" if about < 14 else "month", sure=0.6)
    return span, i + 2


def _rolling(scan: Scan, i: int, shift: int) -> Found | None:
    """The last or next so many units."""
    words, frame = scan.words, scan.frame
    if shift == 0 or words[i] in ("a", "an") or words[i : i + 2] == ["half", "of"]:
        return None
    if words[i] in UNITS:
        extra = words[i + 1] == "and" and words[scan.skip(i + 2, "a")] == "half"
        unit = UNITS[words[i]]
        return (Length(((1.5, unit),)).rolling(frame, shift), scan.skip(i + 2, "a") + 1) if extra else None
    if words[i].isdecimal() and len(words[i]) > 5:
        return None
    long = length(scan, i)
    if long is None:
        return None
    if words[long[1]] in ("ago", "later", "before", "earlier"):
        long = first_length(scan, i)
        if long is None:
            return None
    lasting, j = long
    if words[j] == "of" and _whole(scan, j + 1) is not None:
        return None
    return _rolled(lasting, shift, scan), j


def _rolled(lasting: Length, shift: int, scan: Scan) -> Reading:
    """Quarters and the like line up with the calendar; days, weeks, months and years end now."""
    frame = scan.frame
    count, unit = lasting.parts[0]
    if len(lasting.parts) == 1 and unit in ("quarter", "century", "weekend") and count == int(count):
        first = calendar.unit(unit, frame.now, shift if shift > 0 else -int(count))
        last = calendar.unit(unit, frame.now, shift * int(count) if shift > 0 else -1)
        if first and last:
            return replace(first, end=last.end)
    return lasting.rolling(frame, shift)


@packrat
def counted(scan: Scan, i: int) -> Found | None:
    """ "5 upcoming years", "2 next days", "10 previous weeks"."""
    words = scan.words
    many = amount(scan, scan.skip(i, "the"))
    if many is None or SHIFTS.get(words[many[1]], 0) == 0:
        return None
    unit = unit_word(scan, many[1] + 1)
    if unit is None or words[i] in ("a", "an") or (many[0] > 1 and not words[unit[1] - 1].endswith("s")):
        return None
    return _rolled(Length(((many[0], unit[0]),)), SHIFTS[words[many[1]]], scan), unit[1]


def _shifted_weekday(scan: Scan, i: int, weekday: int, shift: int, sliding: bool) -> Found | None:
    words, frame = scan.words, scan.frame
    beside = dates.weekday(scan, i)
    if beside is not None and beside[1] > i + 1 and isinstance(beside[0], Cycle):
        if beside[0].every == "year":
            fixed = beside[0].at(frame.now.year)
            return (fixed, beside[1]) if fixed else None
        return beside
    if beside is not None and isinstance(beside[0], Span):
        return beside
    if sliding and shift:
        day = frame.today
        gap = (weekday - day.weekday()) % 7 or 7 if shift > 0 else -((day.weekday() - weekday) % 7 or 7)
        return calendar.day(add_days(day, gap)), i + 1
    day = add_days(calendar.week_start(frame.today), 7 * shift + weekday)
    span = calendar.day(day)
    if shift and abs((day - frame.today).days) > 7:
        span = span.doubted(0.85)
    if words[i + 1] == "week" and shift == 0:
        return None
    return span, i + 1


def _shifted_unit(scan: Scan, unit: str, i: int, shift: int, lead: str) -> Found | None:
    words, frame = scan.words, scan.frame
    if unit in calendar.SECONDS_IN:
        return (Length(((1, unit),)).rolling(frame, shift), i) if shift else None
    if lead in ("that", "same"):
        if unit == "day":
            return None
        found = calendar.unit(unit, frame.now)
        return (found.doubted(0.35), i) if found else None
    if unit == "working_day":
        return Length(((1, unit),)).rolling(frame, shift), i
    if lead == "past" and unit == "weekend":
        shift, lead = -1, "last"
    if lead == "past":
        return Length(((1, unit),)).rolling(frame, -1), i
    span = calendar.unit(unit, frame.now, shift)
    if span is None or (unit == "week" and words[i] == "end"):
        return None
    inside = _inside(scan, span, i)
    return inside or (span, i)


def _inside(scan: Scan, span: Span, i: int) -> Found | None:
    """What follows a period and narrows it: "next week on Tuesday", "last year's first quarter"."""
    words = scan.words
    owned = words[i - 1].endswith("'s")
    if span.grain == "week":
        j = scan.skip(scan.skip(i, "on"), ",")
        weekday = dates.weekday_name(scan, j)
        if weekday is not None:
            day = dates.in_week(span, weekday)
            return (day, j + 1) if day else None
    if owned:
        piece = _piece(scan, i)
        if piece is not None:
            inner = each(span, piece[0])
            return (inner, piece[1]) if inner is not None else None
    if span.grain == "year" and span.start:
        j = i if owned else scan.skip(scan.skip(i, "in", "on", ","), "the")
        if not owned and j == i:
            return None
        found = holiday(scan, j) or dates.named(scan, j) or _season(scan, j)
        if found is not None and isinstance(found[0], Cycle):
            inside = found[0].at(span.start.year)
            return (inside, found[1]) if inside else None
    if span.grain == "month" and span.start:
        dom = dates.day_of_month(scan, scan.skip(i, "on"))
        if dom is not None and isinstance(dom[0], Cycle) and words[i] in ("on", "the"):
            day = dom[0].at(span.start.year * 12 + span.start.month - 1)
            return (day, dom[1]) if day else None
    return None


def _shifted_name(scan: Scan, i: int, shift: int, lead: str) -> Found | None:
    """ "last March", "next summer", "this Christmas", "next 5/12": a yearly name in a year near this one."""
    words, frame = scan.words, scan.frame
    year = frame.now.year
    if lead in ("that", "same"):
        return None
    found = holiday(scan, i)
    if found is not None and isinstance(found[0], Cycle):
        if shift == 0:
            span = found[0].at(year)
        else:
            span = settle(found[0], frame, 1 if shift > 0 else -1)
            if span and span.start and shift > 0 and span.start <= frame.today:
                span = found[0].at(year + 1)
            span = replace(span, sure=0.9, ambiguous=False) if span else None
        return (span, found[1]) if span else None
    if words[i] in SEASON_WORDS:
        name = SEASON_WORDS[words[i]]
        cycle = yearly(lambda number: calendar.season(number, name), "season")
        if shift == 0:
            span = next((s for s in cycle.ahead(frame.now) if s.end and s.end > frame.now), None)
        elif shift > 0:
            span = next((s for s in cycle.ahead(frame.now) if s.start and s.start > frame.now), None)
        else:
            span = next((s for s in cycle.back(frame.now) if s.end and s.end <= frame.now), None)
        return (span, i + 1) if span else None
    found = dates.numeric(scan, i) or (dates.named(scan, i) if words[i] in MONTHS or words[i].isdecimal() else None)
    if found is None or not isinstance(found[0], Cycle) or found[0].every != "year":
        if found is not None and words[i] in MONTHS:
            return found
        return None
    span = found[0].at(year + shift)
    if span is None or span.start is None:
        return None
    turned = span.start.month < frame.now.month if shift < 0 else span.start.month > frame.now.month
    if shift and turned:
        span = span.doubted(0.65)
    return span, found[1]


@packrat
def _piece(scan: Scan, i: int) -> tuple[Callable[[Span], Span | None], int] | None:
    """A piece of the period named next: "first week", "last 3 weeks", "second half", "3rd Monday", "9th month"."""
    words = scan.words
    j = scan.skip(i, "the")
    if words[j] in ("last", "final"):
        number, j = -1, j + 1
    else:
        which = ordinal(scan, j)
        if which is None:
            return None
        number, j = which
    if words[j] == "full":
        j += 1
    weekday = dates.weekday_name(scan, j)
    if weekday is not None:
        timed = hours(scan, j + 1)
        if timed is not None and words[timed[1]] in ("of", "in"):
            value = timed[0]
            return (lambda span: value.on(found) if (found := nth_weekday(span, weekday, number)) else None), timed[1]
        return (lambda span: nth_weekday(span, weekday, number)), j + 1
    if words[j] in ("of", "in") and number > 0 and words[j + 1] in (*SHIFTS, "the") and "month" in (words[j + 2], words[j + 3]):
        return (lambda span: nth(span, "day", number) if span.grain == "month" else None), j
    if words[j] == "half":
        which_half = 2 if number in (2, -1) else 1
        return (lambda span: _half_of(span, which_half)), j + 1
    many = amount(scan, j) if words[j] in NUMBERS or words[j].isdecimal() or words[j] in ("few", "couple") else None
    count = int(many[0]) if many else 1
    unit = unit_word(scan, many[1] if many else j)
    if unit is None or words[j] == "second":
        return None
    kind = unit[0]
    return (lambda span: nth(span, kind, number, count)), unit[1]


def _half_of(span: Span, which: int) -> Span | None:
    if span.start is None or span.end is None:
        return None
    if span.grain == "year":
        return calendar.half(span.start.year, which)
    if span.grain == "month":
        cut = add_days(span.start, 15)
    elif span.grain in ("decade", "century"):
        cut = add_months(span.start, 60 if span.grain == "decade" else 600)
    else:
        cut = midnight(span.start + (span.end - span.start) / 2)
    return replace(span, start=span.start if which == 1 else cut, end=cut if which == 1 else span.end, instant=False)


def _whole(scan: Scan, i: int) -> Found | None:
    """The period a piece is cut from: any simple one, or the current "the month"."""
    found = simple(scan, i)
    if found is not None:
        return found
    words = scan.words
    j = scan.skip(i, "the")
    if j > i and dates.weekday_name(scan, j) is not None:
        return weekday(scan, j)
    if j > i and UNITS.get(words[j]) in ("day", "week", "month", "quarter", "year", "decade", "century", "weekend"):
        span = calendar.unit(UNITS[words[j]], scan.frame.now)
        return (span, j + 1) if span else None
    return None


def _mine(scan: Scan, i: int) -> Found | None:
    """ "my day", "your week"."""
    unit = UNITS.get(scan.words[i + 1])
    if scan.words[i] not in ("my", "your", "our", "his", "her", "their") or unit is None:
        return None
    span = calendar.unit(unit, scan.frame.now)
    return (span, i + 2) if span else None


@packrat
def pieces(scan: Scan, i: int) -> Found | None:
    """A piece of a period: "the last week of July", "first ten days of last year", "thirty-first day of the month"."""
    words = scan.words
    piece = _piece(scan, i)
    if piece is None:
        return None
    cut, j = piece
    k = scan.skip(j, "of", "in")
    whole = _whole(scan, k) if k > j or words[j].isdecimal() else None
    if whole is None and words[j - 1] in ("quarter", "half"):
        if words[i] in ("last", "the") and words[j - 1] == "quarter" and words[j - 2] in ("last", "final"):
            return None
        if words[j - 1] == "half" and words[j - 2] not in ORDINALS:
            return None
        return yearly(lambda number: _of(cut, calendar.year(number)), "quarter", 0.75), j
    if whole is None:
        return None
    if words[j - 1] == "quarter" and isinstance(whole[0], Span) and words[whole[1] - 2] == "the":
        return yearly(lambda number: _of(cut, calendar.year(number)), "quarter", 0.85), whole[1]
    sample = settle(whole[0], scan.frame, -1)
    inner = _of(cut, sample)
    if inner is None:
        return None
    found = each(whole[0], cut, inner.grain)
    return (found, whole[1]) if found is not None else None


def _of(cut: Callable[[Span], Span | None], span: Span | None) -> Span | None:
    return cut(span) if span is not None else None


@packrat
def shares(scan: Scan, i: int) -> Found | None:
    """ "mid-November", "early this year", "end of the month", "later this week", "the rest of the day"."""
    words, frame = scan.words, scan.frame
    j = scan.skip(i, "the")
    word = words[j]
    if word in ("rest", "remainder", "remaining") and words[j + 1] in ("of", "in"):
        whole = _whole(scan, j + 2) or _mine(scan, j + 2)
        span = settle(whole[0], frame, 1) if whole else None
        if whole is None or span is None or span.start is None:
            return None
        return replace(span, start=max(span.start, frame.today), instant=False), whole[1]
    if word == "back" and words[j + 1] == "end":
        j += 1
    which = _SHARE_WORDS.get(words[j])
    if which is None:
        return None
    k = scan.skip(scan.skip(j + 1, "-"), "of", "in", "on")
    if which in ("beginning", "middle", "end") and words[k - 1] != "of":
        return None
    whole = _whole(scan, k)
    if whole is None and words[k] in ("day", "week", "month", "quarter", "year"):
        if k == j + 1:
            return None
        current = calendar.unit(words[k], frame.now)
        whole = (current, k + 1) if current else None
    if whole is None:
        return None
    reading, stop = whole
    day_part = part_of_day(scan, stop)
    if reading.grain == "day" and day_part is not None and day_part[0] != "first_half":
        hours_of = part(day_part[0])
        within_day = each(reading, hours_of.on, "part_of_day")
        if within_day is not None:
            whole = within_day, day_part[2]

    def cut(span: Span) -> Span | None:
        found = share(span, which)
        if found is None or found.start is None or found.end is None:
            return found
        border = frame.now if span.grain == "day" else frame.today
        if word == "later" and found.start < border < found.end:
            return replace(found, start=border)
        if word == "earlier" and span.grain == "day" and span.start and span.start < frame.now < (span.end or frame.now):
            return replace(found, end=frame.now)
        return found

    found = each(whole[0], cut)
    return (found, whole[1]) if found is not None else None


@packrat
def quarter(scan: Scan, i: int) -> Found | None:
    """ "Q1", "Q2 2026", "2017 q1", "2019-H2", "q1-2019"."""
    words = scan.words
    word = words[i]
    if word in ("q", "h"):
        digit = words[i + 1]
        limit = "1234" if word == "q" else "12"
        if len(digit) != 1 or digit not in limit or not scan.tight(i + 1) or (scan.tight(i) and scan.before(i) not in "('\"/"):
            return None
        rule = calendar.quarter if word == "q" else calendar.half
        number = int(digit)
        j = i + 2
        k = j + 1 if words[j] in ("-", "/", ",", "of", "in", "'") else j
        year = year_number(scan, j) or year_number(scan, k)
        if year is None and words[k].isdecimal() and len(words[k]) == 2 and words[j] in ("'", "fy"):
            year = full_year(int(words[k])), k + 1
        if year is None:
            shift = SHIFTS.get(words[k])
            if shift is not None and words[k + 1] == "year":
                year = scan.frame.now.year + shift, k + 2
        if year is not None:
            span = rule(year[0], number)
            return (span, year[1]) if span else None
        if scan.tight(j) and words[j].isalnum():
            return None
        grain: Grain = "quarter" if word == "q" else "half_year"
        if word == "h" and scan.before(i) not in ("in", "of", "during", "for", "since", "by"):
            return None
        return yearly(lambda number_of_year: rule(number_of_year, number), grain, 0.85), j
    if word.isdecimal() and len(word) == 4 and plain(scan, i):
        j = scan.skip(i + 1, "-", "/")
        if words[j] in ("q", "h") and scan.tight(j + 1):
            rule = calendar.quarter if words[j] == "q" else calendar.half
            if words[j + 1] in ("1", "2", "3", "4"):
                span = rule(int(word), int(words[j + 1]))
                return (span, j + 2) if span else None
    return None


@packrat
def _season(scan: Scan, i: int) -> Found | None:
    """ "summer 2019", "the fall of 2020", "in winter"; "spring" and "fall" need a word that makes them one."""
    words = scan.words
    name = SEASON_WORDS.get(words[i])
    if name is None:
        return None
    j = i + 1
    k = scan.skip(j, "of", "in", ",")
    year = year_number(scan, k)
    if year is not None:
        span = calendar.season(year[0], name)
        return (span, year[1]) if span else None
    shift = SHIFTS.get(words[k])
    if shift is not None and words[k + 1] == "year":
        span = calendar.season(scan.frame.now.year + shift, name)
        return (span, k + 2) if span else None
    last = scan.before(i)
    led = last in ("in", "during", "since", "until", "by", "over", "throughout", "early", "late", "mid", "of", "whole", "-")
    if last == "the":
        led = scan.before(i - 1) in ("in", "during", "since", "until", "by", "over", "throughout", "of", "before", "after")
    if not led or words[j] in ("in", "apart", "off", "down", "back", "roll", "break") or words[j] in UNITS:
        return None
    return yearly(lambda number: calendar.season(number, name), "season", 0.8), j


@packrat
def decade(scan: Scan, i: int) -> Found | None:
    """ "1990s", "the 90s", "the '80s", "the nineties", "15th century"."""
    words = scan.words
    j = scan.skip(i, "the")
    the = j > i
    word = words[j]
    if word in "'’" and word:
        j, the = j + 1, True
        word = words[j]
    if word.isdecimal() and plain(scan, j):
        if words[j + 1] in ("s", "'s"):
            number = int(word) if len(word) in (2, 4) else -1
            if len(word) == 4 and number % 10 == 0 and 1000 <= number <= 2990:
                span = calendar.century(number) if number % 100 == 0 and number < 2000 else calendar.decade(number)
                return (span, j + 2) if span else None
            the = the or scan.before(i) in ("early", "late", "mid", "-")
            if len(word) == 2 and number % 10 == 0 and the and scan.before(i) not in ("his", "her", "my", "their", "your", "our"):
                span = calendar.decade(number + (2000 if number <= 20 else 1900))
                return (span, j + 2) if span else None
    elif word in NUMBERS and words[j + 1] in _DECADES and 15 <= NUMBERS[word] <= 20:
        span = calendar.decade(NUMBERS[word] * 100 + _DECADES[words[j + 1]])
        return (span, j + 2) if span else None
    elif word in _DECADES and (the or scan.before(i) in ("early", "late", "mid", "-")):
        short = _DECADES[word]
        span = calendar.decade(short + (2000 if short <= 20 else 1900))
        return (span, j + 1) if span else None
    nth_century = ordinal(scan, j)
    if nth_century is not None:
        k = scan.skip(nth_century[1], "-")
        if words[k] in ("century", "centuries") and 1 <= nth_century[0] <= 30:
            first_year = (nth_century[0] - 1) * 100
            span = calendar.century(first_year) if first_year else calendar.months(1, 1, 99 * 12, "century")
            return (span, k + 1) if span else None
    return None


@packrat
def week(scan: Scan, i: int) -> Found | None:
    """ "week 10", "week 3 of 2027", "w/c Feb 4", "the week of May 5", "the week after next"."""
    words, frame = scan.words, scan.frame
    j = scan.skip(i, "the")
    word = words[j]
    if word == "w" and words[j + 1] == "/" and words[j + 2] in ("c", "b", "o"):
        return _week_of(scan, j + 3)
    if word == "weekend":
        return _weekend(scan, j)
    unit = UNITS.get(word)
    if unit not in ("week", "month", "year", "quarter", "decade", "fortnight") or word.endswith("s"):
        return None
    after = words[j + 1]
    if after in ("after", "before"):
        sign = 1 if after == "after" else -1
        if words[j + 2] in ("next", "last") and words[j + 3] not in UNITS and words[j + 3] not in WEEKDAYS:
            if (words[j + 2] == "next") == (sign > 0):
                span = calendar.unit(unit, frame.now, 2 * sign)
                return (span, j + 3) if span else None
        return _neighbour(scan, j + 2, unit, sign) if j > i else None
    if unit == "week":
        if after in ("of", "commencing", "starting", "beginning"):
            k = scan.skip(j + 2, "on", "the")
            found = _week_of(scan, k)
            if found is not None:
                return found
        number = words[j + 1]
        if number.isdecimal() and len(number) <= 2 and 1 <= int(number) <= 53 and plain(scan, j + 1):
            k = scan.skip(j + 2, "of", "in", ",")
            year = year_number(scan, k)
            span = calendar.iso_week(year[0] if year else frame.now.isocalendar().year, int(number))
            return (span, year[1] if year else j + 2) if span else None
    if after == "to" and words[j + 2] == "date" and unit in ("week", "month", "year", "quarter"):
        span = calendar.unit(unit, frame.now)
        return (replace(span, end=frame.today, through=frame.now), j + 3) if span else None
    last = scan.before(i)
    if j > i and after in _CLAUSE_END and last in ("in", "of", "for", "this", "off", "unavailable") and scan.before(i - 1) not in (
        "end", "rest", "most", "part", "time", "times", "start", "beginning", "middle", "day", "days", "week", "twice",
    ):  # fmt: skip
        span = calendar.unit(unit, frame.now)
        return (span.doubted(0.7), j + 1) if span else None
    return None


def _week_of(scan: Scan, i: int) -> Found | None:
    found = simple(scan, i)
    if found is None or found[0].grain != "day":
        return None
    reading = each(found[0], lambda span: calendar.unit("week", span.start) if span.start else None, "week")
    return (reading, found[1]) if reading is not None else None


def _weekend(scan: Scan, i: int) -> Found | None:
    """The weekend: this week's, unless the sentence looks back on one."""
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


@packrat
def holidays(scan: Scan, i: int) -> Found | None:
    """A holiday with its year or the weekend about it; a greeting is none."""
    words = scan.words
    if scan.before(i) in ("happy", "merry", "blessed"):
        return None
    j = scan.skip(i, "the")
    found = holiday(scan, j)
    if found is None:
        return None
    reading, j = found
    weekend = words[j] == "weekend"
    k = j + 1 if weekend else j
    reading_now: Reading | None = reading
    k2 = scan.skip(scan.skip(k, "of", "in", ","), "the")
    year = year_number(scan, k2)
    shift = SHIFTS.get(words[k2])
    if year is None and shift is not None and words[k2 + 1] == "year":
        year = scan.frame.now.year + shift, k2 + 2
    if year is not None and isinstance(reading, Cycle):
        reading_now, k = reading.at(year[0]), year[1]
        if not weekend and words[k] == "weekend":
            weekend, k = True, k + 1
    if reading_now is not None and weekend:
        reading_now = each(reading_now, weekend_about, "weekend")
    return (reading_now, k) if reading_now is not None else None


@packrat
def weekday(scan: Scan, i: int) -> Found | None:
    """A weekday and the week it is in, when that is said after it: "Tuesday of last week"."""
    found = dates.weekday(scan, i)
    if found is None:
        return None
    number = dates.weekday_name(scan, i)
    if found[1] == i + 1 and number is not None:
        week_found = _following_week(scan, i + 1)
        if week_found is not None:
            day = dates.in_week(week_found[0], number)
            return (day, week_found[1]) if day else None
    return found


def _following_week(scan: Scan, i: int) -> tuple[Span, int] | None:
    words = scan.words
    j = scan.skip(scan.skip(i, ","), "of", "in")
    j = scan.skip(j, "the")
    shift = SHIFTS.get(words[j])
    if shift is None or words[j + 1] not in ("week", "week's"):
        if words[j] == "week" and words[j + 1] in ("after", "before") and words[j + 2] in ("next", "last"):
            span = calendar.unit("week", scan.frame.now, 2 if words[j + 2] == "next" else -2)
            return (span, j + 3) if span else None
        return None
    span = calendar.unit("week", scan.frame.now, shift)
    return (span, j + 2) if span else None


@packrat
def to_date(scan: Scan, i: int) -> Found | None:
    """ "to date", "ytd", "so far this year"."""
    words, frame = scan.words, scan.frame
    if words[i] in ("ytd", "mtd"):
        span = calendar.unit("year" if words[i] == "ytd" else "month", frame.now)
        return (replace(span, end=frame.today, through=frame.now), i + 1) if span else None
    if words[i] == "to" and words[i + 1] == "date" and scan.before(i) not in ("up", "how", "want", "like", "started"):
        return Span(None, frame.today, "day", through=frame.now), i + 2
    if words[i] == "so" and words[i + 1] == "far" and words[i + 2] == "this" and words[i + 3] in UNITS:
        span = calendar.unit(UNITS[words[i + 3]], frame.now)
        return (replace(span, end=frame.now), i + 4) if span else None
    return None


@packrat
def present(scan: Scan, i: int) -> Found | None:
    """ "now", "right now", "at the moment", "lately"."""
    words, frame = scan.words, scan.frame
    word = words[i]
    instant = Span(frame.now, frame.now + timedelta(seconds=1), "second", instant=True)
    if word in ("right", "just") and words[i + 1] == "now":
        return instant, i + 2
    if word == "now":
        idle = (words[i + 1] in ("and", "that") and words[i + 2] in ("then", "again", "")) or words[i + 1] == "that"
        return None if idle or (scan.before(i) in ("until", "by", "know") and words[i + 1] == "and") else (instant, i + 1)
    if word == "at":
        if words[i + 1] == "present" or (words[i + 1] == "the" and words[i + 2] == "moment"):
            return instant, i + 2 if words[i + 1] == "present" else i + 3
        if words[i + 1] == "this" and words[i + 2] in ("time", "moment", "point"):
            return instant, i + 3
    if word in ("currently", "presently", "asap"):
        return instant, i + 1
    if word in ("current", "present") and words[i + 1] == "date":
        return calendar.day(frame.today), i + 2
    if word in ("lately", "recently") or (word in ("these", "past") and words[i + 1] == "days" and word == "these"):
        recent = Span(add_days(frame.today, -30), frame.now, "month", sure=0.4, ambiguous=True)
        return recent, i + (2 if word == "these" else 1)
    return None


_ALL: tuple[Rule, ...] = (
    day_word, shifted, shares, pieces, week, dates.numeric, dates.named, quarter, decade, counted, weekday, holidays,
    _season, dates.day_of_month, dates.year, to_date, present,
)  # fmt: skip
_NUMBER_RULES: tuple[Rule, ...] = (
    dates.numeric, dates.named, quarter, decade, pieces, counted, holidays, dates.day_of_month, dates.year,
)  # fmt: skip
_THE_RULES: tuple[Rule, ...] = (
    day_word, shifted, shares, pieces, week, dates.named, decade, counted, holidays, dates.day_of_month, dates.year,
)  # fmt: skip


def _table() -> dict[str, tuple[Rule, ...]]:
    """Which rules a word can open; a word that opens none is passed over at once."""
    table: dict[str, list[Rule]] = {}

    def add(words: object, *rules: Rule) -> None:
        for word in words:  # type: ignore[attr-defined]
            mine = table.setdefault(word, [])
            mine.extend(rule for rule in rules if rule not in mine)

    add([*_DAYS, *(f"{word}'s" for word in _DAYS), "tonight", "tonite", "tonight's", "eod", "day"], day_word)
    add(SHIFTS, shifted)
    add([*_SHARE_WORDS, "rest", "remainder", "remaining", "back"], shares)
    add([*ORDINALS, "last", "final", *NUMBERS], pieces, dates.named)
    add([*ORDINALS, *NUMBERS], decade, dates.day_of_month, dates.named, dates.year)
    add([*NUMBERS, "few", "couple"], counted)
    add(["week", "weekend", "w", "month", "year", "quarter"], week)
    add(MONTHS, dates.named)
    add(["q", "h"], quarter)
    add([*_DECADES, "'", "’"], decade)
    add(["'", "’", "year", "cy"], dates.year)
    add(WEEKDAYS, weekday)
    add(HOLIDAY_WORDS, holidays)
    add(SEASON_WORDS, _season)
    add(["to", "ytd", "mtd", "so"], to_date)
    add(["now", "right", "just", "at", "currently", "presently", "asap", "current", "present", "lately", "recently",
         "these"], present)  # fmt: skip
    add(["the"], *_THE_RULES)
    return {word: tuple(rules) for word, rules in table.items()}


_BY_WORD = _table()
WORDS = frozenset(_BY_WORD) - {"the", "to", "so", "right", "just", "at", "'", "’", "w", "back", "same"}


@packrat
def simple(scan: Scan, i: int) -> Found | None:
    """The longest period at word `i`, times of day apart."""
    word = scan.words[i]
    rules = _BY_WORD.get(word)
    if rules is None:
        if word.isdecimal() and word.isascii():
            rules = _NUMBER_RULES
        elif "'" in word and bare(word) in HOLIDAY_WORDS:
            rules = (holidays,)
        else:
            return None
    best: Found | None = None
    for rule in rules:
        found = rule(scan, i)
        if found is not None and (best is None or found[1] > best[1]):
            best = found
    return best


__all__ = ["WORDS", "integer", "simple", "weekly"]
