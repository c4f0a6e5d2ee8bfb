"""English periods relative to the present one: last week, next three months, this past Friday."""

from dataclasses import replace

from .. import calendar
from ..calendar import Span, add_days, in_week
from ..clock import part
from ..cycles import Cycle, Reading, each, settle, yearly
from ..lengths import Length
from ..scan import Found, Scan, given
from . import dates
from .numbers import amount, first_length, length, unit_word
from .pieces import SHARE_WORDS, piece, whole_period
from .seasons import quarter_of, season
from .simple import opens
from .weekdays import day_of_month, weekday_alone, weekday_name
from .words import MONTHS, NUMBERS, PART_WORDS, SEASON_WORDS, SHIFTS, SHY, UNITS

_SLIDING = frozenset({"past", "coming", "upcoming"})


@opens("the", SHIFTS, "recent")
def shifted(scan: Scan, i: int) -> Found | None:
    """Parses "last week", "this past Friday", "next three months", "next year's first quarter"."""
    words, frame = scan.words, scan.frame
    j = scan.skip(i, "the")
    word = words[j]
    if word not in SHIFTS and word != "recent":
        return None
    if word == "last" and words[j + 1] == "minute" and _idiom(scan, j):
        return None
    shift, sliding = SHIFTS.get(word, 0), word in _SLIDING
    lead = word
    j += 1
    if word == "this" and words[j] == "time" and words[j + 1] in ("last", "next"):
        return _this_time(scan, j + 1)
    if word in ("this", "the") and words[j] in ("past", "coming", "upcoming", "last", "next"):
        shift, sliding, lead = SHIFTS[words[j]], True, words[j]
        j += 1
    counted = _rolling(scan, j, shift) or _some(scan, j, lead)
    if counted is not None:
        return counted
    if words[j] in ("calendar", "fiscal", "financial", "working", "business", "work"):
        k = scan.skip(j + 1, "-")
        if words[j] in ("working", "business", "work") and words[k] == "week":
            return given(calendar.unit("working_week", frame.now, shift), k + 1)
        if words[j + 1].removesuffix("'s") in UNITS:
            j += 1
    weekday = weekday_name(scan, j)
    if weekday is not None:
        return _shifted_weekday(scan, j, weekday, shift, sliding)
    named = unit_word(scan, j)
    if named is not None and not (
        words[j] in ("night", "nights", "night's") or (words[j].endswith("s") and not words[j].endswith("'s"))
    ):
        return _shifted_unit(scan, named[0], named[1], shift, lead)
    share_word = SHARE_WORDS.get(words[j])
    spoken = words[j].removesuffix("'s")  # "last night's game"
    name = PART_WORDS.get(spoken) or (PART_WORDS.get(words[j + 1]) if share_word else None)
    if name and lead not in ("that", "same") and name not in ("lunch", "dinner", "breakfast"):
        k = j + 1 if spoken in PART_WORDS else j + 2
        hours = part(name, "" if k == j + 1 else "early" if share_word in ("early", "beginning") else "late")
        return given(hours.on(calendar.day(add_days(frame.today, shift))), k)
    return _shifted_name(scan, j, shift, lead)


def _idiom(scan: Scan, i: int) -> bool:
    """True for "at the last minute" and "a last minute gift", which name no minute."""
    last = scan.before(i - 1) if scan.before(i) == "the" else scan.before(i)
    return last in ("at", "a", "an", "until", "till", "to", "so", "very", "my", "our", "some")


def _some(scan: Scan, i: int, lead: str) -> Found | None:
    """Parses an uncertain few units: "in recent weeks", "over the coming days"."""
    unit = UNITS.get(scan.words[i])
    sign = {"recent": -1, "past": -1, "coming": 1, "next": 1}.get(lead, 0)
    if unit is None or not sign or not scan.words[i].endswith("s"):
        return None
    return replace(Length(((3, unit),)).rolling(scan.frame, sign), sure=0.5, ambiguous=True), i + 1


