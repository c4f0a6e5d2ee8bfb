"""English moments (a period, a day with its time of day), ranges and bounds: from X to Y, since X, before X."""

from dataclasses import replace
from functools import partial

from .. import calendar
from ..calendar import FINE, WITHIN_DAY, Span
from ..clock import at, half_of
from ..cycles import Cycle, Reading, after, before, each, monthly, nearest, onto_day, settle, since
from ..scan import Found, Scan, given, listed, packrat, phrases_of
from ..tables import words_of
from .near import present
from .numbers import length, ordinal, plain, year_number
from .offsets import offset
from .simple import simple
from .times import hours, within
from .words import UNITS, WEEKDAYS

# What may stand between a time and its day: "my 9am call tomorrow".
_MEETINGS = words_of("english.meetings")
_ZONES = listed("utc gmt pst pdt est edt cst cdt mst mdt bst cet cest ist jst hkt")
_VERSES = frozenset({"verse", "chapter", "psalm", "version", "ratio", "score", "line", "lines"})


@packrat
def moment(scan: Scan, i: int) -> Found | None:
    """Parses a period, a day with a time, or a time with a day. Returns the longest reading at word `i`."""
    dated, period = offset(scan, i), simple(scan, i)
    if period is not None and (dated is None or period[1] > dated[1]):
        dated = period
    best = _with_hours(scan, dated) if dated is not None else None
    timed = _hours_first(scan, i)
    if timed is not None and (best is None or timed[1] > best[1]):
        best = timed
    return _years_ago(scan, best) or best if best is not None else None


def _years_ago(scan: Scan, found: Found) -> Found | None:
    """Parses the year after a day or a month: "in June three years ago", "on 5 May two years ago"."""
    reading, j = found
    if not isinstance(reading, Cycle) or reading.every != "year":
        return None
    long = length(scan, j)
    if long is None or scan.words[long[1]] != "ago" or long[0].grain != "year" or long[0].spread:
        return None
    return given(reading.at(long[0].from_(scan.frame.today, scan.frame, -1).year), long[1] + 1)


def _with_hours(scan: Scan, found: Found) -> Found:
    """Adds the times of day after a day, up to three times: "Monday morning from 10am to 12pm"."""
    words = scan.words
    for _ in range(3):
        reading, j = found
        if not _takes_hours(reading):
            break
        k = j + 1 if words[j] in (",", "-", ":", "for") or (words[j] == "t" and scan.tight(j)) else j
        if words[j] == "-" and not scan.tight(j + 1) and scan.tight(j):
            break
        half = half_of(reading) if isinstance(reading, Span) else None
        timed = within(scan, k, half) if half else None
        timed = timed or hours(scan, k)
        if timed is None and k != j:
            timed = hours(scan, j)
        if timed is None:
            break
        value = timed[0]
        loose = value.loose and not _loosely(scan, k, timed[1], value.grain == "part_of_day")
        if loose or reading.grain == value.grain == "part_of_day":
            break
        combined = each(reading, partial(at, clock=value, now=scan.frame.now), value.grain)
        if combined is None:
            break
        found = combined, timed[1]
    return found


def _takes_hours(reading: Reading) -> bool:
    """True for a single day or a part of one, even with a coarse grain ("in two weeks at noon")."""
    if isinstance(reading, Cycle):
        return reading.grain in ("day", "part_of_day")
    if reading.start is None or reading.grain in FINE:
        return False
    return reading.instant or reading.grain in ("day", "part_of_day")


def _loosely(scan: Scan, i: int, stop: int, is_part: bool) -> bool:
    """True when bare numbers beside a date may be its time."""
    words = scan.words
    if is_part:
        return not words[stop - 1].endswith("s")
    if words[i] in listed("at around about from between @ by before after circa for"):
        return True
    if stop - i == 1 or (stop - i == 3 and words[i + 1] == "."):
        return False
    return not words[stop].isalpha() or words[stop] in listed("on in at or and to for with pst")


def _hours_first(scan: Scan, i: int) -> Found | None:
    timed = hours(scan, i)
    if timed is None:
        return None
    value, j = timed
    k = j + (scan.words[j] in _ZONES or (not value.loose and scan.words[j] in _MEETINGS))
    k = scan.skip(scan.skip(k, ","), "on", "of", "in")
    dated = simple(scan, k)
    if dated is not None and value.loose and value.instant and j == i + 1 and dated[0].grain == "day":
        return None  # "down 10 in the 4th"
    if dated is not None and dated[0].grain in ("day", "part_of_day"):
        half = half_of(dated[0]) if isinstance(dated[0], Span) else None
        again = within(scan, i, half) if half else None
        if again is not None:
            value = again[0]
        reading, stop = dated
        late = hours(scan, stop)
        if late is not None and late[0].name and half is None and late[0].half and not late[0].instant:
            settled = within(scan, i, late[0].half)
            if settled is not None:
                value, stop = settled[0], late[1]
        return given(each(reading, partial(at, clock=value, now=scan.frame.now), value.grain), stop)
    if value.loose or (value.name and scan.words[j - 1].endswith("s") and scan.words[i] not in ("in", "at")):
        return None
    verse = scan.before(i - 1) if scan.before(i) == "of" else scan.before(i)
    span = value.on(calendar.day(scan.frame.today))
    if span is None or verse in _VERSES or (value.name and scan.before(i) == "good"):
        return None
    return replace(span, sure=0.35 if value.name else 0.55, ambiguous=True), j


