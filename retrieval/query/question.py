"""Analyses a question once for all channels: words, concepts, time and intent."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Literal

from events.language import timex
from events.language.chinese_script import has_cjk, to_simplified
from events.language.concepts import concepts_asked
from events.language.terms import analyse, question_terms
from retrieval.query.question_forms import asks_for_overview, asks_the_assistant, parse_question
from retrieval.query.translation import other_names

Intent = Literal["present", "past", "history", "list", "why"]
Language = Literal["english", "chinese", "mixed", "none"]

_WORD_OF_A_TIME = 0.3
_OTHER_NAME = 0.5
_TIMES_READ = 600  # characters at each end of a long question

# Words that ask for a whole history, for the past, for reasons, and for several things at once.
_HISTORY = re.compile(
    r"\b(history|histories|ever|over time|all the|timeline of|so far|changed?)\b|历史|曾经|历来|变化|演变"
)
_BEFORE = re.compile(
    r"\b(used to|previous(ly)?|former(ly)?|before|earlier|back then|old|last|original(ly)?|at first|initial(ly)?|"
    r"in the beginning|to begin with)\b"
    r"|以前|之前|过去|当时|原本|原来|原先|本来|起初|起先|最初|当初|一开始|刚开始"
)
_PAST_TENSE = re.compile(r"\b(did|was|were|had)\b")

_WHY = re.compile(r"\b(why|how come|what made|what for|the reasons?)\b|为什么|为何|为啥|怎么会|原因|理由")
_LIST = re.compile(
    r"\b(list|which (ones|of)|what (are|were) (all|some|the)|name (all|some|the)|how many|everything|anything)\b"
    r"|哪些|列出|列举|有几|多少个|都有|所有"
)
# "Last" as an adverb, and as the adjective of a thing that the asker did something with. The group is the word itself.
_LAST = re.compile(
    r"\b((?:last|latest|most recent) time)\b|\b(most recent(?:ly)?|latest)\b"
    r"|\b(?:did|have|has|had|was|were) (?:my \w+|(?!my\b|the\b|your\b|our\b|his\b|their\b)\w+) (last)\b"
    r"|\b(last) \w+ed\b|\b(last)(?= *(?:\?|$))"
    r"|\b(?:my|the) (last) (?:\w+ ){1,3}?(?:i|we|he|she|they|that)\b"
    r"|((?:最近|最后|上)一?次|上一?回)",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\bhow many\b|\bwh(?:at|ich)(?: \w+){0,2} (?:\w+[^s\W]s|people|children|kids|men|women)\b"
    r"(?! (?:is|was|does|has)\b)"
    r"|\bwhat are\b|\bwho (?:are|all)\b|\b(?:list|name) (?:all|my|the|every)\b"
    r"|哪些|哪几|有几|几[个位种样只条]|多少[个人种]|列出|列举|都有|所有"
)
_HELPED = re.compile(
    r"\b(?:help|helps|helped|work|works|worked|relieved?|eased?|improved?)\b"
    r"|有帮助|有用|有效|见效|帮到|帮上忙|改善"
)
_NOT = re.compile(r"\b(?:not|never|\w+n't|failed|without)\b|[没不无]")
_SENTENCE_END = re.compile(r"((?<![.!?])[.!?]++(?=\s|\Z)|[。！？\n]+)")
_MESSAGE = 2  # sentences that tell something


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A range of time: start inclusive, end exclusive. None is an open side.

    A ``vague`` window ("lately") ranks the cards inside it higher and excludes no other card.
    """

    start: datetime | None
    end: datetime | None
    vague: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """An analysed question.

    ``parts`` are the separate requests of the question in their order, each as terms with weights. ``weights`` holds
    the terms of all parts. ``times`` are the time windows that the question names. ``now`` is the instant from which
    "yesterday" is computed. ``of_assistant`` is True when the question asks for what the assistant said. ``of_before``
    is True when it asks how things were before. ``message`` is True when it is a message that tells several things,
    whether or not it also asks. ``overview`` is True when it asks for all that is known about the asker. Such a
    question is about the present. ``last`` is True when it asks for the latest of several times. ``several`` is True
    when its answer is a list or a number of things. ``outcome`` says which attempts a question about what helped asks
    for.
    """

    text: str
    now: datetime
    language: Language
    parts: tuple[Mapping[str, float], ...]
    weights: Mapping[str, float]
    concepts: tuple[str, ...]
    times: tuple[TimeWindow, ...]
    intent: Intent
    of_assistant: bool = False
    of_before: bool = False
    message: bool = False
    overview: bool = False
    last: bool = False
    several: bool = False
    outcome: Literal["worked", "failed"] | None = None

    @property
    def terms(self) -> tuple[str, ...]:
        """The search terms in reading order."""
        return tuple(self.weights)

    @property
    def span(self) -> TimeWindow | None:
        """The one window that covers every time the question names, or None when it names no time."""
        if not self.times:
            return None
        starts = [window.start for window in self.times]
        ends = [window.end for window in self.times]
        return TimeWindow(
            None if None in starts else min(start for start in starts if start is not None),
            None if None in ends else max(end for end in ends if end is not None),
            all(window.vague for window in self.times),
        )


