"""English moments: a period, a day with its time of day, a time of day alone."""

from dataclasses import replace
from functools import partial

from events.language.timex.tables import words_of

from .. import calendar
from ..calendar import FINE, Span
from ..clock import at, half_of
from ..cycles import Cycle, Reading, each
from ..scan import Scan, given, listed, packrat
from .numbers import length
from .offsets import offset
from .simple import Found, simple
from .times import hours, within

# What may stand between a time and its day: "my 9am call tomorrow".
_MEETINGS = words_of("english.meetings")
_ZONES = listed("utc gmt pst pdt est edt cst cdt mst mdt bst cet cest ist jst hkt")
_VERSES = frozenset({"verse", "chapter", "psalm", "version", "ratio", "score"})


@packrat
def moment(scan: Scan, i: int) -> Found | None:
    """Parses a period, a day with a time, or a time with a day. Returns the longest reading at word `i`."""
    best: Found | None = None
    dated = offset(scan, i) or None
    period = simple(scan, i)
    if period is not None and (dated is None or period[1] > dated[1]):
        dated = period
    if dated is not None:
        best = _with_hours(scan, dated)
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
