"""English weekdays, with the date, the week or the day of the month beside them."""

from dataclasses import replace

from .. import calendar
from ..calendar import Span, in_week
from ..cycles import Cycle, Reading, each, monthly, settle, weekly
from ..scan import Found, Scan, given, listed, packrat
from ..tables import words_of
from .dates import holiday, named, not_a_day, numeric
from .numbers import length, ordinal, year_number
from .simple import opens
from .times import hours
from .words import LEADS, MONTHS, NUMBERS, ORDINALS, PART_WORDS, SHIFTS, SHY, WEEKDAYS


@packrat
def weekday_name(scan: Scan, i: int) -> int | None:
    """Returns the weekday that word `i` names. A short name that is also another word needs other words beside it."""
    word, last, after = scan.words[i], scan.before(i), scan.words[i + 1]
    found = WEEKDAYS.get(word.removesuffix("'s"))
    if found is None or (
        after == "." and scan.tight(i + 1) and scan.tight(i + 2) and scan.words[i + 2].isalpha()
    ):
        return None  # "sun.com" is a web site
    if word not in SHY:
        return found
    upper = scan.original(i)[0].isupper()
    if word != "sun" and after in ("of", "in") and (last in ORDINALS or last in listed("st nd rd th last")):
        return found
    if last == "the" or (scan.tight(i) and last not in ("(", "-", "/")):
        return None
    ends = last.isalpha() and after in listed("$ . ? !")
    if upper and (ends or after in PART_WORDS or last in ("you", "or", "and")):
        return found
    if word in ("mon", "wed", "fri", "thu"):
        return found if upper or after == "the" or last in LEADS or last in ("week", "(") else None
    dated = upper and (after in MONTHS or after.isdecimal() or ordinal(scan, i + 1))
    led = last in listed("on last next this every until by since ( week from to between")
    return found if dated or led else None


def _dated_weekday(scan: Scan, i: int, number: int) -> Found | None:
    """Parses the date after a weekday. The weekday then only helps to choose the year."""
    words = scan.words
    j = i + 1 if words[i] in (",", "(", "/", "-") else i
    shy = words[j] in SHY and not (words[j + 1].isdecimal() or ordinal(scan, j + 1))
    found = numeric(scan, j) or (named(scan, j) if not shy else None)
    if found is None or found[0].grain != "day":
        return None
    reading, k = found
    if isinstance(reading, Cycle):
        reading = replace(reading, weekday=number)
    return reading, k + 1 if words[i] == "(" and words[k] == ")" else k


def _weekday_of_month(scan: Scan, number: int, i: int) -> Found | None:
    words = scan.words
    j = scan.skip(scan.skip(i, ","), "the")
    dom = ordinal(scan, j)
    if dom is None and j == i and words[j].isdecimal() and len(words[j]) == 2:
        after = words[j + 1]
        if after not in ("-", "–", "~", "to", "am", "pm", ":", "p", "a") and not not_a_day(scan, j + 1):
            dom = int(words[j]), j + 1
    if dom is None or not 1 <= dom[0] <= 31 or words[dom[1]] in ("week", "month", "quarter", "half"):
        return None
    return monthly(dom[0], number), dom[1]


@packrat
def weekday_alone(scan: Scan, i: int) -> Found | None:
    """Parses a weekday, with the day of the month or the date beside it."""
    words = scan.words
    number = weekday_name(scan, i)
    if number is None:
        return None
    j = scan.skip(i + 1, ".") if len(words[i]) <= 4 and scan.tight(i + 1) and words[i + 2] else i + 1
    return (
        _dated_weekday(scan, j, number) or _weekday_of_month(scan, number, i + 1) or (weekly(number), i + 1)
    )


_OF_WEEKDAYS = listed("school person vibes blues best job driver paper papers feeling mood league")


def _any_one(scan: Scan, i: int) -> bool:
    """True for a weekday of no certain week: "on a Sunday", "a Friday person", "Sunday school"."""
    after = scan.words[i + 1]
    return scan.before(i) in ("a", "an", "any", "some", "another") or after in _OF_WEEKDAYS


@opens(WEEKDAYS, (f"{name}'s" for name in WEEKDAYS if name not in SHY))
def weekday(scan: Scan, i: int) -> Found | None:
    """Parses a weekday, with its week when the week follows: "Tuesday of last week", "Monday 1pm to 3pm next week"."""
    found = weekday_alone(scan, i)
    number = weekday_name(scan, i)
    if found is None or number is None or found[1] > i + 1:
        return found
    if _any_one(scan, i):
        return None
    week = _following_week(scan, i + 1)
    if week is not None:
        return given(in_week(week[0], number), week[1])
    if scan.words[i + 1] in ("and", "or", "&") and weekday_name(scan, i + 2) is not None:
        week = _following_week(scan, i + 3)  # "Tuesday and Friday next week"
        if week is not None:
            return given(in_week(week[0], number), i + 1)
    timed = hours(scan, i + 1)
    week = _following_week(scan, timed[1]) if timed else None
    if timed is not None and week is not None:
        day = in_week(week[0], number)
        return given(timed[0].on(day) if day else None, week[1])
    return _beside_date(scan, i + 1, number) or _weeks_away(scan, i + 1, number) or found