_TO = listed("to till til until through thru - – — ~")
# The sides of a bound. The words of comparison need a year after them, because "more than 5" compares anything.
_SIDES = phrases_of("sides", str)
_AFTERWARDS = phrases_of("afterwards", str)
# "what are you up to now" is not a bound.
_BUSY = listed("been be being you are is was were you're they're we're he's she's get getting i'm")
_JOINS = listed("and or but with in on at by for from")
_BOUNDING = listed("from between since before after by until till")


@packrat
def _bound(scan: Scan, i: int) -> Found | None:
    """Parses one side of a range."""
    j = scan.skip(i, "in", "on")
    found = present(scan, i) or moment(scan, j) or _bare_day(scan, j) or (moment(scan, i) if j != i else None)
    if found is not None:
        return found
    year = scan.digits(i)
    if year is None or len(scan.words[i]) != 4 or not 1900 <= year <= 2150:
        return None
    return given(calendar.year(year), i + 1)


def _bare_day(scan: Scan, i: int) -> Found | None:
    """Parses a number that is a day only because of the other side of a range: "from the ninth", "19-20"."""
    j = scan.skip(i, "the")
    dom = ordinal(scan, j)
    if dom is None and (number := scan.digits(j, 2)) is not None:
        dom = number, j + 1
    return (monthly(dom[0], sure=0.6, bare=True), dom[1]) if dom is not None and 1 <= dom[0] <= 31 else None


@packrat
def span_of(scan: Scan, i: int) -> tuple[Span, int] | None:
    """Parses a range, a bound or a moment. Returns the widest reading at word `i`, with absolute dates."""
    words = scan.words
    opener = words[i] if words[i] in ("from", "between", "since") else ""
    j = i + 1 if opener else i
    first = _bound(scan, j) if opener else moment(scan, j) or _bare_first(scan, j)
    best = _joined(scan, first, j, opener) if first is not None else None
    whole = moment(scan, i) if words[i] in _BOUNDING else None
    if whole is not None and (best is None or whole[1] >= best[1]):
        best = given(scan.settle(whole[0], i), whole[1]) or best
    if best is None and opener == "between":
        return None
    bounded = _bounded(scan, i)
    if bounded is not None and (best is None or bounded[1] > best[1]):
        best = bounded
    if best is None and first is not None and opener != "since" and not _is_bare(first):
        span = scan.settle(first[0], i)
        return _or_later(scan, _for_length(scan, first, span) or (span, first[1])) if span else None
    return best


def _is_bare(found: Found) -> bool:
    return isinstance(found[0], Cycle) and found[0].bare


def _bare_first(scan: Scan, i: int) -> Found | None:
    """Parses a number that may begin a range: "9 to 12 of June"."""
    if not scan.words[i][:1].isdecimal() or not plain(scan, i):
        return None
    found = _bare_day(scan, i)
    return found if found is not None and scan.words[found[1]] in _TO else None


def _joined(scan: Scan, first: Found, i: int, opener: str) -> tuple[Span, int] | None:
    words = scan.words
    reading, j = first
    j = j + 1 if words[j] == "," and words[j + 1] in _TO else j
    to = words[j]
    if to not in _TO and not (opener == "between" and to == "and"):
        return None
    if (to == "-" and scan.tight(j) != scan.tight(j + 1)) or (opener == "since" and to in "-–—~"):
        return None
    last = _bound(scan, j + 1)
    if last is None:
        return None
    target, stop = last
    bare_first, bare_last = _is_bare(first), _is_bare(last)
    shared = _same_month(reading, target)
    if shared is not None:
        reading = shared
    elif bare_first and bare_last:
        return _in_month(scan, reading, target, stop)
    elif bare_first and not (isinstance(target, Span) and target.grain == "day"):
        return None
    if bare_last:
        tail = words[stop]
        counts = tail.isalpha() and tail not in listed("at in on and for or")
        if reading.grain != "day" or counts or tail in (":", "%", "/"):
            return None
        if tail == "." and scan.tight(stop + 1) and words[stop + 1].isdecimal():
            return None
        year = year_number(scan, scan.skip(stop, ","))
        if year is not None and isinstance(reading, Cycle) and reading.every == "year":
            reading, stop = reading.at(year[0]) or reading, year[1]  # "May 5-7, 2019"
    span = scan.join(reading, target, i)
    if span is None and isinstance(target, Span) and isinstance(reading, Span) and target.grain in WITHIN_DAY:
        moved = onto_day(reading, target)
        span = scan.join(reading, moved, i) if moved else None
    return given(span, stop)


