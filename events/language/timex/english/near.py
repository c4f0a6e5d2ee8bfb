"""English expressions relative to the present: today, the weekend, week 10, the day after Christmas."""

from dataclasses import replace
from datetime import timedelta

from .. import calendar
from ..calendar import Span, add_days
from ..clock import part
from ..cycles import each, monthly
from ..scan import Found, Scan, given, listed, phrases_of
from ..shares import nth, share, weekend_about
from .numbers import ordinal, plain, told_year
from .simple import opens, simple
from .words import UNITS, WEEKDAYS

_DAYS = phrases_of("days", int)
_NIGHTS = phrases_of("nights", int)
_SIGNS = {"before": -1, "after": 1}
_ENDING = {"eod": "day", "eow": "week", "eom": "month", "eoy": "year"}
_PRESENT = phrases_of("present", str)
_TO_DATE = phrases_of("to_date", str)
# "the end of the week" and "twice in the week" are not about this week.
_SHARES_OF = listed("end rest most part time times start beginning middle day days week twice")
_PARTS_OF_DAY = listed("end rest most all part time start beginning middle")
_AFTER_DATE = listed("and but so i we he she they it is are was has have the this in for of with on at") | {
    "", ".", ",", "!", "?", ";", ":", ")", "-",
}  # fmt: skip
_CLAUSE_END = listed(". , ! ? ; : ) and but so or - with because") | {""}


@opens(_DAYS.firsts, _NIGHTS.firsts, _ENDING, "the")
def day_word(scan: Scan, i: int) -> Found | None:
    """Parses today, tomorrow, tonight, "the day before yesterday", "the other day", "the day before Easter"."""
    words, frame = scan.words, scan.frame
    named = _DAYS.at(scan, i)
    if named is not None:
        j = scan.skip(named[1], "'s")
        later = words[j] == "week" and named[0] in (0, 1) and words[j + 1] in _CLAUSE_END  # "tomorrow week"
        return calendar.day(add_days(frame.today, named[0] + 7 * later)), j + later
    night = _NIGHTS.at(scan, i)
    if night is not None:
        return given(part("night").on(calendar.day(add_days(frame.today, night[0]))), night[1])
    if words[i] in _ENDING:
        return _closing(scan, i)
    j = scan.skip(i, "the")
    if j > i and words[j] == "other" and words[j + 1] == "day":
        return Span(add_days(frame.today, -7), frame.today, "week", sure=0.4, ambiguous=True), j + 2
    if words[j] != "day":
        return None
    side = words[j + 1]
    if side in ("before", "after"):
        sign = _SIGNS[side]
        if j > i and words[j + 2] in _CLAUSE_END and words[j + 2] not in ("-", "and"):
            return replace(calendar.day(add_days(frame.today, sign)), sure=0.5, ambiguous=True), j + 2
        return _neighbour(scan, j + 2, "day", sign) if words[j + 2] not in ("that", "this") else None
    alone = j > i and side in _CLAUSE_END and scan.before(i) in ("for", "of")
    whole = alone and scan.before(i - 1) not in _PARTS_OF_DAY
    return (replace(calendar.day(frame.today), sure=0.6), j + 1) if whole else None


def _closing(scan: Scan, i: int) -> Found | None:
    """Parses "EOD", "eod tomorrow", "EOW"."""
    word = scan.words[i]
    dated = simple(scan, scan.skip(i + 1, "on", "of")) if word == "eod" else None
    if dated is not None and dated[0].grain == "day":
        return given(each(dated[0], lambda day: share(day, "end"), "second"), dated[1])
    whole = calendar.unit(_ENDING[word], scan.frame.now)
    return given(share(whole, "end") if whole else None, i + 1)


def _neighbour(scan: Scan, i: int, unit: str, sign: int) -> Found | None:
    """Parses the anchor of "the day after Christmas", "the week before Easter", "the month after May"."""
    found = simple(scan, scan.skip(i, "the"))
    if found is None:
        return None

    def beside(span: Span) -> Span | None:
        other = calendar.unit(unit, span.begins if sign < 0 else add_days(span.ends, -1), sign)
        return replace(other, sure=span.sure, ambiguous=span.ambiguous) if other else None

    return given(each(found[0], beside, "day" if unit == "day" else None), found[1])