def _beside_date(scan: Scan, i: int, number: int) -> Found | None:
    """Parses the holiday or the date beside which a weekday is: "the Monday after Thanksgiving"."""
    side = scan.words[i]
    if side not in ("after", "before", "following"):
        return None
    found = holiday(scan, i + 1) or named(scan, scan.skip(i + 1, "the"))
    if found is None or found[0].grain != "day":
        return None
    year = year_number(scan, found[1])
    reading: Reading | None = found[0]
    if year is not None and isinstance(reading, Cycle) and reading.every == "year":
        reading, found = reading.at(year[0]), (found[0], year[1])

    def near(span: Span) -> Span:
        gap = (number - span.begins.weekday()) % 7 or 7
        return calendar.day(calendar.add_days(span.begins, gap if side != "before" else gap - 7 or -7))

    return given(each(reading, near) if reading is not None else None, found[1])


def _weeks_away(scan: Scan, i: int, number: int) -> Found | None:
    """Parses the distance in weeks after a weekday: "Tuesday, three weeks from now", "Monday week".

    The day is in the week that the length leads to.
    """
    words, today = scan.words, scan.frame.today
    if words[i] == "week" and words[i + 1] not in ("of", "in", "to", "before", "after", "ending", "starting"):
        if words[i + 1].isdecimal() or scan.tense(i) < 0:
            return None
        ahead = settle(weekly(number), scan.frame, 1)
        return (calendar.day(calendar.add_days(ahead.begins, 7)), i + 1) if ahead else None
    j = scan.skip(i, ",")
    future = words[j] == "in"
    long = length(scan, j + 1 if future else j)
    if long is None or long[0].spread or any(unit not in ("week", "fortnight") for _, unit in long[0].parts):
        return None
    k = long[1]
    if words[k] in ("ago", "back") and not future:
        there, k = long[0].from_(today, scan.frame, -1), k + 1
    elif words[k] == "from" and words[k + 1] in ("now", "today") and not future:
        there, k = long[0].from_(today, scan.frame), k + 2
    elif future and words[k] not in ("'", "time") and scan.tense(i) >= 0:
        there = long[0].from_(today, scan.frame)
    else:
        return None
    near = calendar.add_days(there, (number - there.weekday() + 3) % 7 - 3)
    return in_week(calendar.day(there), number).or_else(calendar.day(near), 0.8), k


def _following_week(scan: Scan, i: int) -> tuple[Span, int] | None:
    """Parses the week after a weekday: "next week", "of the following week", "the week after next", "after next"."""
    words = scan.words
    j = scan.skip(scan.skip(scan.skip(i, ","), "of", "in"), "the")
    k = j + 1 if words[j] == "week" else i
    far = {("after", "next"): 2, ("before", "last"): -2}.get((words[k], words[k + 1]))
    if far is not None:
        return given(calendar.unit("week", scan.frame.now, far), k + 2)
    shift = SHIFTS.get(words[j])
    if shift is None or words[j + 1] not in ("week", "week's"):
        return None
    return given(calendar.unit("week", scan.frame.now, shift), j + 2)


def _same_month(span: Span, dom: int) -> Span | None:
    return calendar.date(span.begins.year, span.begins.month, dom)


_PREPOSITIONS = listed("on by until till since from to through between and before after")
_BEFORE_SPELLED = listed("on from between to till until through by")
_AFTER_DAY = words_of("english.after_day")
# An approximate day without a month is too vague for a statement. A question may still use it.
_ROUGHLY = listed("around about approximately roughly circa")


@opens("the", NUMBERS, ORDINALS, digits=True)
def day_of_month(scan: Scan, i: int) -> Found | None:
    """Parses a day without a month: "the 18th", "on the 17", "29th", "5th next month"."""
    words, last = scan.words, scan.before(i)
    j = scan.skip(i, "the")
    the = j > i
    if last in _ROUGHLY and not scan.asked:
        return None
    dom = ordinal(scan, j) or _bare_number(scan, j, last, the=the)
    if dom is None or not 1 <= dom[0] <= 31:
        return None
    number, k = dom
    if words[k] in ("and", "or", "&") and ordinal(scan, scan.skip(k + 1, "the")):
        shared = named(scan, k + 1)
        if shared is not None and shared[0].grain == "day":  # "the 3rd and 4th of June"
            return given(each(shared[0], lambda span: _same_month(span, number)), k)
    shift = SHIFTS.get(words[k])
    if shift is not None and words[k + 1] == "month":
        month = calendar.unit("month", scan.frame.now, shift)
        return given(_same_month(month, number) if month else None, k + 2)
    if not the and last not in _PREPOSITIONS:
        return None
    if (not words[j].isdecimal() and last not in _BEFORE_SPELLED) or (words[k] == "-" and scan.tight(k)):
        return None
    if words[k].isalpha() and words[k] not in _AFTER_DAY:
        return None
    return monthly(number, sure=0.75), k


def _bare_number(scan: Scan, i: int, last: str, *, the: bool) -> tuple[int, int] | None:
    """Parses digits without "th" that number a day: "on the 17", "on 17."."""
    day, after = scan.digits(i, 2), scan.words[i + 1]
    if day is None or last not in ("on", "by", "until", "since") or not (the or last == "on"):
        return None
    if (after.isalpha() and after not in listed("from at between and in")) or after in (":", "%", "/"):
        return None
    if (not the and after not in listed("$ . , ? ! at")) or (after == "." and scan.tight(i + 2)):
        return None
    return day, i + 1
