"""Resolves the time hint of a card with timex. The model never computes a time."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

from events.language import timex
from events.language.chinese_script import has_cjk
from events.types.cards import SourceSpan
from events.types.turn_contract import local_said_at
from events.types.turns import TurnRecorded
from ingest.extraction.rules.moments import Moment

_INTERVAL = re.compile(r"(?<=\d)(Z|[+-]\d\d:\d\d)?\s*/\s*(?=\d{4}-)")
_ENDS = re.compile(r"[.!?](?=\s)|[。！？\n]")
# In Chinese a space, or a mark without one, stands between two sentences too.
PARTS = re.compile(rf"{_ENDS.pattern}|[!?](?=[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff])\s+(?![^\u4e00-\u9fff])")
CLAUSES = re.compile(rf"{PARTS.pattern}|[,，;；]")
_LONGEST_HINT = 200
_AROUND = 300  # Characters before and after a quote that may belong to its sentence.
_CLOCK = re.compile(
    r"(?<![\d:.])\d{1,2}(?:[:：]\d\d)?(?: ?[ap]\.?m\b\.?)?(?![\d:])"
    r"|(?:\d{1,2}|[一二两兩三四五六七八九十]{1,3})[点點](?:半|钟|鐘|整|[一二三]刻"
    r"|[零〇一二三四五六七八九十\d]{1,3}分?)?",
    re.IGNORECASE,
)
# The words with which a speaker takes back the time before them.
_TAKES_BACK = re.compile(
    r"\b(?:no,? ?wait|wait,? ?no|no|nope|wait|sorry|oops|i mean|i meant|actually|correction|scratch that"
    r"|make (?:that|it)|"
    r"rather)\b[\s,:;.…—–-]{0,4}(?:it'?s |it is |at |that'?s |the |make (?:that|it) )?$"
    r"|(?:不对|不對|不是|啊不|更正|应该是|應該是|[说說打讲講][错錯]了?|等等|等一下"
    r"|抱歉)[\s，,、：:。！!]{0,3}(?:应该)?(?:應該)?(?:是)?$",
    re.IGNORECASE,
)
_BACK = 120  # Characters before a clock time that are searched for the time that it corrects.
_HOLDING = re.compile(
    r"\b(?:have|has|been|now|already|so far|straight|running)\b|['’](?:ve|s been)\b|[了来來]", re.IGNORECASE
)
_AROUND_LENGTH = re.compile(
    r"^(?:(?:for|over|about|around|almost|nearly|roughly|more than|at least|a good|already|the|past|last|this)\s+)*"
    r"|(?:\s+(?:now|already|so far|straight|running|or so))*$|^(?:已[经經]|快|[将將]近|大概|大[约約]|差不多"
    r"|[有都住做])+"
    r"|[多]?(?:了|[以之]?[来來])*$",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"^(?:(?:by|before|until|till|up to|no later than|not later than|due|the)\s+)+|(?:[以之]?前|[为為]止)$"
    r"|^(?:到|在)",
    re.IGNORECASE,
)


_BARE_DAY = re.compile(
    r"(?:(?:from|on|between)\s+)?(?:the\s+)?\d{1,2}(?:st|nd|rd|th)"
    r"(?:\s*(?:to|until|till|through|and|-|–)\s*(?:the\s+)?\d{1,2}(?:st|nd|rd|th))?"
    r"|[\d一二三四五六七八九十廿]{1,3}[号號日]?(?:[到至~-][\d一二三四五六七八九十廿]{1,3})?[号號日]",
    re.IGNORECASE,
)
# A day whose month is named. The year alone or a weekday does not name a month.
_MONTH = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|月|\bmonth\b|\d[-/]\d", re.IGNORECASE
)


def moment(hint: str | None, turn: TurnRecorded, quote: SourceSpan, *, ahead: bool = False) -> Moment | None:
    """Returns the time that ``hint`` means on the clock of ``turn``, or None when the hint names no time.

    A hint in the words of the turn is resolved within its sentence, because the tense decides whether "on Tuesday" is
    past. A clock time that corrects another one ("8:15. No wait, 8:50") keeps the other one's day. Any other
    hint, for instance an ISO 8601 date, is resolved alone. A time with a start wins over a time without one, then the
    most confident time wins. With ``ahead``, words that may mean the past or the future mean the future. Without it, a
    time in the future is the one in the past that the words may also mean, when that is nearer.
    """
    if not hint or not hint.strip():
        return None
    hint = hint.strip()[:_LONGEST_HINT]
    begin, end = sentence(turn.text, quote.start, quote.end)
    words = turn.text[begin:end]
    # Folding the case of all words would move the places behind a letter such as İ, which becomes two.
    said = re.search(re.escape(hint), words, re.IGNORECASE)
    best: timex.Found | None = None
    if said is not None:
        at = said.start()
        best = _correcting(turn, begin + at, hint)
        if best is None:
            told = [*_found(words, turn)]
            spoken = [one for one in told if one.begin < at + len(hint) and at < one.stop]
            best = _in_its_month(spoken, told, turn, ahead=ahead) or _best(spoken)
    if best is None:
        best = _best(_found(_INTERVAL.sub(lambda found: f"{found[1] or ''} to ", hint), turn))
    if ahead and best is not None and best.end is not None and best.end <= turn.said_at:
        later = _carried(hint, turn, "我會{}去", "We will go {}")
        if later is not None and later.start is not None and later.start > turn.said_at:
            best = later
    elif not ahead and best is not None and (then := best.start or best.end) and then > turn.said_at:
        earlier = _carried(hint, turn, "我{}去了", "We went {}")
        before = None if earlier is None else earlier.start or earlier.end
        if before is not None and timedelta() <= turn.said_at - before < then - turn.said_at:
            best = earlier
    return None if best is None else Moment.of(best, hint)


def _carried(hint: str, turn: TurnRecorded, chinese: str, english: str) -> timex.Found | None:
    """Returns the time of a hint in a sentence that has a tense, or None."""
    return _best(_found((chinese if has_cjk(hint) else english).format(hint), turn))


def _in_its_month(
    spoken: Sequence[timex.Found], told: Iterable[timex.Found], turn: TurnRecorded, *, ahead: bool
) -> timex.Found | None:
    """Returns the days of ``spoken`` without a month ("the 6th to the 9th") in the month named before them, or None."""
    days = _best(one for one in spoken if one.start is not None and _BARE_DAY.fullmatch(one.text.strip()))
    if days is None or days.start is None:
        return None
    before = [one for one in told if one.stop <= days.begin and one.start is not None]
    month = before[-1] if before else None
    if month is None or month.start is None or not (month.grain == "month" or _MONTH.search(month.text)):
        return None
    first = month.start
    if ahead and month.end is not None and month.end <= turn.said_at:
        later = _best(
            _found(f"我會{month.text}去" if has_cjk(month.text) else f"We will go in {month.text}", turn)
        )
        first = later.start if later is not None and later.start is not None else first
    try:
        start = days.start.replace(year=first.year, month=first.month)
        if month.grain == "day" and start < month.start:  # "leaves on 28 October, comes back on the 3rd"
            start = start.replace(year=first.year + first.month // 12, month=first.month % 12 + 1)
    except ValueError:  # The month has no such day.
        return None
    if ahead and start < turn.said_at - timedelta(days=1):
        return None
    shift = start.replace(tzinfo=None) - days.start.replace(tzinfo=None)
    end, through = (
        None if one is None else (one.replace(tzinfo=None) + shift).replace(tzinfo=one.tzinfo)
        for one in (days.end, days.through)
    )
    if month in spoken and month.grain == "day" and month.start < start:
        # "Leaves on 28 October, comes back on the 3rd" is one stretch when the hint holds both days.
        return replace(month, end=end, through=through)
    return replace(days, start=start, end=end, through=through, ambiguous=False, alternative=None)


def deadline(hint: str, turn: TurnRecorded, found: Moment) -> Moment:
    """Returns the day or hour that limits ``found``, a time with an open start ("by Friday": Friday).

    Returns ``found`` when the words name no such day.
    """
    if found.start is not None:
        return found
    bare = _LIMIT.sub("", hint.strip()).strip()
    best = _best(one for one in _found(bare, turn) if one.start is not None) if bare else None
    if best is None or best.start is None or found.end is None or best.start > found.end:
        return found
    return Moment.of(best, hint)


def lasting(words: str, turn: TurnRecorded, hint: SourceSpan) -> Moment | None:
    """Returns the begin of the length of time that the hint says ("for two years now"), or None for other hints.

    The sentence must say that the time still runs: "I'm here for two weeks" says nothing of its begin.
    """
    length = _AROUND_LENGTH.sub("", hint.text.strip()[:_LONGEST_HINT]).strip()
    begin, end = sentence(words, hint.start, hint.end)
    if not length or not _HOLDING.search(words[begin : end + 1]):
        return None
    lengths = timex.find(length, local_said_at(turn))
    if len(lengths) != 1 or lengths[0].kind != "duration" or lengths[0].stop - lengths[0].begin < len(length):
        return None
    ago = _best(_found(f"{length}前" if has_cjk(length) else f"{length} ago", turn))
    if ago is None or ago.start is None or ago.start >= turn.said_at:
        return None
    return Moment(ago.start, None, hint.text, ago.begin, ago.stop, ago.grain, ago.ambiguous)


def _correcting(turn: TurnRecorded, at: int, hint: str) -> timex.Found | None:
    """Returns the time of a clock time that takes back an earlier one, on the earlier one's day, or None."""
    clock, start = hint, at
    for found in _CLOCK.finditer(hint):  # The hint may hold both times.
        if _TAKES_BACK.search(hint, 0, found.start()):
            clock, start = found[0], at + found.start()
    if not _CLOCK.fullmatch(clock.strip()):
        return None
    before = turn.text[max(0, start - _BACK) : start]
    mark = _TAKES_BACK.search(before)
    earlier = [*_CLOCK.finditer(before, 0, mark.start())] if mark is not None else []
    if not earlier:
        return None
    last = earlier[-1]
    mended = f"{before[: last.start()]}{clock.strip()}"
    return _best(one for one in _found(mended, turn) if one.stop > last.start())


def _found(text: str, turn: TurnRecorded) -> Iterable[timex.Found]:
    return (one for one in timex.find(text, local_said_at(turn)) if one.start or one.end)


def _best(found: Iterable[timex.Found]) -> timex.Found | None:
    return max(found, key=lambda one: (one.start is not None, one.confidence), default=None)


def sentence(text: str, start: int, end: int, ends: re.Pattern[str] = _ENDS) -> tuple[int, int]:
    """Returns the span of the sentences that a quote touches, at most 300 characters to either side of the quote.

    With :data:`PARTS` or :data:`CLAUSES` as ``ends`` the span is that of the smaller units.
    """
    begin = max(0, start - _AROUND)
    for mark in ends.finditer(text, begin, start):
        begin = mark.end()
    behind = ends.search(text, max(end - 1, 0), end + _AROUND)
    return begin, behind.end() if behind is not None else min(len(text), end + _AROUND)