def _this_time(scan: Scan, i: int) -> Found | None:
    """Parses "this time last year" as a range around the same day."""
    unit = UNITS.get(scan.words[i + 1])
    if unit not in ("week", "month", "year"):
        return None
    there = Length(((1, unit),)).from_(scan.frame.today, scan.frame, SHIFTS[scan.words[i]])
    about = {"week": 0, "month": 3, "year": 14}[unit]
    span = Span(
        add_days(there, -about), add_days(there, about + 1), "day" if about < 14 else "month", sure=0.6
    )
    return span, i + 2


def _rolling(scan: Scan, i: int, shift: int) -> Found | None:
    """Parses the last or next units after their shift word: "three months"."""
    words, frame = scan.words, scan.frame
    if shift == 0 or words[i] in ("a", "an") or words[i : i + 2] == ["half", "of"] or len(words[i]) > 20:
        return None
    if words[i] in UNITS:
        k = scan.skip(i + 2, "a")
        extra = words[i + 1] == "and" and words[k] == "half"
        return (Length(((1.5, UNITS[words[i]]),)).rolling(frame, shift), k + 1) if extra else None
    long = length(scan, i) if not words[i].isdecimal() or len(words[i]) <= 5 else None
    if long is not None and words[long[1]] in ("ago", "later", "before", "earlier"):
        long = first_length(scan, i)
    if long is None or (words[long[1]] == "of" and whole_period(scan, long[1] + 1) is not None):
        return None
    return _rolled(long[0], shift, scan), long[1]


def _rolled(lasting: Length, shift: int, scan: Scan) -> Reading:
    """Returns the range of a length before or after now. Quarters, centuries and weekends align with the calendar."""
    frame = scan.frame
    count, unit = lasting.parts[0]
    aligned = len(lasting.parts) == 1 and unit in ("quarter", "century", "weekend") and count == int(count)
    whole = calendar.units(unit, frame.now, int(count), shift) if aligned else None
    return whole or lasting.rolling(frame, shift)


@opens("the", NUMBERS, "few", "couple", digits=True)
def counted(scan: Scan, i: int) -> Found | None:
    """Parses "5 upcoming years", "2 next days", "10 previous weeks"."""
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
    if words[i + 1 : i + 3] == ["after", "next"] or (words[i + 1] == "week" and shift == 0 and not sliding):
        return None
    beside = weekday_alone(scan, i)
    if beside is not None and (beside[1] > i + 1 or isinstance(beside[0], Span)):
        if isinstance(beside[0], Cycle) and beside[0].every == "year":
            return given(beside[0].at(frame.now.year), beside[1])
        return beside
    if sliding and shift:
        gap = (weekday - frame.today.weekday()) % 7 or 7
        return calendar.day(add_days(frame.today, gap if shift > 0 else gap - 7 or -7)), i + 1
    return near_weekday(scan, i, weekday, shift), i + 1


def near_weekday(scan: Scan, i: int, weekday: int, shift: int) -> Span:
    """Returns the weekday that "last", "this" or "next" means, with the other reading where there are two.

    The words count weeks or count weekdays. At a weekend most speakers count weekdays: "last Friday" on a Sunday is two
    days ago, and "this Friday" is ahead unless the sentence is in the past tense.
    """
    today = scan.frame.today
    counted = calendar.day(add_days(calendar.week_start(today), 7 * shift + weekday))
    behind = calendar.day(add_days(today, -((today.weekday() - weekday) % 7 or 7)))
    ahead = calendar.day(add_days(today, (weekday - today.weekday()) % 7 or 7))
    over = today.weekday() >= 5
    if shift < 0:
        return behind.or_else(counted, 0.75) if over else counted.or_else(behind, 0.75)
    if shift > 0:
        if over and counted.start == ahead.start:
            return counted.or_else(calendar.day(add_days(today, (weekday - today.weekday()) % 7 + 7)), 0.75)
        return counted.or_else(ahead, 0.75)
    if counted.begins >= today:
        return counted
    tense = scan.tense(i)
    if tense > 0 or (over and tense == 0):
        return ahead.or_else(counted, 0.8)
    return counted.or_else(ahead, 0.8)


