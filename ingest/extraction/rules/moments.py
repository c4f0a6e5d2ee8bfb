"""The times of a sentence, as :mod:`events.language.timex` reads them: masked for the patterns, and resolved."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from events.language import timex
from events.language.timex.english.words import WEEKDAYS
from ingest.extraction.rules.sentences import Sentence, clause
from ingest.extraction.rules.values import TIME


@dataclass(frozen=True, slots=True)
class Moment:
    """A resolved time from ``start`` to ``end``, with its words and their offsets in the sentence.

    ``end`` is exclusive and lies after the last named day: "to May 3" ends at the end of May 3. ``start`` is None when
    the words name only an end ("until June"). ``alternative`` is the start of the other reading of ambiguous words.
    ``stretch`` is True when the words name both a begin and an end ("from 2011 to 2014").
    """

    start: datetime | None
    end: datetime | None
    words: str
    begin: int
    stop: int
    grain: str
    ambiguous: bool = False
    alternative: datetime | None = None
    stretch: bool = False

    @classmethod
    def of(cls, found: timex.Found, words: str) -> Moment:
        """Returns the moment of a time expression. An end that the speaker names is part of the range."""
        end = found.through or found.end
        return cls(
            found.start, end, words, found.begin, found.stop, found.grain, found.ambiguous, found.alternative,
            stretch=found.start is not None and found.through is not None,
        )  # fmt: skip

    @property
    def point(self) -> datetime | None:
        """The instant at which a state with this time began.

        This is the middle of a week or weekend, because nobody means its Monday. Otherwise it is the start.
        """
        if self.start is not None and self.end is not None and self.grain in ("week", "weekend"):
            middle = self.start + (self.end - self.start) / 2
            return middle.replace(hour=0, minute=0, second=0, microsecond=0)
        return self.start


# Words about time that name no date.
_VAGUE = re.compile(
    r"(?:recently|lately|the other day|nowadays|these days|soon|weekend|"
    r"最近|近来|近來|近期|这阵子|這陣子|以前|以后|以後|now|"
    r"currently)",
    re.IGNORECASE,
)
_OUTLANDISH = timedelta(days=366 * 120)


def _moments(times: Iterable[timex.Found], reference: datetime) -> list[Moment]:
    found = []
    for one in times:
        if (one.start is None and one.end is None) or one.grain == "second" or _VAGUE.fullmatch(one.text):
            continue
        if one.start is not None and abs(one.start - reference) > _OUTLANDISH:
            continue
        # "A month later we got a cat" counts from an earlier event whose time is unknown.
        if one.start is not None and one.start > reference and one.text.lower().endswith(" later"):
            continue
        found.append(Moment.of(one, one.text))
    return found


def nearest(found: list[Moment], sentence: Sentence, begin: int, stop: int) -> Moment | None:
    """Returns the time that belongs to ``begin``..``stop``, or None.

    A time inside the span wins, then a time in its clause. Otherwise the only time of the sentence counts when it opens
    the sentence.
    """
    if not found:
        return None
    inside = [one for one in found if one.begin < stop and one.stop > begin]
    if not inside:
        first, last = clause(sentence, begin, stop)
        inside = [one for one in found if one.begin < last and one.stop > first]
    if not inside and len(found) == 1 and found[0].stop <= begin:
        inside = found if found[0].begin <= (6 if sentence.chinese else 12) else []
    return min(inside, key=lambda one: (_distance(one, begin, stop), one.begin)) if inside else None


def _distance(one: Moment, begin: int, stop: int) -> int:
    return max(0, one.begin - stop, begin - one.stop)


def coming(sentence: Sentence, begin: int, stop: int, reference: datetime) -> Moment | None:
    """Returns the time in ``begin``..``stop`` as that of something to come, or None.

    "Moved to Friday" is the next Friday.
    """
    said = sentence.raw[begin:stop]
    words = _TO_EDGE.sub("", said)
    lead, tail = ("我會在", "見") if sentence.chinese else ("We will meet ", "")
    if (
        not sentence.chinese
        and words[:1].isupper()
        and not re.match(r"(?:on|at|in|by)\b", words, re.IGNORECASE)
    ):
        lead += "on "
    for one in timex.find(f"{lead}{words}{tail}", reference):
        if one.start is not None or one.end is not None:
            at = begin + len(said) - len(words)
            moment = replace(Moment.of(one, one.text), begin=at, stop=stop)
            # "Moved to Friday", said on a Friday, is the next one.
            passed = one.start is not None and one.grain == "day" and one.start <= reference
            return _later(moment, 7) if passed and _WEEKDAY.match(one.text) else moment
    return None


_WEEKDAY = re.compile(rf"(?:on )?(?:{'|'.join(WEEKDAYS)})\b|[周週]|星期|[礼禮]拜", re.IGNORECASE)


def _later(moment: Moment, days: int) -> Moment:
    length = timedelta(days=days)
    return replace(
        moment,
        start=moment.start + length if moment.start is not None else None,
        end=moment.end + length if moment.end is not None else None,
    )


_TO_EDGE = re.compile(r"^(?:(?:to|until|till|for|by|from) |[到至於于])+", re.IGNORECASE)


# The words between a state and the time that it began, with the first words of the time.
_ADDED = re.compile(
    r"[,(]? ?(?:(?:ever )?since|(?:(?:that|which) (?:was|were) |first |newly )*[a-z]+ed (?:since|back in|in|on)) ?"
)
_ADDED_ZH = re.compile(r"[,，、(（]?(?:自从?|从|于)?")


# The words between a time and the state that it limits.
_FROM = re.compile(r"from |since |starting |自|[从從]", re.IGNORECASE)
_SUBJECT = re.compile(r"[ ,(]*(?:(?:I|we|my|our)(?:'(?:m|ve|ll|re))?[ ]*)?", re.IGNORECASE)
_SUBJECT_ZH = re.compile(r"[ ，,、（(]*(?:我们?)?(?:就|都|会|要|将)*")


class Dates:
    """The times of a sentence. The grammar finds them once. Offsets are in the sentence."""

    def __init__(self, sentence: Sentence, reference: datetime) -> None:
        self._sentence = sentence
        self._reference = reference
        self._found = timex.find(sentence.raw, reference)
        self.moments = _moments(self._found, reference)

    @property
    def masked(self) -> str:
        """The plain text with :data:`TIME` in place of each character of a time. The length stays the same."""
        plain = self._sentence.plain
        for one in self._found:
            plain = plain[: one.begin] + TIME * (one.stop - one.begin) + plain[one.stop :]
        return plain

    def of(self, begin: int, stop: int) -> Moment | None:
        """Returns the time that belongs to ``begin``..``stop``, or None."""
        return nearest(self.moments, self._sentence, begin, stop)

    def limiting(self, begin: int, stop: int) -> Moment | None:
        """Returns the time beside ``begin``..``stop`` that says from when or until when: "since 2019", 下個月起.

        A time to come says so without such a word: "next year I live in Oslo".
        """
        plain, between = self._sentence.plain, _SUBJECT_ZH if self._sentence.chinese else _SUBJECT
        for one in self.moments:
            limits = (
                one.start is None or one.end is None or _FROM.match(one.words) or one.start > self._reference
            )
            beside = between.fullmatch(plain, one.stop, begin) or between.fullmatch(plain, stop, one.begin)
            if limits and beside is not None:
                return one
        return None

    def added(self, stop: int) -> Moment | None:
        """Returns the past time of words without a subject that follow ``stop``: ", diagnosed in 2018", "since May"."""
        words = (_ADDED_ZH if self._sentence.chinese else _ADDED).match(self._sentence.plain, stop)
        for one in self.moments:
            past = one.start is not None and one.start <= self._reference
            if past and words is not None and stop <= one.begin <= words.end() <= one.stop:
                return one
        return None