@opens("the", "week", "wk", "weekend", "w", "month", "year", "quarter")
def week(scan: Scan, i: int) -> Found | None:
    """Parses "week 10", "week 3 of 2027", "w/c Feb 4", "the week of May 5", "the week after next"."""
    words, now = scan.words, scan.frame.now
    j = scan.skip(i, "the")
    word, after = words[j], words[j + 1]
    if word == "w" and after == "/" and words[j + 2] in ("c", "b", "o"):
        return _week_of(scan, j + 3)
    unit = UNITS.get(word)
    if unit not in ("week", "month", "year", "quarter", "decade", "fortnight", "weekend") or word.endswith(
        "s"
    ):
        return None
    if after in ("after", "before"):
        sign = _SIGNS[after]
        if words[j + 2] == ("next" if sign > 0 else "last") and words[j + 3] not in {*UNITS, *WEEKDAYS}:
            return given(calendar.unit(unit, now, 2 * sign), j + 3)
        if j > i and words[j + 2] in _CLAUSE_END and unit != "weekend":
            span = calendar.unit(unit, now, sign)
            return given(span.doubted(0.5) if span else None, j + 2)
        if unit != "weekend":
            return _neighbour(scan, j + 2, unit, sign) if j > i else None
    if unit == "weekend":
        return _weekend(scan, j)
    if unit == "week":
        dated = after in ("of", "commencing", "starting", "beginning", "ending")
        found = _week_of(scan, scan.skip(j + 2, "on", "from")) if dated else None
        if found is not None:
            return found
        number = scan.digits(j + 1, 2)
        if number is not None and 1 <= number <= 53 and plain(scan, j + 1):
            return _numbered_week(scan, j + 2, number)
    led = j > i and scan.before(i) in ("in", "of", "for", "this", "off", "unavailable")
    alone = led and after in _CLAUSE_END and scan.before(i - 1) not in _SHARES_OF
    span = calendar.unit(unit, now) if alone else None
    return given(span.doubted(0.7) if span else None, j + 1)


def _numbered_week(scan: Scan, i: int, number: int) -> Found | None:
    inside = simple(scan, i + 1) if scan.words[i] in ("of", "in") else None
    if inside is not None and inside[0].grain == "month":
        return given(each(inside[0], lambda span: nth(span, "week", number), "week"), inside[1])
    this_year = scan.frame.now.isocalendar().year
    year, stop = told_year(scan, scan.skip(i, "of", "in", ",")) or (this_year, i)
    return given(calendar.iso_week(year, number), stop)


def _week_of(scan: Scan, i: int) -> Found | None:
    j = scan.skip(i, "the")
    found = simple(scan, j)
    if found is None or found[0].grain != "day":
        dom = ordinal(scan, j) if j > i else None
        if dom is None or not 1 <= dom[0] <= 31:
            return None
        found = monthly(dom[0], sure=0.75), dom[1]
    return given(each(found[0], calendar.week_of, "week"), found[1])


def _weekend(scan: Scan, i: int) -> Found | None:
    if scan.words[i + 1] in ("of", "before", "after"):
        found = simple(scan, i + 2)
        if found is not None and found[0].grain == "day":
            return given(each(found[0], weekend_about, "weekend"), found[1])
    return given(scan.weekend(i), i + 1)


@opens(_TO_DATE.firsts, "so")
def to_date(scan: Scan, i: int) -> Found | None:
    """Parses "to date", "ytd", "so far this year"."""
    words, frame = scan.words, scan.frame
    if words[i] == "so":
        unit = UNITS.get(words[i + 3]) if words[i + 1 : i + 3] == ["far", "this"] else None
        span = calendar.unit(unit, frame.now) if unit else None
        return (replace(span, end=frame.now), i + 4) if span else None
    found = _TO_DATE.at(scan, i)
    if found is None:
        return None
    if not found[0]:
        busy = scan.before(i) in ("up", "how", "want", "like", "started") or words[i + 2] not in _AFTER_DATE
        return None if busy else (Span(None, frame.today, "day", through=frame.now), i + 2)
    span = calendar.unit(found[0], frame.now)
    return (replace(span, end=frame.today, through=frame.now), found[1]) if span else None


@opens(_PRESENT.firsts)
def present(scan: Scan, i: int) -> Found | None:
    """Parses "now", "right now", "at the moment", "lately"."""
    words, now = scan.words, scan.frame.now
    found = _PRESENT.at(scan, i)
    if found is None:
        return None
    kind, j = found
    if kind == "lately":
        return Span(add_days(scan.frame.today, -30), now, "month", sure=0.4, ambiguous=True), j
    if words[i] == "now":
        idle = words[j] == "that" or (words[j] == "and" and words[j + 1] in ("then", "again", ""))
        if idle or (scan.before(i) in ("until", "by", "know") and words[j] == "and"):
            return None
    return Span(now, now + timedelta(seconds=1), "second", instant=True), j
