"""English offsets: a length before or after a moment, within a length, for a length from a moment."""

from dataclasses import replace

from .. import calendar
from ..calendar import Span, in_week
from ..cycles import Cycle, each, settle, weekly, yearly
from ..lengths import Length
from ..scan import Found, Scan, given, listed, packrat
from .near import present
from .numbers import first_length, integer, length, ordinal
from .simple import simple
from .weekdays import weekday_name
from .words import SEASON_WORDS, WEEKDAYS

_HERE = frozenset({"now", "today", "tomorrow", "yesterday"})
_MORE = {"more": 1, "over": 1, "less": -1, "under": -1}
_SUBJECTS = listed("i we he she they you it my our his her their when there")
_ENDS = listed("$ . , ! ? ; ) and but that -")
_BACK = listed("back earlier prior previously")
_SIGNS = {"from": 1, "after": 1, "since": 1, "following": 1, "before": -1}


def _anchor(scan: Scan, i: int) -> tuple[Span, int] | None:
    """Parses the moment that an offset starts from, as a span."""
    found = present(scan, i) or simple(scan, scan.skip(i, "on"))
    if found is None:
        return None
    return given(scan.settle(found[0], i), found[1])


@packrat
def offset(scan: Scan, i: int) -> Found | None:
    """Parses "two weeks ago", "3 days from Tuesday", "in 5 minutes", "within 2h", "3 days starting next Monday"."""
    words = scan.words
    word = words[i]
    if word in ("in", "within"):
        return _in(scan, i)
    if word in ("for", "going"):
        return _lasting(scan, i + 1) or so_far(scan, i)
    if word in _MORE:
        return _bounded(scan, i) or so_far(scan, i)
    return _behind(scan, i) or _lasting(scan, i) or _weekdays(scan, i) or so_far(scan, i)


_ALMOST = listed("about around almost nearly roughly over just well some like maybe")
_AGED = listed("is are am was were turned turns old i'm he's she's they're we're")


def so_far(scan: Scan, i: int) -> Found | None:
    """Parses a length that goes on: "for two years now", "six months so far", "going on three years"."""
    words = scan.words
    told, goes_on = words[i] == "for", words[i : i + 2] == ["going", "on"]
    if not told and not goes_on and words[i] not in ("more", "less") and scan.before(i) in _AGED:
        return None
    j = i + 2 if goes_on else i + told
    while words[j] in _ALMOST:
        j += 1
    j += 2 * (words[j] in ("more", "less") and words[j + 1] == "than")
    long = length(scan, j)
    if long is None:
        return None
    lasting, k = long
    word, after = words[k], words[k + 1]
    now = word == "now" and not (after in ("and", "or") and words[k + 2] in ("then", "later"))
    if now or (word == "already" and told):
        k += 1
    elif (word, after) in (("so", "far"), ("and", "counting")):
        k += 2
    elif not goes_on:
        return None
    return lasting.lasting(scan.frame), k


def _weekdays(scan: Scan, i: int) -> Found | None:
    """Parses "two Fridays ago", "3 Sundays from now", "two Mondays later", "two winters ago"."""
    words, today = scan.words, scan.frame.today
    many = integer(scan, i)
    if many is None or not 1 <= many[0] <= 500:
        return None
    number = WEEKDAYS.get(words[many[1]].removesuffix("s"))
    j = many[1] + 1
    back = words[j] == "ago"
    if not (back or words[j] == "later" or words[j : j + 2] == ["from", "now"]):
        return None
    if number is None:
        return _seasons_ago(scan, many[0], many[1]) if back else None
    gap = (today.weekday() - number) % 7 or 7 if back else (number - today.weekday()) % 7 or 7
    there = calendar.add_days(today, (-1 if back else 1) * (gap + 7 * (many[0] - 1)))
    return calendar.day(there), j + (2 if words[j] == "from" else 1)


def _seasons_ago(scan: Scan, count: int, i: int) -> Found | None:
    """Parses the plural name of a season after a count: "three summers ago"."""
    name = SEASON_WORDS.get(scan.words[i].removesuffix("s"))
    if name is None:
        return None
    cycle, now = yearly(lambda year: calendar.season(year, name), "season"), scan.frame.now
    over = [span for span in cycle.back(now) if span.end and span.end <= now]
    return (over[count - 1], i + 2) if count <= len(over) else None


