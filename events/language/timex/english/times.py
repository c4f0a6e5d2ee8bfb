"""English times of day: "5 pm", "half past seven", "from 10:30 to 3", "early in the morning"."""

from dataclasses import replace
from typing import Literal

from ..clock import PARTS, Clock, Half, Hours, between, part, point, since, until, waking, waking_between
from ..lengths import Length
from ..scan import Scan, given, listed, packrat
from .dates import named
from .numbers import integer, length, plain
from .words import NUMBERS, PART_WORDS

Share = Literal["", "early", "late"]
Timed = tuple[Clock, int, bool]
"""A clock time, the next word, and True when the time is loose: a number that is a time only beside other words."""

_NOON, _MIDNIGHT = Clock(12, half="pm"), Clock(0)
_NAMED = {"noon": _NOON, "midday": _NOON, "noonish": _NOON, "midnight": _MIDNIGHT}
_ABOUT = ("around", "about", "circa", "approximately", "roughly", "exactly")
_TO = listed("to till til until through thru - – — ~")
_POINTING = listed("at from to until till by around before after since")
_HOURS = ("hours", "hrs", "h")
_MILITARY = listed("at from between to until till and - by around")
_SUNLIGHT = listed("sunrise sunset dusk nightfall")
_MEALS = ("lunch", "dinner", "breakfast")
_SIDES = {"by": until, "before": until, "until": until, "till": until, "after": since, "since": since}
_SHARES: dict[str, Share] = {"early": "early", "earlier": "early", "late": "late", "later": "late"}


def _meridiem(scan: Scan, i: int) -> tuple[Half | None, int]:
    """Parses the half of the day at word `i`. Without one it returns None and `i`."""
    words, word = scan.words, scan.words[i]
    half: Half = "am" if word[:1] == "a" else "pm"
    if word in ("am", "pm", "ampm"):
        return (None if word == "ampm" else half), i + 1
    if word in ("a", "p"):
        if words[i + 1] == "." and words[i + 2] == "m":
            return half, i + 3 + (words[i + 3] == ".")
        in_code = scan.tight(i + 1) and words[i + 1].isdecimal()
        in_code = in_code or (scan.tight(i - 1) and words[i - 2].isalpha())  # a hash: "8f3c2a1"
        if scan.tight(i) and words[i - 1].isdecimal() and not in_code:
            return half, i + 1
    return None, i


def _settled(scan: Scan, value: Clock, i: int, loose: bool) -> Timed:
    """Adds a following "am", "pm", "-ish" or "o'clock" to a clock time."""
    ish = i + (scan.words[i] == "-" and scan.tight(i))
    if scan.words[ish] == "ish" and scan.tight(ish):
        i, loose = ish + 1, False
    half, j = _meridiem(scan, i)
    if scan.words[j] in ("o'clock", "oclock", "sharp"):
        half, j = _meridiem(scan, j + 1)
    return replace(value, half=half or value.half), j, loose and j == i


@packrat
def clock(scan: Scan, i: int) -> Timed | None:
    """Parses a clock time: "noon", "half past seven", "10:30", "nine thirty"."""
    words, word = scan.words, scan.words[i]
    if word in _NAMED:
        ish = words[i + 1 : i + 3] == ["-", "ish"] and scan.tight(i + 1)
        return _NAMED[word], i + (3 if ish else 1), False
    if word == "mid":
        j = scan.skip(i + 1, "-")
        middle = {"night": _MIDNIGHT, "day": _NOON}.get(words[j])
        return (middle, j + 1, False) if middle else None
    return _past(scan, i) or _digits(scan, i) or _spelled(scan, i)


def _two_digits(scan: Scan, i: int, *marks: str) -> int | None:
    """Parses minutes or seconds: two digits directly after a mark at word `i`."""
    number = scan.digits(i + 1, 2) if scan.words[i] in marks and scan.tight(i) and scan.tight(i + 1) else None
    return number if number is not None and len(scan.words[i + 1]) == 2 and number < 60 else None


def _digits(scan: Scan, i: int) -> Timed | None:
    words, word = scan.words, scan.words[i]
    number, padded = scan.digits(i, 4), word[:1] == "0"
    if number is None or (words[i + 1] == "/" and scan.tight(i + 1)):
        return None
    if len(word) >= 3:
        return _joined_digits(scan, i, number)
    if number > 24:
        return None
    if number == 12 and words[i + 1] in ("noon", "midnight"):
        return _NAMED[words[i + 1]], i + 2, False
    minutes = _two_digits(scan, i + 1, ":", ".", "h")
    if minutes is None:
        return _settled(scan, Clock(number), i + 1, True)
    value = Clock(number, minutes, grain="minute")
    if words[i + 1] == "h":  # "17h30"; "2h30" may be a length
        return value, i + 3, scan.before(i) not in _POINTING
    if words[i + 1] == ".":
        return _settled(scan, value, i + 3, True)
    seconds = _two_digits(scan, i + 3, ":")
    if seconds is None:
        return _settled(scan, replace(value, padded=padded), i + 3, False)
    return _settled(scan, Clock(number, minutes, seconds, grain="second", padded=padded), i + 5, False)