def _in_month(scan: Scan, first: Reading, last: Reading, i: int) -> tuple[Span, int] | None:
    """Parses two days and their month: "from 4 to 22 this month", "4-23 in next month"."""
    found = simple(scan, scan.skip(i, "in", "of"))
    if found is None or found[0].grain != "month":
        return None
    return given(_of_month(scan, found[0], first, last, i), found[1])


def _of_month(scan: Scan, month: Reading, first: Reading, last: Reading, i: int) -> Span | None:
    span = scan.settle(month, i)
    if span is None or not isinstance(first, Cycle) or not isinstance(last, Cycle):
        return None
    turn = first.turn(span.begins)
    opening, closing = first.at(turn), last.at(turn)
    return scan.join(opening, closing, i) if opening and closing else None


def _same_month(first: Reading, last: Reading) -> Cycle | None:
    """Returns the first day of "between 3 and 12 of September". It takes the month of the last day, or the month
    before."""
    if not isinstance(first, Cycle) or not isinstance(last, Cycle):
        return None
    if (first.every, last.every) != ("month", "year"):
        return None

    def at(year: int) -> Span | None:
        closing = last.at(year)
        if closing is None:
            return None
        turn = first.turn(closing.begins)
        same = first.at(turn)
        return same if same is not None and same.begins < closing.begins else first.at(turn - 1)

    return Cycle("year", at, "day", last.sure)


def _for_length(scan: Scan, first: Found, span: Span) -> tuple[Span, int] | None:
    """Parses "May 5 for 3 days", "14th Feb from 9:30am for 7 hours"."""
    words = scan.words
    if words[first[1]] != "for" or words[first[1] + 1] in ("the", "a"):
        return None
    long = length(scan, first[1] + 1)
    fine = span.grain in ("second", "minute", "hour")
    if long is None or long[0].fine != fine or span.grain not in (*WITHIN_DAY, "day"):
        return None
    end = long[0].from_(span.begins, scan.frame)
    return replace(span, end=end, grain=long[0].grain, instant=False), long[1]


def _or_later(scan: Scan, found: tuple[Span, int]) -> tuple[Span, int]:
    """Parses "2012 or later", "1/1/2016 and earlier", "2015 onwards"."""
    side = _AFTERWARDS.at(scan, found[1])
    if side is None:
        return found
    if scan.words[side[1] - 1] in ("after", "before") and scan.words[side[1]] not in listed("$ . , ? !"):
        return found
    return (since(found[0]) if side[0] == "since" else before(found[0], included=True)), side[1]


def _bounded(scan: Scan, i: int) -> tuple[Span, int] | None:
    """Parses a range with an open side: "since August", "before 2000", "by Friday", ">= 2019"."""
    words, word, last = scan.words, scan.words[i], scan.before(i)
    side = _SIDES.at(scan, i)
    if side is None:
        return None
    kind, j = side
    through = word in ("through", "thru") and words[j] not in {"the", "end", "next", "last", *WEEKDAYS}
    lasting = (word == "ending" and last in UNITS) or (word == "up" and last in _BUSY)
    starting = word in ("starting", "beginning", "commencing")
    part = starting and words[j] == "of"
    if through or lasting or part or (kind == "as of" and words[j] in ("now", "yet")):
        return None
    found = _bound(scan, scan.skip(j, "about", "around", "approximately"))
    if found is None or _is_bare(found):
        return None
    reading, stop = found
    if word == "from":
        if words[stop] not in ("on", "onward", "onwards", "forward"):
            return None
        stop += 1
    if kind == "as of" or (starting and scan.tense(i) < 0):  # "the job is yours, starting in June"
        span = nearest(reading, scan.frame)
    else:
        ahead = starting or kind in ("until", "by", "before")
        # What lasts since a time began in the past, also in a sentence about now: "I'm learning it since May".
        past = word == "since"
        span = settle(reading, scan.frame, -1) if past else scan.settle(reading, i, 1 if ahead else 0)
    if span is None or kind == "is":
        return given(span, stop)
    if kind in ("before", "until", "by"):
        return (before(span, included=kind != "before"), stop) if span.start is not None else None
    return ((after(span) if kind == "after" else since(span)), stop) if span.end is not None else None