def _shifted_unit(scan: Scan, unit: str, i: int, shift: int, lead: str) -> Found | None:
    words, frame = scan.words, scan.frame
    if unit in calendar.SECONDS_IN:
        return (Length(((1, unit),)).rolling(frame, shift), i) if shift else None
    if lead in ("that", "same"):
        found = calendar.unit(unit, frame.now) if unit != "day" else None
        return given(found.doubted(0.35) if found else None, i)
    if unit == "working_day":
        return Length(((1, unit),)).rolling(frame, shift), i
    if lead in _SLIDING and unit == "weekend":
        shift = -1 if lead == "past" else int(frame.now.weekday() >= 5)
        lead = "last"
    if lead == "past":
        return Length(((1, unit),)).rolling(frame, -1), i
    span = calendar.unit(unit, frame.now, shift)
    if span is None or (unit == "week" and words[i] == "end"):
        return None
    return _inside(scan, span, i) or (span, i)


def _inside(scan: Scan, span: Span, i: int) -> Found | None:
    """Parses the words that narrow a period: "next week on Tuesday", "last year's first quarter"."""
    words = scan.words
    owned = words[i - 1].endswith("'s")
    if span.grain == "week":
        j = scan.skip(scan.skip(i, ",", "-"), "on")
        weekday = weekday_name(scan, j)
        if weekday is not None:
            return given(in_week(span, weekday), j + 1)
    if owned:
        taken = piece(scan, i)
        if taken is not None:
            return given(each(span, taken[0]), taken[1])
    if span.grain == "year":
        inner_quarter = quarter_of(scan, i, span.begins.year)
        if inner_quarter is not None:
            return inner_quarter
        j = i if owned else scan.skip(scan.skip(i, "in", "on", ","), "the")
        if not owned and j == i and (words[i] not in MONTHS or words[i] in SHY):
            return None
        found = dates.holiday(scan, j) or dates.named(scan, j) or season(scan, j)
        if found is not None and isinstance(found[0], Cycle):
            return given(found[0].at(span.begins.year), found[1])
    if span.grain == "month":
        dom = day_of_month(scan, scan.skip(i, "on"))
        if dom is not None and isinstance(dom[0], Cycle) and words[i] in ("on", "the"):
            return given(dom[0].at(dom[0].turn(span.begins)), dom[1])
    return None


def _shifted_name(scan: Scan, i: int, shift: int, lead: str) -> Found | None:
    """Parses a yearly name in a year near this one: "last March", "next summer", "this Christmas", "next 5/12"."""
    words, frame, year = scan.words, scan.frame, scan.frame.now.year
    if lead in ("that", "same"):
        return None
    found = dates.holiday(scan, i)
    if found is not None and isinstance(found[0], Cycle):
        span = found[0].at(year) if shift == 0 else settle(found[0], frame, 1 if shift > 0 else -1)
        if span and shift > 0 and span.begins <= frame.today:
            span = found[0].at(year + 1)
        return given(replace(span, sure=0.9, ambiguous=False) if span and shift else span, found[1])
    if words[i] in SEASON_WORDS:
        name, now = SEASON_WORDS[words[i]], frame.now
        cycle = yearly(lambda number: calendar.season(number, name), "season")
        told = {-1: lambda s: s.end <= now, 0: lambda s: s.end > now, 1: lambda s: s.start > now}[shift]
        return given(next(filter(told, cycle.back(now) if shift < 0 else cycle.ahead(now)), None), i + 1)
    named = words[i] in MONTHS or words[i].isdecimal()
    found = dates.numeric(scan, i) or (dates.named(scan, i) if named else None)
    if found is None or not isinstance(found[0], Cycle) or found[0].every != "year":
        return found if words[i] in MONTHS else None
    if lead in _SLIDING:  # "this coming June" is the first June ahead
        ahead = settle(found[0], frame, 1 if shift > 0 else -1)
        return (replace(ahead, sure=0.9, ambiguous=False), found[1]) if ahead else None
    span = found[0].at(year + shift)
    if span is None:
        return None
    month = span.begins.month
    turned = month < frame.now.month if shift < 0 else month > frame.now.month
    return span.doubted(0.65) if shift and turned else span, found[1]
