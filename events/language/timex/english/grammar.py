"""Applies the English grammar to a text from left to right."""

from collections.abc import Iterator

from ..calendar import Frame, Span
from ..clock import part
from ..cycles import Cycle
from ..scan import Mention, Scan, counted_day, given, listed, listed_day
from ..tables import words_of
from . import dates, near, pieces, relative, seasons, weekdays
from .numbers import length, ordinal, plain
from .ranges import span_of
from .simple import openers, simple
from .times import hours
from .words import MAGNITUDES, MONTHS, NUMBERS, PART_WORDS, UNITS, WEEKDAYS, EnglishScan

# The import of these modules registers their rules. `openers` returns the first words of the rules.
RULES = (dates, near, pieces, relative, seasons, weekdays)
_ALSO = ("and", "&", ",")
_REPEATS = frozenset({"every", "each", "any", "per", "everyday"})
_WEEKDAYS = frozenset(f"{name}s" for name in WEEKDAYS if name.endswith("day"))
_REGULARLY = listed("daily nightly weekly biweekly fortnightly monthly quarterly yearly annually")
_COUNTED = listed("for in within only just")
_TIMES = listed("once twice times")
# First words of expressions that do not express time by themselves.
_FUNCTION = words_of("english.function")
_CLOCK = listed("noon midday midnight noonish o'clock oclock quarter am pm date moment time")
_STARTS = openers().union(
    _FUNCTION, _CLOCK, _REPEATS, _WEEKDAYS, _REGULARLY, _TIMES, PART_WORDS, NUMBERS, MAGNITUDES
)
# Words that express time. An expression has one of these words or a digit near its first word.
_TIME_WORDS = (openers() - _FUNCTION).union(
    _CLOCK, PART_WORDS, (f"{word}'s" for word in PART_WORDS), UNITS, _WEEKDAYS, _REGULARLY, NUMBERS.keys() - {"one"},
    listed("may second third year's may's ago possible"),
)  # fmt: skip
_AHEAD = 5
"""An expression has a word of time or a digit within this many words after its first word."""


def findings(text: str, frame: Frame, *, asked: bool) -> Iterator[Mention]:
    """Yields the time expressions of a text from left to right, without overlaps."""
    scan = EnglishScan(text, frame, asked=asked)
    words = scan.words
    i, count = 0, len(scan)
    last: tuple[Span, int] | None = None
    next_time_word = _next_time_words(scan)
    while i < count:
        word = words[i]
        opens = word in _STARTS or (word[0].isdecimal() and plain(scan, i))
        if not opens or next_time_word[i] - i > _AHEAD:
            i += 1
            continue
        scan.forget()
        repeated = _past_set(scan, i) if word in _REPEATS else _past_regular(scan, i)
        if repeated > i:
            i = repeated
            continue
        found = (_told_from(scan, i, last) or _listed_day(scan, i, last)) if last else None
        found = found or span_of(scan, i)
        if found is not None and words[found[1]] == "of" and words[found[1] + 1] in _REPEATS:
            i = _past_set(scan, found[1] + 1)  # "the last Friday of every month"
            continue
        if found is not None:
            last = found
            yield Mention(scan.begins[i], scan.stops[found[1] - 1], found[0])
            i = found[1]
            continue
        before = scan.before(i)
        if word == "one" and words[i + 1] in ("day", "night") and before not in _COUNTED:
            i += 2
            continue
        article = word in ("a", "an") and before not in ("for", "about", "over", "within")
        lasting = length(scan, i) if not article else None
        if lasting is not None:
            yield Mention(scan.begins[i], scan.stops[lasting[1] - 1], None, lasting[0])
        i = lasting[1] if lasting is not None else i + 1


def _next_time_words(scan: Scan) -> list[int]:
    """Returns for each word the index of the next word of time or number, itself included."""
    words = scan.words
    count = len(scan)
    found = [0] * count
    after = count + _AHEAD + 1
    for i in range(count - 1, -1, -1):
        word = words[i]
        if word in _TIME_WORDS or word[0].isdecimal():
            after = i
        found[i] = after
    return found


