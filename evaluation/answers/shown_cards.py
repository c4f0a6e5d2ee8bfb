"""What a reader of an answer sees: the words of each card, and the times that the card tells."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cached_property
from typing import Any
from xml.etree import ElementTree
from zoneinfo import ZoneInfo

from evaluation.answers.told_times import ToldTime, stretch, told_times
from events.language.terms import analyse, fold

_WORDS = ("content", "value", "title", "definition", "entity", "speaker")
_BETWEEN = (("from", "to"), ("at", "to"), ("on", "to"))
_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        [
            "zero",
            "one",
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
        ]
    )
}
_LATIN_WORD = re.compile(r"[A-Za-z]+")


class PromptUnknownError(RuntimeError):
    """The prompt has a form in which its cards cannot be told apart."""


@dataclass(frozen=True)
class ShownCard:
    """One card of an answer: its words with the words beside it, and its told times."""

    words: str
    times: tuple[ToldTime, ...]

    @cached_property
    def terms(self) -> frozenset[str]:
        """The search terms of the words. Small numbers are digits."""
        return frozenset(terms_of(self.words))

    @cached_property
    def folded(self) -> str:
        """The words without spaces, in one case and in simplified characters."""
        return "".join(fold(self.words).split())


def terms_of(text: str) -> list[str]:
    """Returns the search terms of ``text``, with small numbers as digits."""
    return analyse(_LATIN_WORD.sub(lambda match: _NUMBERS.get(match[0].lower(), match[0]), text))


def of_document(card: Mapping[str, Any], *, alone: bool = False) -> ShownCard:
    """Returns a card of the JSON document of a recall, as a reader sees it. ``alone`` leaves out the words
    of its turn."""
    words = [str(card[name]) for name in _WORDS if card.get(name)]
    words += [str(each["content"]) for each in card.get("beside") or () if not (alone and each["episode"])]
    told = card.get("when")
    return ShownCard("\n".join(words), tuple(told_times(str(told)) if told else _times(card)))


def of_prompt(text: str, cards: int, *, alone: bool = False) -> list[ShownCard]:
    """Returns the cards of a prompt in its order: every element of the block ``memory`` with its
    attributes and all words inside. ``alone`` leaves out the words of its turn.

    Raises :class:`PromptUnknownError` when there are not exactly ``cards`` of them.
    """
    try:
        root = ElementTree.fromstring(f"<prompt>{text}</prompt>")  # noqa: S314 - the text is our own and is bounded
    except ElementTree.ParseError as error:
        raise PromptUnknownError(f"the prompt is no XML: {error}") from error
    if alone:
        for element in root.iterfind("memory/*"):
            for turn in element.findall("turn"):
                element.remove(turn)
    found = [_of_element(element) for element in root.iterfind("memory/*")]
    if len(found) != cards:
        raise PromptUnknownError(
            f"the block `memory` holds {len(found)} elements, and the prompt says that it has {cards} cards"
        )
    return found


def _of_element(element: ElementTree.Element) -> ShownCard:
    words = [*element.itertext()]
    words += [text for each in element.iter() for text in each.attrib.values()]
    return ShownCard("\n".join(words), tuple(_times_of(element.attrib)))


def _times_of(attributes: Mapping[str, str]) -> Iterable[ToldTime]:
    told = {name: times for name, text in attributes.items() if (times := told_times(text))}
    for first, last in _BETWEEN:
        if first in told and last in told and (whole := stretch((*told[first], *told[last]))) is not None:
            yield whole
            del told[first], told[last]
    for times in told.values():
        yield from times


def _times(card: Mapping[str, Any]) -> Iterable[ToldTime]:
    """Yields the times of a card that tells none in words: its instants on its own clock, at their grain."""
    zone = _zone(card.get("time_zone"))
    if card["kind"] == "state":
        if card.get("value_at"):
            yield from _told(card["value_at"], card.get("value_until"), card.get("value_grain"), zone)
        start, end = card.get("effective_at"), None
    else:
        start, end = card.get("occurred_at"), card.get("occurred_until")
    if start is not None:
        grain = card.get("time_grain") if card.get("time_resolved") is not False else "day"
        yield from _told(start, end, grain, zone)


def _told(start: datetime, end: datetime | None, grain: str | None, zone: tzinfo) -> Iterable[ToldTime]:
    first = start.astimezone(zone).date()
    if grain in {"month", "year"}:
        text = first.isoformat()
        yield from told_times(text[:7] if grain == "month" else text[:4])
        return
    last = first
    if end is not None and end > start:
        last = (end - timedelta(microseconds=1)).astimezone(zone).date()
    yield ToldTime(first, last)


def _zone(name: str | None) -> tzinfo:
    if not name:
        return UTC
    if name[0] in "+-":
        hours, minutes = name[1:].split(":")
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-offset if name[0] == "-" else offset)
    return ZoneInfo(name)