def _behind(scan: Scan, i: int) -> Found | None:
    nth = ordinal(scan, scan.skip(i, "the"))
    if nth is not None and scan.words[nth[1]] == "day" and scan.words[nth[1] + 1] in ("after", "before"):
        return _placed(scan, (Length(((nth[0], "day"),)), nth[1] + 1))
    long = length(scan, i)
    found = _placed(scan, long) if long else None
    if found is None and long is not None:
        short = first_length(scan, i)
        found = _placed(scan, short) if short and short[1] != long[1] else None
    return found


def _placed(scan: Scan, long: tuple[Length, int]) -> Found | None:
    """Parses the direction after a length and the moment that it starts from, perhaps with a weekday."""
    found = _directed(scan, long)
    if found is None or long[0].fine or not isinstance(found[0], Span) or scan.words[found[1]] != "on":
        return found
    number = weekday_name(scan, found[1] + 1)
    if number is None or long[0].spread:
        return found
    return _near_weekday(found[0], number, long[0]), found[1] + 2


def _near_weekday(span: Span, number: int, lasting: Length) -> Span:
    """Returns the weekday that a length leads near to: in its week, or for months and years the first from it on."""
    weekday = span.begins.weekday()
    gap = (number - weekday) % 7
    if lasting.grain in ("day", "week"):  # a week from Sunday to Saturday
        gap = (number + 1) % 7 - (weekday + 1) % 7
    return calendar.day(calendar.add_days(span.begins, gap))


def _directed(scan: Scan, long: tuple[Length, int]) -> Found | None:
    words, frame = scan.words, scan.frame
    lasting, j = long
    side, after = words[j], words[j + 1]
    count, unit = lasting.parts[0]
    shifts = side in ("ago", "later") or (side, after) == ("from", "now")
    if unit == "weekend" and shifts and len(lasting.parts) == 1:
        there = calendar.unit("weekend", frame.now, round(-count if side == "ago" else count))
        return given(there, j + (2 if side == "from" else 1))
    told = after in _ENDS or side == "earlier" or (side == "back" and after in _SUBJECTS)
    if side == "ago" or (side in _BACK and told):
        on = _ago_on(scan, lasting, j + 1) if side == "ago" and not lasting.fine else None
        return on or given(lasting.shifted(lasting.now(frame), frame, -1), j + 1)
    if side in ("later", "hence", "afterwards"):
        return given(lasting.shifted(lasting.now(frame), frame, 1), j + 1)
    if side == "on" and unit == "week" and weekday_name(scan, j + 1) is not None and scan.tense(j) >= 0:
        ahead = settle(weekly(weekday_name(scan, j + 1) or 0), frame, 1)  # "a week on Tuesday"
        span = lasting.shifted(ahead, frame, 1) if ahead else None
        return (replace(span, ambiguous=False), j + 2) if span else None
    weeks = unit in ("week", "fortnight") and words[j - 2] == "a"
    if side in ("today", "tomorrow") and weeks and scan.tense(j) >= 0:
        base = calendar.day(calendar.add_days(frame.today, int(side == "tomorrow")))
        span = lasting.shifted(base, frame, 1)
        return (replace(span, grain="day"), j + 1) if span else None
    prior = (side, after) == ("prior", "to")
    sign, k = (-1, j + 2) if prior else (_SIGNS.get(side, 0), j + 1)
    if not sign:
        return None
    yearly = simple(scan, k) if words[k] not in _HERE else None
    if yearly is not None and isinstance(yearly[0], Cycle) and yearly[0].every == "year":
        shifted = each(yearly[0], lambda span: lasting.shifted(span, frame, sign), lasting.grain)
        return given(shifted, yearly[1])
    anchor = _anchor(scan, k)
    if anchor is None:
        told = side == "before" and words[k] in _ENDS
        span = lasting.shifted(lasting.now(frame), frame, -1) if told else None
        return given(span.doubted(0.6) if span else None, k)
    base = anchor[0]
    if side == "from" and weekday_name(scan, k) is not None and base.begins < frame.today:
        base = calendar.day(calendar.add_days(base.begins, 7))  # counted from the next Friday
    if not lasting.fine and base.grain == "second":
        base = calendar.day(base.begins)
    return given(lasting.shifted(base, frame, sign), anchor[1])


