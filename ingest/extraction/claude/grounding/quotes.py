"""Finds the quotes of a model in the turns, and the words around each quote that a card may rest on."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from html import unescape

from events.language.forget_requests import hidden_requests
from events.types.cards import SourceSpan
from events.types.turns import TurnRecorded
from ingest.extraction.claude.grounding.evidence import Evidence, points_back
from ingest.extraction.claude.moments import lasting, moment, sentence
from ingest.extraction.memory_blocks import without_memory_blocks
from ingest.extraction.prompt_injection import trusted
from ingest.extraction.rules.moments import Moment

_SPACE = re.compile(r"\s")
_LATIN = re.compile(r"[A-Za-z0-9]{2}")  # Two letters of one word.
_QUOTES = str.maketrans("‘’“”", "''\"\"")
_BEFORE = 2_000  # Characters before a sentence in which a word that points back may find its meaning.
_AROUND = 6_000  # Characters to either side in which a name may have been said.
_LATER = 3  # Later turns of the speaker that may name what the quote is about.
_QUESTION = re.compile(r"[^.!?。！？\n]*[?？]")


class TurnWords:
    """The words of one turn. Finds a quote without regard to spaces, case and width."""

    def __init__(self, turn: TurnRecorded) -> None:
        self.turn = turn
        self.words = without_memory_blocks(turn.text)
        # A prompt injection stays in the turn's words, but no card rests on it.
        self.trusted = trusted(hidden_requests(self.words))
        self._plain, self._places = _plain(self.trusted)

    def find(self, quote: str, *, after: int = 0) -> SourceSpan | None:
        """Returns the span of ``quote``, or None. A span that begins at ``after`` or later wins.

        A quote inside a memory block or a prompt injection does not count.
        """
        for wanted in dict.fromkeys((quote, unescape(quote))):
            plain, _ = _plain(wanted)
            at = self._plain.find(plain) if plain else -1
            if at < 0:
                continue
            if after:
                later = (place for place in _all(plain, self._plain) if self._places[place] >= after)
                at = next(later, at)
            start, end = self._places[at], self._places[at + len(plain) - 1] + 1
            return SourceSpan(turn_id=self.turn.turn_id, start=start, end=end, text=self.turn.text[start:end])
        return None

    def says(self, value: str) -> bool:
        """Returns True when ``value`` occurs in the trusted words. "cat" does not occur in "educate"."""
        plain, _ = _plain(value)
        return any(self._is_whole(at, at + len(plain)) for at in _all(plain, self._plain)) if plain else False

    def _is_whole(self, start: int, end: int) -> bool:
        """Returns True when no Latin word goes on before ``start`` or behind ``end``, places in the plain words."""
        first, last = self._places[start], self._places[end - 1]
        return not (_LATIN.match(self.trusted, first - 1) if first else None) and not _LATIN.match(
            self.trusted, last
        )


@dataclass(frozen=True, slots=True)
class SpokenTime:
    """The time that a hint means. ``moment`` is None when the hint names no time.

    ``said`` is False when the hint is not in the words of the turns.
    """

    moment: Moment | None = None
    said: bool = True

    @property
    def alternative(self) -> datetime | None:
        """The start of the other reading of an ambiguous hint, or None."""
        return self.moment.alternative if self.moment is not None else None

    @property
    def sure(self) -> bool:
        """False when another reading of the hint is about as likely, or when nobody said the hint."""
        return self.said and not (self.moment is not None and self.moment.ambiguous)


class QuoteInContext:
    """A quote in its turn, with the words around it. ``turns`` are all turns; ``batch`` is the first that is read.

    ``turn_ids`` are the turns that the card rests on: that of the quote, and perhaps a later one.
    """

    def __init__(
        self, turns: Sequence[TurnWords], batch: int, index: int, span: SourceSpan, shown: str = ""
    ) -> None:
        """``shown`` are the words of the known facts and plans that the prompt showed."""
        self.words = turns[index]
        self.turn = self.words.turn
        self.turn_ids: tuple[str, ...] = (self.turn.turn_id,)
        self.span = span
        begin, end = sentence(self.words.trusted, span.start, span.end)
        self.begin = begin
        self.sentence = self.words.trusted[begin:end].strip()
        self.speakers = tuple(dict.fromkeys(one.turn.speaker for one in turns if one.turn.speaker))
        said = [one.trusted for one in turns[:index] if one.turn.role == "user"]
        asked = _asked(turns[index - 1]) if index else ""
        self._before = "\n".join((*said, asked, self.words.trusted[:begin]))[-_BEFORE:]
        spoken = "\n".join(said)
        later = "\n".join(one.trusted for one in turns[index + 1 :] if one.turn.role == "user")
        self._turn = self.words.trusted[max(0, begin - _AROUND) : end + _AROUND]
        names = " ".join(self.speakers)
        self._context = f"{self._before}\n{self._turn}\n{names}\n{shown}"
        self._around = f"{spoken[-_AROUND:]}\n{self._turn}\n{names}\n{shown}\n{later[:_AROUND]}"
        others = [place for place in range(batch, len(turns)) if place != index]
        others.sort(key=lambda place: (not same_speaker(turns[place].turn, self.turn), abs(place - index)))
        self._nearby = [turns[place] for place in others if turns[place].turn.role == "user"]
        own = [one for one in turns[index + 1 :] if same_speaker(one.turn, self.turn)]
        self._later = own[:_LATER]

    def with_later_turns(self) -> Iterator[QuoteInContext]:
        """Yields the quote with each of the next turns of its speaker as if these words came before it.

        "I adopted one! … The puppy sleeps now": a card of the first turn may name the puppy. It rests on both turns.
        """
        for words in self._later:
            both = copy(self)
            both._before = f"{self._before}\n{words.trusted}"
            both._context = f"{self._context}\n{words.trusted}"
            both.turn_ids = (*self.turn_ids, words.turn.turn_id)
            yield both

    def touched(self, ends: re.Pattern[str]) -> str:
        """Returns the words between the ``ends`` around the quote."""
        begin, end = sentence(self.words.trusted, self.span.start, self.span.end, ends)
        return self.words.trusted[begin:end].strip()

    def evidence(self, *, back: bool = False, known: str = "") -> Evidence:
        """Returns the evidence for a state or an event: the sentence of the quote, and the words ``known``.

        When the sentence points back, or with ``back``, the words shortly before it count too, whoever said them, and
        the question that it answers. Otherwise these words, the names of the speakers and the shown words only resolve
        what the sentence says.
        """
        near = self.sentence
        if back or points_back(near):
            near = f"{self._before}\n{near}"
        return Evidence(f"{known}\n{near}" if known else near, self._around, self._context)

    def explanation(self) -> Evidence:
        """Returns the evidence for a definition: the words around the quote in its turn."""
        return Evidence(self._turn, self._around, self._context)

    def when(self, hint: str | None, *, ahead: bool = False, holds: bool = False) -> SpokenTime:
        """Returns the time of ``hint``, on the clock of the turn that says it.

        The quote's own turn comes first, then the nearest turn of the same speaker in the batch, then of others. With
        ``ahead`` an ambiguous hint means the future. With ``holds`` a length of time ("for two years now") means that
        long before the turn.
        """
        if not hint or not hint.strip():
            return SpokenTime()
        hint = hint.strip()
        for words in (self.words, *self._nearby):
            own = words is self.words
            span = words.find(hint, after=self.begin if own else 0)
            if span is not None:
                since = lasting(words.trusted, words.turn, span) if holds else None
                return SpokenTime(since or moment(hint, words.turn, self._place(span), ahead=ahead))
        return SpokenTime(moment(hint, self.turn, self.span, ahead=ahead), said=False)

    def _place(self, hint: SourceSpan) -> SourceSpan:
        """Returns the quote when it holds the hint or lies in its sentence, else the hint itself."""
        if hint.turn_id != self.turn.turn_id:
            return hint
        begin, end = sentence(self.turn.text, self.span.start, self.span.end)
        return self.span if begin <= hint.start and hint.end <= end else hint


def place(number: int, quote: str, words: Sequence[TurnWords]) -> tuple[int, SourceSpan] | None:
    """Returns the index of the turn with the quote, and the span, or None.

    The model may name the wrong turn. The nearest other turn with the quote is then taken.
    """
    wanted = number - 1
    order = sorted(range(len(words)), key=lambda index: (index != wanted, abs(index - wanted)))
    for index in order:
        span = words[index].find(quote)
        if span is not None:
            return index, span
    return None


def same_speaker(one: TurnRecorded, other: TurnRecorded) -> bool:
    """Returns True when both turns have one role and one speaker."""
    return (one.role, one.speaker) == (other.role, other.speaker)


def _asked(words: TurnWords) -> str:
    """Returns the questions of a turn of an assistant. A person's turn counts as a whole elsewhere."""
    return "\n".join(_QUESTION.findall(words.trusted)) if words.turn.role == "assistant" else ""


def _all(wanted: str, text: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _plain(text: str) -> tuple[str, list[int]]:
    """Returns ``text`` without spaces, in one case and width, and the source offset of each character."""
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if _SPACE.match(character):
            continue
        # NFKD, because the quote may have an accent as a separate character.
        for plain in unicodedata.normalize("NFKD", character.translate(_QUOTES)).casefold():
            if not _SPACE.match(plain):
                characters.append(plain)
                places.append(place)
    return "".join(characters), places