def understand(text: str, now: datetime) -> Question:
    """Analyses a question asked at ``now``, an aware datetime in the asker's time zone. Raises nothing for any text."""
    found = _times(text, now)
    # A time in a preamble ("busy these days... what I really want to know is") does not belong to the question.
    points = " ".join(part.text for part in parse_question(text))
    meant = found if points == text else _times(points, now)
    dated = [item for item in meant if item.kind != "duration" and not _means_now(item, now)]
    named_times = [_windows(item) for item in dated]
    windows = tuple(window for either in named_times for window in either)
    # The time channel answers the words of a time. As search terms they mostly find other dates, so they count
    # little. They still find a card with the same words ("the talk next Wednesday").
    latest = _last(text)
    spans = [(item.begin, item.stop) for item in found if item.kind != "duration"]
    rest = _without(text, [*spans, *latest])
    named = [item for item in dated if item.grain != "second" and _said(item) not in _LATELY]
    of_times = [term for item in named for term in question_terms(item.text)]
    timed = dict.fromkeys(of_times, _WORD_OF_A_TIME)
    parts: tuple[Mapping[str, float], ...] = tuple(timed | dict(part) for part in _parts(rest))
    parts = parts or _parts(text) or (dict.fromkeys(analyse(text), 1.0),)
    weights: dict[str, float] = {}
    for part in parts:
        for term, weight in part.items():
            weights[term] = max(weight, weights.get(term, 0.0))
    overview = asks_for_overview(text)
    folded = to_simplified(text[:_TIMES_READ].casefold().replace("’", "'"))
    if overview:
        windows = ()  # "so far", "today"
    return Question(
        text=text,
        now=now,
        language=_language(text),
        parts=parts,
        weights=weights,
        concepts=concepts_asked(text),
        times=windows,
        intent="present" if overview else _intent(text, named_times, now),
        of_assistant=asks_the_assistant(text),
        of_before=_BEFORE.search(to_simplified(text.casefold())) is not None,
        message=_sentences_told(points) >= _MESSAGE,
        overview=overview,
        last=bool(latest),
        several=_SEVERAL.search(folded) is not None,
        outcome=None if _HELPED.search(folded) is None else "failed" if _NOT.search(folded) else "worked",
    )


def _times(text: str, now: datetime) -> list[timex.Found]:
    """Returns the times of a question. A long message names the time that it asks for at one of its ends."""
    behind = len(text) - _TIMES_READ
    if behind <= _TIMES_READ:
        return timex.find(text, now, reading="question")
    first = timex.find(text[:_TIMES_READ], now, reading="question")
    last = timex.find(text[behind:], now, reading="question")
    return [*first, *(replace(each, begin=each.begin + behind, stop=each.stop + behind) for each in last)]