def _ago_on(scan: Scan, lasting: Length, i: int) -> Found | None:
    """Parses "a year ago today", "a week ago yesterday", "two weeks ago on Monday", "two years ago in May"."""
    words, frame = scan.words, scan.frame
    if words[i] in ("today", "yesterday"):
        base = calendar.day(calendar.add_days(frame.today, -(words[i] == "yesterday")))
        span = lasting.shifted(base, frame, -1)
        return (replace(span, grain="day"), i + 1) if span else None
    there = lasting.from_(frame.today, frame, -1)
    if lasting.grain == "year" and words[i] == "in" and not lasting.spread:
        found = simple(scan, i + 1)
        if found is None or not isinstance(found[0], Cycle) or found[0].every != "year":
            return None
        return given(found[0].at(there.year), found[1])
    j = scan.skip(i, "on")
    number = weekday_name(scan, j) if lasting.grain == "week" else None
    return given(in_week(calendar.day(there), number), j + 1) if number is not None else None


def _in(scan: Scan, i: int) -> Found | None:
    """Parses "in two weeks", a moment in the future. In a past sentence the words are only a length of time."""
    words, frame = scan.words, scan.frame
    j = scan.skip(i + 1, "about", "around", "approximately", "just", "exactly", "another", "over")
    bound = _MORE.get(words[j], 0) if words[j + 1] == "than" else 0
    j += 2 * bool(bound)
    placed = _behind(scan, j)
    if placed is not None:
        return placed
    long = length(scan, j)
    if long is None:
        return None
    lasting, k = long
    if words[k] == "'" or words[k - 1].endswith(("'s", "s'")):
        k = scan.skip(scan.skip(k, "'"), "time")
    if words[i] == "within" or (bound < 0 and scan.tense(i) >= 0):
        span = lasting.rolling(frame, 1)
        return (span if lasting.fine else replace(span, start=frame.today)), k
    if scan.tense(i) < 0:
        return None
    there = lasting.shifted(lasting.now(frame), frame, 1)
    whole = words[k] == "on" and not lasting.fine and not lasting.spread
    number = weekday_name(scan, k + 1) if whole else None
    return (_near_weekday(there, number, lasting), k + 2) if there and number is not None else given(there, k)


def _lasting(scan: Scan, i: int) -> Found | None:
    """Parses a range with a length and a start: "3 days starting from next Monday", "2 weeks from today"."""
    words = scan.words
    long = length(scan, i)
    if long is None:
        return None
    lasting, j = long
    j = scan.skip(j, ",")
    starting = words[j] in ("starting", "beginning", "commencing")
    if starting:
        j = scan.skip(j + 1, "from", "on", "at")
    elif words[j] == "from" and scan.before(i) == "for":
        j += 1
    else:
        return None
    anchor = _anchor(scan, j)
    if anchor is None:
        return None
    end = lasting.from_(anchor[0].begins, scan.frame)
    return replace(anchor[0], end=end, grain=lasting.grain, instant=False), anchor[1]


def _bounded(scan: Scan, i: int) -> Found | None:
    """Parses "more than 2 weeks ago", "less than 3 days after tomorrow"."""
    words, sign = scan.words, _MORE[scan.words[i]]
    than = words[i + 1] == "than"
    long = length(scan, i + 1 + than) if than or words[i] not in ("more", "less") else None
    placed = _placed(scan, long) if long else None
    if long is None or placed is None or not isinstance(placed[0], Span):
        return None
    there, side = placed[0].start, words[long[1]]
    anchor = _anchor(scan, long[1] + 1) if side in ("before", "after", "from") else None
    here = (anchor[0] if anchor else long[0].now(scan.frame)).start
    past = side in listed("ago before back earlier")
    start, end = (None, there) if past else (there, placed[0].end)
    if sign < 0:
        start, end = (there, here) if past else (here, there)
    return replace(placed[0], start=start, end=end, instant=False), placed[1]
