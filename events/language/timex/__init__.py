"""Time expressions: finds English and Chinese expressions and resolves them to absolute instants and ranges.

`find` resolves the expressions of a text relative to a reference. It is a pure function: it has no clock and no I/O, it
always gives the same answer, and no text makes it raise.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from . import stamps
from .calendar import Frame, Grain
from .chinese import grammar as chinese
from .english import grammar as english
from .numerals import Number, is_number_word, numbers
from .readings import CalendarDate, calendar_dates, month_of
from .scan import Mention

__all__ = [
    "CalendarDate", "Found", "Grain", "Number", "calendar_dates", "find", "is_number_word",
    "month_of", "numbers",
]  # fmt: skip

_CHINESE = re.compile(r"[\u3400-\u9fff]")
# Addresses of the net and of files, lines of files, and versions. The numbers in them are no times.
_ADDRESSING = re.compile(r"[/@\\]|\.\w+[.:]")
_ADDRESS = re.compile(
    r"\b[A-Za-z][A-Za-z0-9+.-]{1,9}://[!-~]+|\bwww\.[!-~]+|[A-Za-z][\w.+-]{0,63}@[\w-]{1,63}\.[\w.-]{1,190}"
    r"|(?<![\w.-])(?:[A-Za-z][\w-]{0,62}\.){1,4}[a-z]{2,12}/[!-~]+"
    r"|(?<![\w/])/(?:[A-Za-z][\w.-]{0,62}/)+[!-~]*|\b[A-Za-z]:\\[!-~]+"
    r"|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3,9}(?:[:/]\d{1,5})?|(?<=\w)\.[A-Za-z]\w{0,9}(?::\d{1,9}){1,2}(?![\d-])"
    r"|[A-Za-z](?:(?:[/@]|={1,2})?\d{1,4}(?:\.\d{1,4}){2}|:\d\d?(?:\.\d\d?){2}(?!\d))",
    re.ASCII,
)
_ISO_DATE = re.compile(r"([^0-9A-Za-z]\d{4}-\d\d-\d\d(?![0-9A-Za-z]))")
_LATIN = re.compile(r"[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Found:
    """One time expression in a text.

    - `begin`, `stop`: the offsets of `text` in code points.
    - `start`, `end`: aware instants in the zone of the reference, `end` exclusive. None is an open side. A length of
      time alone ("two hours") has neither.
    - `through`: the inclusive end, when it differs from `end`. A range "from X to Y" ends where Y begins, and its
      `through` is the end of Y. "the last five days" ends where today begins, and its `through` is now.
    - `grain`: the precision of the words. It may be coarser than the range: "two months ago" is one day of grain month.
    - `ambiguous`: True when another reading is about as likely.
    - `confidence`: the probability of this reading, 0.05 to 1.
    - `alternative`: the start of the other reading, when `ambiguous` words name two days. None when the other reading
      has no start of its own.
    - `vague`: True when the words give no exact amount ("a few years ago"). The range is then only an estimate.
    """

    text: str
    begin: int
    stop: int
    start: datetime | None
    end: datetime | None
    grain: Grain
    kind: Literal["instant", "range", "duration"]
    confidence: float
    ambiguous: bool
    through: datetime | None = None
    alternative: datetime | None = None
    vague: bool = False

    def as_json(self) -> dict[str, object]:
        """Returns the expression as a JSON object with ISO 8601 instants. An open side is null."""
        return {
            "text": self.text,
            "start": self.start and self.start.isoformat(),
            "end": self.end and self.end.isoformat(),
            "grain": self.grain,
            "kind": self.kind,
            "confidence": self.confidence,
        }


def find(
    text: str, reference: datetime, *, reading: Literal["statement", "question"] = "statement"
) -> list[Found]:
    """Returns the time expressions of a text in order, without overlaps.

    The tense of the clause says the direction of a bare "Friday" or "in May". Without a tense a weekday is in the past,
    and a month or a day of a month is the nearest one. Raises ValueError for a naive reference, and for nothing else.
    """
    frame = Frame.of(reference)
    asked = reading == "question"
    mentions: list[Mention] = []
    whole = text
    if _ADDRESSING.search(text) is not None:
        text = _ADDRESS.sub(_without_numbers, text)
    stamped = stamps.mentions(text, frame) if ":" in text else []
    if _CHINESE.search(text):
        mentions = list(chinese.findings(text, frame, asked=asked))
    if _LATIN.search(text) or not mentions:
        mentions = _merged(mentions, list(english.findings(text, frame, asked=asked)))
    mentions = _merged(stamped, mentions)
    return [found for mention in mentions if (found := _found(whole, frame, mention)) is not None]


def _without_numbers(address: re.Match[str]) -> str:
    """Returns an address as a word of the same length. Only its full ISO dates stay, as words of their own."""
    first, *rest = _ISO_DATE.split(address[0])
    words = ["x" * len(first)]
    for dated, after in zip(rest[::2], rest[1::2], strict=True):
        words += [" ", dated[1:], " " * bool(after), "x" * (len(after) - 1)]
    return "".join(words)


def _merged(first: list[Mention], second: list[Mention]) -> list[Mention]:
    """Returns both lists without overlaps. The longer mention stays; with equal lengths, the mention of `first`."""
    if not first or not second:
        return first or second
    kept: list[Mention] = []
    for mention in sorted([*first, *second], key=lambda one: one.begin):
        while kept and kept[-1].stop > mention.begin and kept[-1].weight < mention.weight:
            kept.pop()
        if not kept or kept[-1].stop <= mention.begin:
            kept.append(mention)
    return kept


def _found(text: str, frame: Frame, mention: Mention) -> Found | None:
    """Returns the mention with absolute instants; None when it lies outside the years of `datetime`."""
    begin, stop, span = mention.begin, mention.stop, mention.span
    if span is None:
        grain: Grain = mention.length.grain if mention.length else "second"
        return Found(text[begin:stop], begin, stop, None, None, grain, "duration", 0.8, False)
    try:
        start = frame.aware(span.start) if span.start else None
        end = frame.aware(span.end) if span.end else None
        through = frame.aware(span.through) if span.through else None
        other = frame.aware(span.other) if span.other and span.ambiguous and start is not None else None
    except (OverflowError, ValueError):
        return None
    if start and end and start >= end:
        return None
    kind: Literal["instant", "range"] = "instant" if span.instant else "range"
    sure = round(min(max(span.sure, 0.05), 1.0), 2)
    return Found(text[begin:stop], begin, stop, start, end, span.grain, kind, sure, span.ambiguous,
                 through, other, span.vague)  # fmt: skip
