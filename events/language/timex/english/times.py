"""English times of day: "5 pm", "half past seven", "from 10:30 to 3", "early in the morning"."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from ..clock import PARTS, Clock, Half, Hours, between, part, point, since, until, waking, waking_between
from ..lengths import Length
from ..scan import Scan, packrat
from .numbers import integer, length, plain
from .words import NUMBERS, PART_WORDS

Share = Literal["", "early", "late"]
Timed = tuple[Clock, int, bool]
"""A clock time, the next word, and True when the time is loose: a number that is a time only beside other words."""

_NAMED: dict[str, Clock] = {
    "noon": Clock(12, half="pm"),
    "midday": Clock(12, half="pm"),
    "noonish": Clock(12, half="pm"),
    "midnight": Clock(0),
}
_ABOUT = ("around", "about", "circa", "approximately", "roughly", "exactly")
_TO = frozenset({"to", "till", "til", "until", "through", "thru", "-", "–", "—", "~"})
_POINTING = frozenset({"at", "from", "to", "until", "till", "by", "around", "before", "after", "since"})
_HOURS = ("hours", "hrs", "h")
_MILITARY = frozenset({"at", "from", "between", "to", "until", "till", "and", "-", "by", "around"})
_SUNLIGHT = frozenset({"sunrise", "sunset", "dusk", "nightfall"})
_SIDES = {"by": until, "before": until, "until": until, "till": until, "after": since, "since": since}
_SHARES: dict[str, Share] = {"early": "early", "earlier": "early", "late": "late", "later": "late"}


def _meridiem(scan: Scan, i: int) -> tuple[Half | None, int]:
    """Parses the half of the day at word `i`. Without one it returns None and `i`."""
    word = scan.words[i]
    if word in ("am", "pm", "ampm"):
        return (None if word == "ampm" else "am" if word == "am" else "pm"), i + 1
    if word in ("a", "p"):
        half: Half = "am" if word == "a" else "pm"
        if scan.words[i + 1] == "." and scan.words[i + 2] == "m":
            return half, i + 4 if scan.words[i + 3] == "." else i + 3
        if scan.tight(i) and scan.words[i - 1].isdecimal():
            return half, i + 1
    return None, i


def _settled(scan: Scan, value: Clock, i: int, loose: bool) -> Timed:
    """Adds a following "am", "pm" or "o'clock" to a clock time."""
    ish = i + 1 if scan.words[i] == "-" and scan.words[i + 1] == "ish" and scan.tight(i) else i
    if scan.words[ish] == "ish" and scan.tight(ish):
        i, loose = ish + 1, False
    half, j = _meridiem(scan, i)
    if scan.words[j] in ("o'clock", "oclock"):
        half, j = _meridiem(scan, j + 1)
        loose = False
    if j > i:
        loose = False
    return replace(value, half=half or value.half), j, loose


@packrat
def clock(scan: Scan, i: int) -> Timed | None:
    """Parses a clock time: "noon", "half past seven", "10:30", "nine thirty"."""
    word = scan.words[i]
    if word in _NAMED:
        ish = scan.words[i + 1 : i + 3] == ["-", "ish"] and scan.tight(i + 1)
        return _NAMED[word], i + (3 if ish else 1), False
    if word == "mid" and scan.words[i + 1] in ("night", "day"):
        return _NAMED["mid" + scan.words[i + 1]], i + 2, False
    return _past(scan, i) or _digits(scan, i) or _spelled(scan, i)


def _two_digits(scan: Scan, i: int, mark: str) -> int | None:
    """Parses minutes or seconds: two digits directly after a mark at word `i`."""
    digits = scan.words[i + 1]
    if (
        scan.words[i] == mark
        and scan.tight(i)
        and scan.tight(i + 1)
        and len(digits) == 2
        and digits.isdecimal()
    ):
        return int(digits) if int(digits) < 60 else None
    return None


def _digits(scan: Scan, i: int) -> Timed | None:
    word = scan.words[i]
    if not word.isdecimal() or not word.isascii() or len(word) > 4:
        return None
    if len(word) >= 3:
        hour, minute = divmod(int(word), 100)
        if hour > 24 or minute > 59:
            return None
        if _is_military(scan, i):
            return (
                Clock(hour, minute, grain="minute", padded=word[0] == "0"),
                scan.skip(i + 1, *_HOURS),
                False,
            )
        found = _settled(scan, Clock(hour, minute, grain="minute"), i + 1, True)
        ranged = scan.before(i) in _MILITARY or (
            scan.words[i + 1] in _TO and scan.digits(i + 2, 4) and len(scan.words[i + 2]) == 4
        )
        return found if not found[2] or (len(word) == 4 and ranged) else None
    hour = int(word)
    if hour > 24:
        return None
    if hour == 12 and scan.words[i + 1] in ("noon", "midnight"):
        return _NAMED[scan.words[i + 1]], i + 2, False
    minutes = _two_digits(scan, i + 1, ":")
    after_h = _two_digits(scan, i + 1, "h")
    if after_h is not None:  # "17h30"; "2h30" may be a length
        return Clock(hour, after_h, grain="minute"), i + 3, scan.before(i) not in _POINTING
    if minutes is None:
        minutes = _two_digits(scan, i + 1, ".")
        if minutes is None:
            return _settled(scan, Clock(hour), i + 1, True)
        return _settled(scan, Clock(hour, minutes, grain="minute"), i + 3, True)
    seconds = _two_digits(scan, i + 3, ":")
    if seconds is None:
        return _settled(scan, Clock(hour, minutes, grain="minute", padded=word[0] == "0"), i + 3, False)
    return _settled(scan, Clock(hour, minutes, seconds, grain="second", padded=word[0] == "0"), i + 5, False)


def _is_military(scan: Scan, i: int) -> bool:
    """True when four digits are a time on their own: "at 0800", "0800 hours", "by 1400 hrs". They may count hours."""
    word, told = scan.words[i], scan.words[i + 1] in _HOURS
    if len(word) != 4:
        return False
    return (told and word[0] == "0") or (scan.before(i) in _POINTING and (told or word[0] == "0"))


def _hour(scan: Scan, i: int) -> tuple[int, int] | None:
    found = integer(scan, i)
    return found if found and 1 <= found[0] <= 12 else None


def _past(scan: Scan, i: int) -> Timed | None:
    """Parses "half past seven", "20 min past eight", "a quarter to five", "15 past seven"."""
    word = scan.words[i]
    j = i + 1 if word == "a" else i
    if scan.words[j] == "quarter":
        minute, j, spelled = 15, j + 1, True
    elif word == "half":
        minute, j, spelled = 30, i + 1, True
        hour = _hour(scan, j)
        if hour is not None and scan.before(i) in ("at", "by", "around", "about", "till", "until"):
            return _settled(scan, Clock(hour[0], 30, grain="minute"), hour[1], False)  # British "half ten"
    elif word in NUMBERS or word.isdecimal():
        found = integer(scan, i)
        if found is None or not 1 <= found[0] <= 59:
            return None
        minute, j, spelled = found[0], found[1], False
        if scan.words[j] in ("min", "mins", "minute", "minutes"):
            j, spelled = j + 1, True
    else:
        return None
    side = scan.words[j]
    told = minute % 5 == 0 and scan.before(i) in (("at", "by") if word in NUMBERS else ("at",))
    if side not in ("past", "to", "till") or (side != "past" and not spelled and not told):
        return None
    hour = _hour(scan, j + 1)
    if hour is None:
        return None
    total = (hour[0] * 60 + (minute if side == "past" else -minute)) % 720
    value = Clock(total // 60 or 12, total % 60, grain="minute")
    return _settled(scan, value, hour[1], False)


def _spelled(scan: Scan, i: int) -> Timed | None:
    """Parses "six pm", "nine thirty", "two forty-five", "seven o'clock"."""
    hour = NUMBERS.get(scan.words[i], 0)
    if not 1 <= hour <= 12:
        return None
    j = scan.skip(i + 1, "-")
    minutes = integer(scan, j)
    if minutes and scan.words[j] in NUMBERS and 10 <= minutes[0] <= 59:
        j = scan.skip(minutes[1], "minutes")
        return _settled(scan, Clock(hour, minutes[0], grain="minute"), j, True)
    return _settled(scan, Clock(hour), i + 1, True)


def part_of_day(scan: Scan, i: int) -> tuple[str, Share, int, bool] | None:
    """Parses a part of the day. Returns its name, its share, the next word, and True when other words confirm it."""
    words, j = scan.words, i
    share: Share = ""
    small = _small_hours(scan, scan.skip(scan.skip(i, "in", "during"), "the"))
    if small:
        return "small_hours", "", small, True
    if words[j] in _SHARES:
        share, j = _SHARES[words[j]], j + 1
    led = words[j] in ("in", "at", "during", "by")
    if led:
        j += 1
    j = scan.skip(j, "the")
    if not share and words[j] in _SHARES:
        share, j = _SHARES[words[j]], j + 1
    j = scan.skip(j, "-")
    if words[j] == "day" and share and led:
        return ("first_half" if share == "early" else "second_half"), "", j + 1, True
    name = PART_WORDS.get(words[j])
    if name is None:
        return None
    sunlit = words[j] in _SUNLIGHT
    if words[i] == "at" and not sunlit and name not in ("night", "dawn", "lunch", "dinner", "breakfast"):
        return None
    if sunlit and not share and words[j - 1] not in ("at", "by", "before", "after", "until", "around"):
        return None
    j += 1
    if words[j] == "-" and words[j + 1] == "time" and scan.tight(j):
        j += 2
    return name, share, j, led or (bool(share) and name not in ("lunch", "dinner", "breakfast"))


def _small_hours(scan: Scan, i: int) -> int:
    """Returns the word after "early hours" or "wee hours of the morning" at word `i`; 0 for other words."""
    words = scan.words
    if words[i] not in ("early", "small", "wee") or words[i + 1] != "hours":
        return 0
    return i + 5 if words[i + 2 : i + 5] == ["of", "the", "morning"] else i + 2


def _reading(scan: Scan, i: int) -> Timed | None:
    """Parses a clock time with the words around it: "around 3", "5 in the afternoon", "8:00 early morning"."""
    j = scan.skip(i, *_ABOUT)
    found = clock(scan, j)
    if found is None:
        return None
    value, j, loose = found
    day_part = part_of_day(scan, j)
    if day_part is not None and (day_part[3] or not loose) and PARTS[day_part[0]][2] is not None:
        half = PARTS[day_part[0]][2] if value.open else value.half
        return replace(value, half=half), day_part[2], False
    return value, j, loose


def _range(scan: Scan, i: int) -> tuple[Hours, int] | None:
    words = scan.words
    j = scan.skip(i, "at", "@")
    opener = words[j] if words[j] in ("from", "between") else ""
    if opener:
        j += 1
    if not plain(scan, j):
        return None
    first = _reading(scan, j)
    if first is None:
        return None
    j = first[1]
    to = words[j]
    if to not in _TO and not (opener == "between" and to == "and"):
        if opener == "from" and words[j] == "for":
            lasting = length(scan, j + 1)
            if lasting and lasting[0].fine:
                return _lasting(first, lasting[0]), lasting[1]
        return None
    last = _reading(scan, j + 1)
    if last is None:
        return None
    return waking_between(first[0], last[0], loose=first[2] and last[2]), last[1]


def _lasting(first: Timed, lasting: Length) -> Hours:
    begin = first[0].seconds()
    return Hours(begin, begin + lasting.seconds, "minute", loose=first[2], ambiguous=first[0].open)


def _open(scan: Scan, i: int) -> tuple[Hours, int] | None:
    """Parses "before 5pm", "after lunch", "no later than 3 pm", "as early as 9:30"."""
    words = scan.words
    word, j = words[i], i + 1
    closing = word in ("before", "until", "till", "by")
    if word == "no" and words[i + 1] in ("later", "earlier") and words[i + 2] == "than":
        closing, j = words[i + 1] == "later", i + 3
    elif word == "as" and words[i + 1] in ("late", "early") and words[i + 2] == "as":
        closing, j = words[i + 1] == "late", i + 3
    elif word not in ("before", "until", "till", "by", "after", "since", "from"):
        return None
    meal = PART_WORDS.get(words[j], "")
    if meal in ("lunch", "dinner", "breakfast"):
        named = part(meal)
        return (until(named) if closing else since(named, whole=True)), j + 1
    found = _reading(scan, j)
    if found is None:
        return None
    hours = waking(found[0], loose=found[2])
    stop = scan.skip(found[1], "on", "onward", "onwards") if word == "from" else found[1]
    return (until(hours) if closing else since(hours)), stop


@packrat
def hours(scan: Scan, i: int) -> tuple[Hours, int] | None:
    """Parses a time of day or a range of times. A loose time counts only beside a date."""
    words = scan.words
    found = _range(scan, i) or _open(scan, i)
    if found is not None:
        return found
    if words[i] == "for":
        lasting = length(scan, i + 1)
        if lasting and lasting[0].fine and words[lasting[1]] in ("from", "starting", "beginning"):
            first = _reading(scan, scan.skip(lasting[1] + 1, "at", "from"))
            if first:
                return replace(_lasting(first, lasting[0]), loose=False), first[1]
        return None
    day_part = part_of_day(scan, i)
    if day_part is not None:
        name, share, j, firm = day_part
        inner = _range(scan, scan.skip(j, ",")) or _pointed(scan, scan.skip(j, ","))
        if inner is not None:
            return within(scan, scan.skip(j, ","), PARTS[name][2]) or inner
        return replace(part(name, share), loose=not firm), j
    return _pointed(scan, i)


def _pointed(scan: Scan, i: int) -> tuple[Hours, int] | None:
    words = scan.words
    at = words[i] in ("at", "@")
    j = i + 1 if at else i
    if not at and not plain(scan, j):
        return None
    found = _reading(scan, j)
    if found is None:
        return None
    value, j, loose = found
    result = waking(value, loose=loose)
    if words[j] in ("or", "and") and words[j + 1] in ("later", "after"):
        return since(result), j + 2
    if words[j] in ("or", "and") and words[j + 1] in ("earlier", "before"):
        return until(result), j + 2
    return result, j


def within(scan: Scan, i: int, half: Half | None) -> tuple[Hours, int] | None:
    """Parses a time of day after a named part of the day: "this evening from 7 to 7:30"."""
    words = scan.words
    j = scan.skip(i, "at", "@")
    opener = words[j] in ("from", "between")
    side = _SIDES.get(words[j])  # "by 9 tonight"
    first = _reading(scan, j + 1 if opener or side else j)
    if first is None:
        return None
    if words[first[1]] in _TO or (opener and words[first[1]] == "and"):
        last = _reading(scan, first[1] + 1)
        if last is not None:
            return between(first[0], last[0], half), last[1]
    if first[2] and j == i and words[i] not in _ABOUT and not opener and not side:
        return None
    timed = point(first[0], half)
    return (side(timed) if side else timed), first[1]