# A time is only as exact as its words: "two months ago" is a day that is right within weeks.
_WIDTHS = {
    "part_of_day": timedelta(hours=12),
    "week": timedelta(days=7),
    "month": timedelta(days=30),
    "quarter": timedelta(days=91),
    "season": timedelta(days=91),
    "year": timedelta(days=365),
}


# A fact that holds "now" or "these days" may be old, so these words set no window. "Lately" sets a vague window: new
# cards come first. So does a part of the day alone, because "in the morning" may be every morning.
_NOWADAYS = frozenset(("these days", "nowadays"))
_ANY_DAY = frozenset(
    ("in the morning", "in the mornings", "in the afternoon", "in the evening", "in the evenings")
)
_ANY_DAY |= frozenset(
    ("at night", "早上", "早晨", "上午", "中午", "下午", "傍晚", "晚上", "夜里", "半夜", "凌晨")
)
_NEAR = timedelta(days=14)
_LATELY = frozenset(("lately", "recently", "最近", "近来", "近期", "这阵子", "这段时间"))


def _means_now(found: timex.Found, now: datetime) -> bool:
    return _said(found) in _NOWADAYS or (found.grain == "second" and found.start == now)


def _said(found: timex.Found) -> str:
    return " ".join(to_simplified(found.text.casefold()).split())


def _windows(found: timex.Found) -> list[TimeWindow]:
    """Returns the time that is meant, and the other Friday that "on Friday" may mean when no tense decides."""
    window = _window(found)
    if found.alternative is None or window.start is None or window.end is None or found.start is None:
        return [window]
    apart = found.alternative - found.start
    if abs(apart) > _NEAR:
        return [window]
    return [window, replace(window, start=window.start + apart, end=window.end + apart)]


def _window(found: timex.Found) -> TimeWindow:
    start, end = found.start, found.through or found.end
    width = _WIDTHS.get(found.grain)
    if start is not None and end is not None and width is not None and end - start < width / 2:
        margin = (width - (end - start)) / 2
        with suppress(OverflowError):  # a time at the end of the calendar stays as it is
            start, end = start - margin, end + margin
    return TimeWindow(start, end, _said(found) in _LATELY | _ANY_DAY)


def _last(text: str) -> list[tuple[int, int]]:
    """Returns where the words stand that ask for the latest of several times. They are no words of the topic."""
    folded = to_simplified(text[:_TIMES_READ].replace("’", "'"))
    return [match.span(match.lastindex or 0) for match in _LAST.finditer(folded)]


def _sentences_told(text: str) -> int:
    pieces = _SENTENCE_END.split(text)
    ends = zip_longest(pieces[::2], pieces[1::2], fillvalue="")
    return sum(bool(sentence.strip()) and end[:1] not in ("?", "？") for sentence, end in ends)


def _parts(text: str) -> tuple[Mapping[str, float], ...]:
    # A name in the other language finds the cards that say it so. It counts less than the words of the question.
    return tuple(
        {**part.terms, **dict.fromkeys(other_names(part.text), _OTHER_NAME)}
        for part in parse_question(text)
        if part.terms
    )


def _language(text: str) -> Language:
    chinese, latin = has_cjk(text), any(letter.isascii() and letter.isalpha() for letter in text)
    if chinese and latin:
        return "mixed"
    return "chinese" if chinese else "english" if latin else "none"


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    until = len(text)
    for begin, stop in sorted(spans, reverse=True):
        if stop <= until:
            text, until = f"{text[:begin]} {text[stop:]}", begin
    return text


def _intent(text: str, times: Sequence[Sequence[TimeWindow]], now: datetime) -> Intent:
    folded = to_simplified(text.casefold())
    if _HISTORY.search(folded):
        return "history"
    if _WHY.search(folded):
        return "why"
    over = any(
        all(not each.vague and each.end is not None and each.end <= now for each in either)
        for either in times
    )
    if over or _BEFORE.search(folded) or _PAST_TENSE.search(folded):
        return "past"
    return "list" if _LIST.search(folded) else "present"