def _joined_digits(scan: Scan, i: int, number: int) -> Timed | None:
    """Parses three or four digits: "at 0800", "0800 hours", "by 1400 hrs", "1140 a.m.", "from 0730-0930"."""
    words, word = scan.words, scan.words[i]
    value = Clock(*divmod(number, 100), grain="minute")
    if value.hour > 24 or value.minute > 59:
        return None
    told, four = words[i + 1] in _HOURS, len(word) == 4
    if four and ((told and word[0] == "0") or (scan.before(i) in _POINTING and (told or word[0] == "0"))):
        return replace(value, padded=word[0] == "0"), scan.skip(i + 1, *_HOURS), False
    found = _settled(scan, value, i + 1, True)
    to = words[i + 1] in _TO and scan.digits(i + 2, 4) is not None and len(words[i + 2]) == 4
    return found if not found[2] or (four and (to or scan.before(i) in _MILITARY)) else None


def _hour(scan: Scan, i: int) -> tuple[int, int] | None:
    found = integer(scan, i)
    return found if found and 1 <= found[0] <= 12 else None


def _past(scan: Scan, i: int) -> Timed | None:
    """Parses "half past seven", "20 min past eight", "a quarter to five", "15 past seven"."""
    words, word, last = scan.words, scan.words[i], scan.before(i)
    j, spelled = scan.skip(i, "a"), True
    if words[j] == "quarter":
        minute, j = 15, j + 1
    elif word == "half":
        minute, j = 30, i + 1
        hour = _hour(scan, j)
        if hour is not None and last in listed("at by around about till until"):
            return _settled(scan, Clock(hour[0], 30, grain="minute"), hour[1], False)  # British "half ten"
    else:
        found = integer(scan, i) if word in NUMBERS or word.isdecimal() else None
        if found is None or not 1 <= found[0] <= 59:
            return None
        minute = found[0]
        j = scan.skip(found[1], "min", "mins", "minute", "minutes")
        spelled = j > found[1]
    side = words[j]
    told = minute % 5 == 0 and (last == "at" or (last == "by" and word in NUMBERS))
    hour = _hour(scan, j + 1) if side == "past" or (side in ("to", "till") and (spelled or told)) else None
    if hour is None:
        return None
    total = (hour[0] * 60 + (minute if side == "past" else -minute)) % 720
    return _settled(scan, Clock(total // 60 or 12, total % 60, grain="minute"), hour[1], False)


def _spelled(scan: Scan, i: int) -> Timed | None:
    """Parses "six pm", "nine thirty", "two forty-five", "seven o'clock"."""
    hour = NUMBERS.get(scan.words[i], 0)
    if not 1 <= hour <= 12:
        return None
    j = scan.skip(i + 1, "-")
    minutes = integer(scan, j) if scan.words[j] in NUMBERS else None
    if minutes and 10 <= minutes[0] <= 59:
        stop = scan.skip(minutes[1], "minutes")
        return _settled(scan, Clock(hour, minutes[0], grain="minute"), stop, True)
    return _settled(scan, Clock(hour), i + 1, True)


def part_of_day(scan: Scan, i: int) -> tuple[str, Share, int, bool] | None:
    """Parses a part of the day. Returns its name, its share, the next word, and True when other words confirm it."""
    words, j = scan.words, i
    small = _small_hours(scan, scan.skip(scan.skip(i, "in", "during"), "the"))
    if small:
        return "small_hours", "", small, True
    share = _SHARES.get(words[j], "")
    j += bool(share)
    led = words[j] in ("in", "at", "during", "by")
    j = scan.skip(j + led, "the")
    if not share and words[j] in _SHARES:
        share, j = _SHARES[words[j]], j + 1
    j = scan.skip(j, "-")
    word, name = words[j], PART_WORDS.get(words[j])
    if word == "day" and share and led:
        return ("first_half" if share == "early" else "second_half"), "", j + 1, True
    if name is None:
        return None
    sunlit = word in _SUNLIGHT
    if words[i] == "at" and not sunlit and name not in ("night", "dawn", *_MEALS):
        return None
    if sunlit and not share and words[j - 1] not in listed("at by before after until around"):
        return None
    j += 3 if words[j + 1 : j + 3] == ["-", "time"] and scan.tight(j + 1) else 1
    return name, share, j, led or (bool(share) and name not in _MEALS)


def _small_hours(scan: Scan, i: int) -> int:
    """Returns the word after "early hours" or "wee hours of the morning" at word `i`; 0 for other words."""
    words = scan.words
    if words[i] not in ("early", "small", "wee") or words[i + 1] != "hours":
        return 0
    return i + 5 if words[i + 2 : i + 5] == ["of", "the", "morning"] else i + 2


def _reading(scan: Scan, i: int) -> Timed | None:
    """Parses a clock time with the words around it: "around 3", "5 in the afternoon", "8:00 early morning"."""
    found = clock(scan, scan.skip(i, *_ABOUT))
    if found is None:
        return None
    value, j, loose = found
    day_part = part_of_day(scan, j)
    half = PARTS[day_part[0]][2] if day_part is not None and (day_part[3] or not loose) else None
    if day_part is None or half is None:
        return found
    return replace(value, half=half if value.open else value.half), day_part[2], False


def _range(scan: Scan, i: int) -> tuple[Hours, int] | None:
    words = scan.words
    j = scan.skip(i, "at", "@")
    opener = words[j] if words[j] in ("from", "between") else ""
    j += bool(opener)
    first = _reading(scan, j) if plain(scan, j) else None
    if first is None:
        return None
    j = first[1]
    if words[j] not in _TO and not (opener == "between" and words[j] == "and"):
        lasting = length(scan, j + 1) if opener == "from" and words[j] == "for" else None
        return (_lasting(first, lasting[0]), lasting[1]) if lasting and lasting[0].fine else None
    last = _reading(scan, j + 1)
    if last is None or (last[2] and not first[2] and named(scan, j + 1)):  # "18:00 to 1 December"
        return None
    return waking_between(first[0], last[0], loose=first[2] and last[2]), last[1]


def _lasting(first: Timed, lasting: Length) -> Hours:
    begin = first[0].seconds()
    return Hours(begin, begin + lasting.seconds, "minute", loose=first[2], ambiguous=first[0].open)


def _open(scan: Scan, i: int) -> tuple[Hours, int] | None:
    """Parses "before 5pm", "after lunch", "no later than 3 pm", "as early as 9:30"."""
    words, word, j = scan.words, scan.words[i], i + 1
    closing = word in ("before", "until", "till", "by")
    compared = words[i + 1] if words[i + 1] in ("late", "early", "later", "earlier") else ""
    if compared and (word, words[i + 2]) in (("no", "than"), ("as", "as")):
        closing, j = compared.startswith("late"), i + 3
    elif not closing and word not in ("after", "since", "from"):
        return None
    meal = PART_WORDS.get(words[j], "")
    if meal in _MEALS:
        return (until(part(meal)) if closing else since(part(meal), whole=True)), j + 1
    found = _reading(scan, j)
    if found is None:
        return None
    time = waking(found[0], loose=found[2])
    stop = scan.skip(found[1], "on", "onward", "onwards") if word == "from" else found[1]
    return (until(time) if closing else since(time)), stop


@packrat
def hours(scan: Scan, i: int) -> tuple[Hours, int] | None:
    """Parses a time of day or a range of times. A loose time counts only beside a date."""
    words = scan.words
    found = _range(scan, i) or _open(scan, i)
    if found is not None:
        return found
    if words[i] == "for":
        lasting = length(scan, i + 1)
        begins = lasting and lasting[0].fine and words[lasting[1]] in ("from", "starting", "beginning")
        first = _reading(scan, scan.skip(lasting[1] + 1, "at", "from")) if lasting and begins else None
        return (replace(_lasting(first, lasting[0]), loose=False), first[1]) if first and lasting else None
    day_part = part_of_day(scan, i)
    if day_part is None:
        return _pointed(scan, i)
    name, share, j, firm = day_part
    k = scan.skip(j, ",")
    inner = _range(scan, k) or _pointed(scan, k)
    if inner is not None:
        return within(scan, k, PARTS[name][2]) or inner
    return replace(part(name, share), loose=not firm), j


def _pointed(scan: Scan, i: int) -> tuple[Hours, int] | None:
    words = scan.words
    j = scan.skip(i, "at", "@")
    found = _reading(scan, j) if j > i or plain(scan, j) else None
    if found is None:
        return None
    time, k = waking(found[0], loose=found[2]), found[1]
    side = words[k + 1] if words[k] in ("or", "and") else ""
    if side in ("later", "after") or words[k] in ("onward", "onwards"):
        return since(time), k + 1 + bool(side)
    return (until(time), k + 2) if side in ("earlier", "before") else (time, k)


def within(scan: Scan, i: int, half: Half | None) -> tuple[Hours, int] | None:
    """Parses a time of day after a named part of the day: "this evening from 7 to 7:30"."""
    words = scan.words
    j = scan.skip(i, "at", "@")
    opener, side = words[j] in ("from", "between"), _SIDES.get(words[j])  # "by 9 tonight"
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
    return given(side(timed) if side else timed, first[1])