def _past_set(scan: Scan, i: int) -> int:
    """Skips a repeated time such as "every week". It names no single time."""
    words = scan.words
    j = scan.skip(i + 1, "other", "single", "few", "couple", "of", "the", "second", "third")
    if words[i] == "everyday":
        return i + 1
    if words[j] == "year" and words[j + 1] in ("in", "on", "at"):
        return _past_cycle(scan, j + 1)
    found = span_of(scan, j) or length(scan, j)
    j = found[1] if found is not None else j + 1
    while words[j] in _ALSO and words[k := scan.skip(j + 1, *_ALSO)] in WEEKDAYS:
        if words[j] == "," and k == j + 1 and words[k + 1] not in _ALSO:
            break  # "every Tuesday, Friday we leave"
        j = k + 1  # "every Monday, Wednesday and Friday"
    return j


def _past_regular(scan: Scan, i: int) -> int:
    """Returns the word after a repeated time without "every": "Mondays at six", "once a year in May", "monthly on the
    5th". Returns `i` for other words."""
    words = scan.words
    if words[i] in WEEKDAYS and words[i + 1] in ("mornings", "afternoons", "evenings", "nights"):
        j = i + 2
    elif words[i] in _WEEKDAYS:
        j = i + 1
        while words[j] in ("and", "&", ",", "to", "-") and words[j + 1] in _WEEKDAYS:
            j += 2
        j = j + 1 if words[j] in PART_WORDS else j
    elif words[i] in _REGULARLY and scan.before(i) not in ("the", "my", "our", "this", "a", "last", "next"):
        j = i + 1
    elif words[i] in _TIMES and words[i + 1] in ("a", "an", "per", "each", "every") and words[i + 2] in UNITS:
        j = i + 3
    else:
        return i
    return _past_cycle(scan, j)


def _past_cycle(scan: Scan, i: int) -> int:
    """Skips the day and the time of day of a repeated time: "on March 3" after "yearly"."""
    found = simple(scan, scan.skip(i, "on", "in"))
    j = found[1] if found is not None and isinstance(found[0], Cycle) else i
    timed = hours(scan, j)
    return timed[1] if timed is not None else j


def _listed_day(scan: Scan, i: int, last: tuple[Span, int]) -> tuple[Span, int] | None:
    """Parses a listed day in the month of the day before it: "June 3rd and 5th"."""
    words = scan.words
    if last[1] != i - 1 or scan.before(i) not in ("and", "or", "&", ","):
        return None
    nth = ordinal(scan, scan.skip(i, "the"))
    if nth is None and i > 2 and words[i - 3] in MONTHS and words[i + 1] in _SENTENCE_END:
        nth = given(scan.digits(i, 2), i + 1)  # "May 9 and 10"
    if nth is None or words[nth[1]] == "of" or words[nth[1]] in {*MONTHS, *UNITS, *WEEKDAYS}:
        return None
    return given(listed_day(last, nth[0]), nth[1])


_SENTENCE_END = listed(". , ! ? ;") | {""}
_CLAUSE_END = listed(". , ! ? ; i we he she it they you my our") | {""}
_NEAR = 150
"""The most characters between a date and a day that it counts."""


def _told_from(scan: Scan, i: int, last: tuple[Span, int]) -> tuple[Span, int] | None:
    """Parses a day that an earlier date of the text counts: "the next day", "that evening", "the day before"."""
    words = scan.words
    j = scan.skip(i, "the")
    lead, name = words[j], words[j + 1]
    k = j + 2
    if lead in ("that", "same"):
        shift, k = 0, k + (name == "same")
        name = words[k - 1]
    elif lead in ("next", "following") and (j > i or name in PART_WORDS):
        shift = 1
    elif lead in ("day", "night") and name in ("before", "after") and j > i and words[k] in _CLAUSE_END:
        shift, name = 1 if name == "after" else -1, lead
    else:
        return None
    if name not in ("day", "morning", "afternoon", "evening", "night"):
        return None
    day = counted_day(scan, i, last, shift, _NEAR)
    return given(part(name).on(day) if day and name != "day" else day, k)
