"""Masks the time words of a sentence, so that patterns can skip them, and resolves the times.

Masking is lexical and cheap: it only finds the words about time. The names of months, days, seasons and units are those
of :mod:`events.language.timex`. timex resolves a time only after a rule has found a statement that needs one.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from events.language import timex
from events.language.timex.english.words import MONTHS, SEASON_WORDS, UNITS, WEEKDAYS
from events.language.values import word_set
from ingest.extraction.rules.sentences import Sentence, clause, sentences

# Stands for every character of a time expression.
TIME = "\x01"


def _capitalised(words: Iterable[str]) -> str:
    """Returns the capitalised words as alternatives of a pattern, the longer ones first."""
    return "|".join(word.capitalize() for word in sorted(words, key=len, reverse=True))


# "May" is a verb more often than a month, so it has its own patterns.
_MONTH = _capitalised(MONTHS.keys() - {"may"})
_DAY = _capitalised(WEEKDAYS)
_COUNT = (
    r"\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|several|few|"
    r"(?:a )?couple(?: of)?|a few|many|some|half an?"
)
_SPAN = (
    "seconds?|minutes?|hours?|days?|nights?|weeks?|weekends?|fortnights?|months?|quarters?|semesters?|"
    "years?|decades?"
)
_LEAD = (
    r"(?:(?:ever|since|until|till|by|from|around|during|over|for|in|on|at|about|starting|beginning|"
    r"effective|as of|"
    r"back|early|earlier|late|later|mid|just|sometime|the|end of|start of|beginning of|middle of|this|last|"
    r"next|past|coming|previous|"
    r"following|upcoming|another|of|almost|nearly|over|roughly|around|more than|less than)[ -]){0,6}"
)
_TIMES_EN = re.compile(
    rf"(?<![\w'])(?:{_LEAD}(?:"
    rf"(?:{_MONTH})\b\.?(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?(?:,? (?:19|20)\d\d\b)?|"
    rf"\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH}|May)\b(?:,? (?:19|20)\d\d\b)?|"
    rf"May \d{{1,2}}\b(?:st|nd|rd|th)?(?:,? \d{{4}}\b)?|"
    rf"(?:{_DAY})\b\.?(?: (?:morning|afternoon|evening|night))?|"
    r"(?:the day (?:before|after) )?(?:yesterday|today|tomorrow|tonight)(?: (?:morning|afternoon|evening|"
    r"night))?\b|"
    rf"\d{{4}}[-/]\d{{1,2}}(?:[-/]\d{{1,2}})?\b|\d{{1,2}}/\d{{1,2}}(?:/\d{{2,4}})?\b|(?:19|20)\d\ds?\b|"
    rf"Q[1-4](?: \d{{4}})?\b|"
    rf"\d{{1,2}}(?:st|nd|rd|th)\b|"
    rf"(?:{_COUNT}) (?:{_SPAN})\b(?: (?:ago|back|from now|later|earlier|now))?|"
    rf"\d{{1,2}}(?::\d\d)? ?(?:am|pm|a\.m\.|p\.m\.)(?!\w)|noon\b|midnight\b)"
    rf"|(?:{_LEAD}(?:last|next|this|past|coming|previous|the other|every|each|in the|the) "
    rf"(?:(?:{_COUNT}|first|second|third|fourth) )?"
    rf"(?:{_SPAN}|morning|afternoon|evening|night|spring|summer|autumn|fall|winter|May|semester|Christmas|"
    r"Easter|Thanksgiving)\b(?: ago)?)"
    r"|(?:(?:back |early |late )?in|since|until|last|next|by) May\b"
    r"|(?:(?:in|over|during|since) )?(?:last )?(?:Christmas|Easter|Thanksgiving|Halloween|New Year's(?: "
    r"Eve| Day)?)\b"
    r"|(?:a (?:little )?)?while (?:ago|back)\b|the other day\b|at the moment\b|right now\b|these days\b|"
    r"nowadays\b|"
    r"for (?:a (?:long )?while|ages|years|months|weeks|now)\b|all (?:day|week|month|year)\b|long ago\b|so "
    r"far\b)"
)
_DIGIT = "[0-9０-９一二两三四五六七八九十廿百零〇]"
_UNIT = "(?:个?(?:天|日|周|星期|礼拜|月|季度?|学期|年|小时|钟头|分钟)(?:半|多)?)"
_TIMES_ZH = re.compile(
    r"(?:(?:大约|大概|差不多|就在|早在)?(?:自从|从|自|打从|在|到|于|直到)?(?:"
    r"(?:大前|前|昨|今|明|后|大后|当|同一|有一|那)天|(?:昨|今|明|当)(?:日|晚|早|夜)|"
    rf"(?:上+|下+|这|本|那|每)(?:一)?个?(?:周|星期|礼拜)(?:末|[一二三四五六日天]|[0-9])?|"
    r"(?:上+|下+|这|本)个?(?:月|季度?|学期)(?:初|底|末|中旬?)?|(?:周|星期|礼拜)(?:末|[一二三四五六日天])|"
    rf"(?:去|今|明|前|后|大前)年(?:年?[初底中末]|{_DIGIT}{{1,3}}月(?:{_DIGIT}{{1,3}}[日号]|份|初|底|中旬)?|春天|夏天|秋天|冬天|春节|夏季|冬季|"
    r"上半年|下半年)?|"
    rf"(?:民国)?{_DIGIT}{{2,4}}年(?:{_DIGIT}{{1,3}}月(?:{_DIGIT}{{1,3}}[日号]?|份|初|底)?|[初底])?|"
    rf"{_DIGIT}{{1,3}}月(?:{_DIGIT}{{1,3}}[日号]?|份|初|底|中旬)?|{_DIGIT}{{1,3}}[号](?![楼线码])|\d{{4}}[-/]\d{{1,"
    rf"2}}(?:[-/]\d{{1,2}})?|"
    rf"第?{_DIGIT}季度?|[Qq][1-4]|"
    rf"(?:过去|最近|近|这|前|未来|接下来)?(?:{_DIGIT}{{1,4}}|几|好几|半){_UNIT}(?:以?前|以?后|之前|之后|来|以来|内|多?了)?|"
    r"(?:上|下)半年|年[初底中]|月[初底中]|周末|(?:春节|中秋节?|端午节?|国庆节?|元旦|圣诞节?|除夕|清明节?)(?:期间|那天|当天)?|"
    rf"(?:刚才|刚刚|刚|最近|近来|目前|现在|如今|眼下|后来|前阵子|前几天|前些天|这阵子|这几天|这两天|不久前|一直以来|向来)|"
    rf"(?:凌晨|清晨|早上|上午|中午|下午|傍晚|晚上|半夜|深夜)(?:{_DIGIT}{{1,3}}[点:：](?:{_DIGIT}{{1,3}}分?|半|钟|整)?)|"
    # 一点 alone often means "a little".
    rf"(?!一点(?![半钟整零十二三四五\d]))(?:{_DIGIT}{{1,3}}[点:：](?:{_DIGIT}{{1,3}}分?|半|钟|整)?)|"
    r"(?:今年|去年|明年)?[春夏秋冬](?:天|季)|"
    r"凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|半夜|深夜"
    r")(?:的时候|那会儿|开始|起|以来|之前|之后|以后|以前|左右|前后|为止|那天|当天|期间)?)+"
)


# Every English time contains one of these words or a digit. Most sentences contain none, and this check costs a tenth
# of the pattern.
_TIMELY = frozenset(
    {*MONTHS, *WEEKDAYS, *SEASON_WORDS, *UNITS}
    | word_set(
        "yesterday today tomorrow tonight noon midnight semester semesters morning afternoon evening christmas easter "
        "thanksgiving halloween while moment now nowadays ages long far 0 1 2 3 4 5 6 7 8 9"
    )
)
_JOINT = re.compile("['-]")


# Every Chinese time contains one of these characters.
_TIMELY_ZH = frozenset(
    "天日晚早夜周星礼月季期年号/-0123456789Qq半节旦诞夕刚近现前今眼后阵几久直向来点:：晨午傍末春夏秋冬"
)


def tells_time(sentence: Sentence) -> bool:
    """Returns False when the sentence surely names no time. The check costs a tenth of :func:`mask`."""
    if sentence.chinese:
        return not _TIMELY_ZH.isdisjoint(sentence.plain)
    words = sentence.words
    if not words.isdisjoint(_TIMELY):
        return True
    return any(not _TIMELY.isdisjoint(_JOINT.split(word)) for word in words if "-" in word or "'" in word)


def mask(sentence: Sentence) -> str:
    """Returns the plain text with :data:`TIME` in place of each character of a time. The length stays the same."""
    if not tells_time(sentence):
        return sentence.plain
    if sentence.chinese:
        return _TIMES_ZH.sub(_hidden, sentence.plain)
    plain = sentence.plain
    # "Last week I …": only names of months and days keep their capital at the start of a sentence.
    first = plain.partition(" ")[0]
    if not first[:1].isupper() or first.lower().strip(",.") in _NAMED_TIMES:
        return _TIMES_EN.sub(_hidden, plain)
    masked = _TIMES_EN.sub(_hidden, plain[0].lower() + plain[1:])
    return masked if masked[0] == TIME else plain[0] + masked[1:]


_NAMED_TIMES = frozenset(
    {*MONTHS, *WEEKDAYS, "christmas", "easter", "thanksgiving", "halloween", "q1", "q2", "q3", "q4"}
)


def _hidden(found: re.Match[str]) -> str:
    return TIME * len(found[0])


@dataclass(frozen=True, slots=True)
class Moment:
    """A resolved time from ``start`` to ``end``, with its words and their offsets in the sentence.

    ``end`` is exclusive and lies after the last named day: "to May 3" ends at the end of May 3. ``start`` is None when
    the words name only an end ("until June"). ``alternative`` is the start of the other reading of ambiguous words.
    """

    start: datetime | None
    end: datetime | None
    words: str
    begin: int
    stop: int
    grain: str
    ambiguous: bool = False
    alternative: datetime | None = None

    @classmethod
    def of(cls, found: timex.Found, words: str) -> Moment:
        """Returns the moment of a time expression. An end that the speaker names is part of the range."""
        end = found.through or found.end
        return cls(
            found.start, end, words, found.begin, found.stop, found.grain, found.ambiguous, found.alternative
        )

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


def moments(sentence: Sentence, reference: datetime) -> list[Moment]:
    """Returns the times in the sentence, in order. The grammar leaves out recurring times and bare clock times."""
    found = []
    for one in timex.find(sentence.raw, reference):
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


_WEEKDAY = re.compile(rf"(?:on )?(?:{_DAY})|[周週]|星期|[礼禮]拜", re.IGNORECASE)


def _later(moment: Moment, days: int) -> Moment:
    length = timedelta(days=days)
    return replace(
        moment,
        start=moment.start + length if moment.start is not None else None,
        end=moment.end + length if moment.end is not None else None,
    )


_TO_EDGE = re.compile(r"^(?:(?:to|until|till|for|by|from) |[到至於于])+", re.IGNORECASE)


def first_moment(text: str, reference: datetime) -> Moment | None:
    """Returns the first time in ``text``, or None."""
    return next((found for one in sentences(text) for found in moments(one, reference)), None)


_LASTING = re.compile(
    r"\bfor (?:about |almost |nearly |over |more than |roughly |around |the (?:past|last) )?(?P<n>\d{1,2}|"
    r"a couple(?: of)?|half an?|an?|[a-z]+(?:-[a-z]+)?) (?P<u>day|week|month|year|decade)s?(?! (?:ago|old))",
    re.IGNORECASE,
)
_LASTING_ZH = re.compile(
    r"(?P<n>\d{1,2}|[一二两三四五六七八九十]{1,3}|半)个?(?P<u>天|周|星期|礼拜|月|年)(?P<half>半)?多?(?:[^，,。\d]{0,6})?了"
)
_PERFECT = re.compile(r"'ve\b|\bhave\b|\bhas\b|'s been\b")
_NUMBERS = {
    word: number
    for number, words in (
        *enumerate(
            (
                "a one an",
                "two",
                "three",
                "four",
                "five",
                "six",
                "seven",
                "eight",
                "nine",
                "ten",
                "eleven",
                "twelve",
                "thirteen",
                "fourteen",
                "fifteen",
                "sixteen",
                "seventeen",
                "eighteen",
                "nineteen",
                "twenty",
            ),
            start=1,
        ),
        (30, "thirty"),
        (40, "forty"),
        (50, "fifty"),
    )
    for word in words.split()
} | {"a couple": 2, "a couple of": 2, "half a": 0.5, "half an": 0.5, "半": 0.5}
_ZH_DIGITS = {digit: number for number, digit in enumerate("一二三四五六七八九", start=1)} | {"两": 2}
_GRAINS = {
    "天": "day",
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "月": "month",
    "年": "year",
    "decade": "year",
}


def _count(words: str) -> float:
    """Returns the number that the words name, or 0."""
    if words.isdecimal():
        return int(words)
    if (known := _NUMBERS.get(words.lower())) is not None:
        return known
    tens, ten, ones = words.partition("十")
    if not ten:
        return _ZH_DIGITS.get(words, 0)
    return 10 * _ZH_DIGITS.get(tens, 1) + _ZH_DIGITS.get(ones, 0)


def _before(reference: datetime, count: float, unit: str) -> datetime:
    """Returns the day ``count`` units before the reference, on the calendar."""
    day = reference.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit in ("day", "week"):
        return day - timedelta(days=round(count * (7 if unit == "week" else 1)))
    months = day.year * 12 + day.month - 1 - round(count * (12 if unit == "year" else 1))
    year, month = divmod(months, 12)
    return day.replace(year=year, month=month + 1, day=min(day.day, monthrange(year, month + 1)[1]))


def lasting(sentence: Sentence, begin: int, stop: int, reference: datetime) -> Moment | None:
    """Returns the start of a duration ("for three years") in the clause of ``begin``..``stop``, or None."""
    first, last = clause(sentence, begin, stop)
    if sentence.chinese:
        found = _LASTING_ZH.search(sentence.plain, first)
    else:
        found = (
            _LASTING.search(sentence.plain, 0 if first < 40 else first, last)
            if _PERFECT.search(sentence.plain, first, last)
            else None
        )
    if found is None:
        return None
    grain = _GRAINS.get(found["u"], found["u"].lower())
    count = _count(found["n"]) + (0.5 if found.groupdict().get("half") else 0)
    count *= 10 if found["u"].lower() == "decade" else 1
    if not 0 < count < 100:
        return None
    words = sentence.raw[found.start() : found.end()]
    return Moment(_before(reference, count, grain), None, words, found.start(), found.end(), grain)


class Dates:
    """The times of a sentence. The grammar finds them once, at the first question. Offsets are in the sentence."""

    def __init__(self, sentence: Sentence, reference: datetime) -> None:
        self._sentence = sentence
        self._reference = reference
        self._found: list[Moment] | None = None

    def of(self, begin: int, stop: int) -> Moment | None:
        if self._found is None:
            self._found = moments(self._sentence, self._reference)
        return nearest(self._found, self._sentence, begin, stop) or lasting(
            self._sentence, begin, stop, self._reference
        )
