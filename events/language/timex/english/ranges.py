"""English ranges and bounds: from X to Y, since X, before X."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from .. import calendar
from ..calendar import WITHIN_DAY, Span
from ..cycles import Cycle, Reading, after, before, monthly, nearest, since
from ..scan import Scan, given, listed, packrat
from .moments import moment
from .near import present
from .numbers import length, ordinal, plain, year_number
from .simple import Found, simple
from .words import UNITS, WEEKDAYS

_TO = frozenset({"to", "till", "til", "until", "through", "thru", "-", "–", "—", "~"})
# "what are you up to now" is not a bound.
_BUSY = listed("been be being you are is was were you're they're we're he's she's get getting i'm been")
_COMPARED = {"newer": "after", "greater": "after", "higher": "after", "more": "after", "bigger": "after",
             "older": "before", "less": "before", "lower": "before", "smaller": "before"}  # fmt: skip
_JOINS = listed("and or but with in on at by for from")
_BOUNDING = frozenset({"from", "between", "since", "before", "after", "by", "until", "till"})


@packrat
def _bound(scan: Scan, i: int) -> Found | None:
    """Parses one side of a range."""
    j = scan.skip(i, "in", "on", "at") if scan.words[i] in ("in", "on") else i
    found = present(scan, i) or moment(scan, j) or _bare_day(scan, j) or (moment(scan, i) if j != i else None)
    if found is not None:
        return found
    year = scan.digits(i)
    if year is not None and len(scan.words[i]) == 4 and 1900 <= year <= 2150:
        return given(calendar.year(year), i + 1)
    return None


def _bare_day(scan: Scan, i: int) -> Found | None:
    """Parses a number that is a day only because of the other side of a range: "from the ninth", "19-20"."""
    words = scan.words
    j = scan.skip(i, "the")
    dom = ordinal(scan, j)
    if dom is None and words[j].isdecimal() and len(words[j]) <= 2:
        dom = int(words[j]), j + 1
    if dom is None or not 1 <= dom[0] <= 31:
        return None
    return monthly(dom[0], sure=0.6, bare=True), dom[1]


@packrat
def span_of(scan: Scan, i: int) -> tuple[Span, int] | None:
    """Parses a range, a bound or a moment. Returns the widest reading at word `i`, with absolute dates."""
    words = scan.words
    opener = words[i] if words[i] in ("from", "between", "since") else ""
    j = i + 1 if opener else i
    if opener == "between" and words[j] == "from":
        j += 1
    first = _bound(scan, j) if opener else moment(scan, j) or _bare_first(scan, j)
    best: tuple[Span, int] | None = None
    if first is not None:
        joined = _joined(scan, first, j, opener)
        if joined is not None:
            best = joined
    whole = moment(scan, i) if words[i] in _BOUNDING else None
    if whole is not None and (best is None or whole[1] >= best[1]):
        span = scan.settle(whole[0], i)
        best = (span, whole[1]) if span else best
    if best is None and opener == "between":
        return None
    bounded = _bounded(scan, i)
    if bounded is not None and (best is None or bounded[1] > best[1]):
        best = bounded
    if best is None and first is not None and opener != "since" and not _is_bare(first):
        span = scan.settle(first[0], i)
        if span is None:
            return None
        lasting = _for_length(scan, first, span)
        return _or_later(scan, lasting or (span, first[1]))
    return best


def _is_bare(found: Found) -> bool:
    return isinstance(found[0], Cycle) and found[0].bare


def _bare_first(scan: Scan, i: int) -> Found | None:
    """Parses a number that may begin a range: "9 to 12 of June"."""
    words = scan.words
    if not words[i][:1].isdecimal() or not plain(scan, i):
        return None
    found = _bare_day(scan, i)
    return found if found is not None and words[found[1]] in _TO else None


def _joined(scan: Scan, first: Found, i: int, opener: str) -> tuple[Span, int] | None:
    words = scan.words
    reading, j = first
    to = words[j]
    if to == "," and words[j + 1] in _TO:
        j, to = j + 1, words[j + 1]
    if to not in _TO and not (opener == "between" and to == "and"):
        return None
    if to == "-" and scan.tight(j) != scan.tight(j + 1):
        return None
    k = j + 1
    bare_first = _is_bare(first)
    last = _bound(scan, k)
    if last is None:
        return None
    if opener == "since" and to not in ("to", "till", "until", "through", "thru"):
        return None
    target = last[0]
    if (
        isinstance(reading, Cycle)
        and isinstance(target, Cycle)
        and reading.every == "month"
        and target.every == "year"
    ):
        shared = _same_month(reading, target)
        if shared is not None:
            reading = shared
        elif bare_first:
            return None
    elif bare_first and _is_bare(last):
        return _in_month(scan, reading, target, last[1])
    elif bare_first and not (isinstance(target, Span) and target.grain == "day"):
        return None
    if _is_bare(last):
        tail = words[last[1]]
        if reading.grain not in ("day",) or (
            tail.isalpha() and tail not in ("at", "in", "on", "and", "for", "or")
        ):
            return None
        if tail in (":", "%", "/") or (
            tail == "." and scan.tight(last[1] + 1) and words[last[1] + 1].isdecimal()
        ):
            return None
    stop = last[1]
    if _is_bare(last) and isinstance(reading, Cycle) and words[stop] == ",":
        year = year_number(scan, stop + 1)  # "May 5-7, 2019"
        inside = reading.at(year[0]) if year and reading.every == "year" else None
        if year is not None and inside is not None:
            reading, stop = inside, year[1]
    span = scan.join(reading, target, i)
    if span is None and isinstance(target, Span) and isinstance(reading, Span) and target.grain in WITHIN_DAY:
        moved = _onto_day(reading, target)
        span = scan.join(reading, moved, i) if moved else None
    return given(span, stop)


def _in_month(scan: Scan, first: Reading, last: Reading, i: int) -> tuple[Span, int] | None:
    """Parses two days and their month: "from 4 to 22 this month", "4-23 in next month"."""
    found = simple(scan, scan.skip(i, "in", "of"))
    if (
        found is None
        or not (isinstance(first, Cycle) and isinstance(last, Cycle))
        or found[0].grain != "month"
    ):
        return None
    month = scan.settle(found[0], i)
    if month is None or month.start is None:
        return None
    turn = first.turn(month.start)
    opening, closing = first.at(turn), last.at(turn)
    return given(scan.join(opening, closing, i) if opening and closing else None, found[1])


def _same_month(first: Cycle, last: Cycle) -> Cycle | None:
    """Returns the first day of "between 3 and 12 of September". It takes the month of the last day, or the month
    before."""

    def at(year: int) -> Span | None:
        closing = last.at(year)
        if closing is None or closing.start is None:
            return None
        turn = closing.start.year * 12 + closing.start.month - 1
        same = first.at(turn)
        if same is not None and same.start is not None and same.start < closing.start:
            return same
        return first.at(turn - 1)

    return Cycle("year", at, "day", last.sure)


def _onto_day(first: Span, last: Span) -> Span | None:
    """Returns the last time of a range, which has no date, on the first day of the range or on the next day."""
    if first.start is None or last.start is None or last.end is None:
        return None
    moved = last.start.replace(year=first.start.year, month=first.start.month, day=first.start.day)
    if moved <= first.start:
        moved = calendar.add_days(moved, 1)
        if (moved - first.start).seconds > 12 * 3600 and last.ambiguous:
            moved -= timedelta(hours=12)
    return replace(last, start=moved, end=moved + (last.end - last.start))


def _for_length(scan: Scan, first: Found, span: Span) -> tuple[Span, int] | None:
    """Parses "May 5 for 3 days", "14th Feb from 9:30am for 7 hours"."""
    words = scan.words
    if words[first[1]] != "for" or span.start is None or words[first[1] + 1] in ("the", "a"):
        return None
    long = length(scan, first[1] + 1)
    if (
        long is None
        or long[0].fine != (span.grain in ("second", "minute", "hour"))
        or span.grain not in (*WITHIN_DAY, "day")
    ):
        return None
    end = long[0].from_(span.start, scan.frame)
    return replace(span, end=end, grain=long[0].grain, instant=False), long[1]


def _or_later(scan: Scan, found: tuple[Span, int]) -> tuple[Span, int]:
    """Parses "2012 or later", "1/1/2016 and earlier", "2015 onwards"."""
    words = scan.words
    span, j = found
    if words[j] in ("onward", "onwards"):
        return since(span), j + 1
    if words[j] in ("or", "and") and words[j + 1] in listed("later after newer onwards onward thereafter"):
        if words[j + 1] == "after" and words[j + 2] not in ("", ".", ",", "?", "!"):
            return found
        return since(span), j + 2
    if words[j] in ("or", "and") and words[j + 1] in ("earlier", "before", "older"):
        if words[j + 1] == "before" and words[j + 2] not in ("", ".", ",", "?", "!"):
            return found
        return before(span, included=True), j + 2
    return found


def _bounded(scan: Scan, i: int) -> tuple[Span, int] | None:
    """Parses a range with an open side: "since August", "before 2000", "by Friday", ">= 2019"."""
    words = scan.words
    word, j, kind = words[i], i + 1, ""
    if word in ("since", "after", "before", "until", "till", "by", "from"):
        kind = {"till": "until"}.get(word, word)
    elif word in ("starting", "beginning", "effective") and words[j] in listed("from on in since at next"):
        kind, j = "since", j if words[j] == "next" else j + 1
    elif word in ("on", "in") and words[j] in ("or", "and") and words[j + 1] in ("before", "after"):
        kind, j = "since" if words[j + 1] == "after" else "until", j + 2
    elif word == "prior" and words[j] == "to":
        kind, j = "before", j + 1
    elif word in ("later", "earlier") and words[j] == "than":
        kind, j = "after" if word == "later" else "before", j + 1
    elif (
        word in _COMPARED
        and words[j] == "than"
        and (word in ("newer", "older") or scan.before(i) in ("year", "years"))
    ):
        kind, j = _COMPARED[word], j + 1
        number = year_number(scan, j)
        span = calendar.year(number[0]) if number and scan.words[j].isdecimal() else None
        if span is None or number is None or (words[number[1]].isalpha() and words[number[1]] not in _JOINS):
            return None
        return (after(span) if kind == "after" else before(span)), number[1]
    elif word == "not" and words[j] in ("before", "until", "till", "after"):
        kind, j = "until" if words[j] == "after" else "since", j + 1
    elif word in ("through", "thru") and (words[j] in ("the", "end", "next", "last") or words[j] in WEEKDAYS):
        kind = "until"
    elif word in ("no", "not") and words[j] in ("later", "earlier", "sooner") and words[j + 1] == "than":
        kind, j = "until" if words[j] == "later" else "since", j + 2
    elif word in ("starting", "beginning", "commencing") and words[j] != "of":
        kind = "since"
    elif word == "ending" and scan.before(i) not in UNITS:
        kind = "until"
    elif word == "effective":
        kind = "as of"
    elif word == "as" and words[j] == "of" and words[j + 1] not in ("now", "yet"):
        kind, j = "as of", j + 1
    elif word == "as" and words[j] in ("early", "late", "of") and words[j + 1] in ("as", "now"):
        kind, j = {"early": "since", "late": "until"}.get(words[j], ""), j + 2
    elif word in (">", "<"):
        equal = words[j] == "="
        kind = ("since" if equal else "after") if word == ">" else ("until" if equal else "before")
        j += equal
    elif word == "=":
        kind = "is"
    elif word == "up" and words[j] in ("to", "until", "till") and scan.before(i) not in _BUSY:
        kind, j = "until", j + 1
    elif word == "ever" and words[j] == "since":
        kind, j = "since", j + 1
    if not kind:
        return None
    j = scan.skip(j, "about", "around", "approximately")
    found = _bound(scan, j)
    if found is None or _is_bare(found):
        return None
    if kind == "from":
        if words[found[1]] not in ("on", "onward", "onwards", "forward"):
            return None
        kind = "since"
        found = found[0], found[1] + 1
    if kind == "as of":
        span = nearest(found[0], scan.frame)
    else:
        ahead = kind in ("until", "by", "before") or word in ("starting", "beginning", "commencing")
        span = scan.settle(found[0], i, 1 if ahead else 0)
    if span is None:
        return None
    if kind == "is":
        return span, found[1]
    if kind in ("before", "until", "by"):
        if span.start is None:
            return None
        return before(span, included=kind != "before"), found[1]
    if span.end is None:
        return None
    return (after(span) if kind == "after" else since(span)), found[1]
