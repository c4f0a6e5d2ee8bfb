"""Finds labels: lines of nothing but short fields ("Topic: hiring. Id: 7") that come again with other values.

A label names the topic of the line beside it and says nothing about the topic. Its line therefore gets the votes of the
label. A line of fields that stands alone ("Blood type: O. Height: 180") is no label: it is all that the memory holds
about them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from events.language.terms import analyse
from projectors.cards.card import Card
from retrieval.query.question import Question

LINES_READ = 8
"""The lines above a line of fields, and the lines below it, that are searched for others with the same fields."""

_LEAST_FIELDS = 2
_LEAST_AGAIN = 1
_LONGEST = 160
_LEAST_STEM = 4  # letters of a word that stands for a longer one: "infra", "tech"
_SEAM = re.compile(r"[.;|\n](?:\s+|\Z)|[。；｜]\s*")
_FIELD = re.compile(r"\s*([^\W\d_][^:：]{0,24}?)\s*[:：]\s*(\S[^:：]{0,30})")


def fields_of(text: str) -> tuple[str, ...]:
    """Returns the names of the fields of a text, in lower case. A text with anything else beside them has none."""
    if len(text) > _LONGEST:
        return ()
    found = [_FIELD.fullmatch(piece) for piece in _SEAM.split(text) if piece.strip()]
    names = tuple(match[1].casefold() for match in found if match)
    return names if len(names) == len(found) >= _LEAST_FIELDS else ()


def possible_labels(cards: Iterable[Card], question: Question) -> list[UUID]:
    """Returns the lines of fields. A line with a field that the question names is asked for itself, and left out."""
    return [
        card.card_id
        for card in cards
        if card.episode
        and (fields := fields_of(card.content))
        and not any(_asked_for(field, question) for field in fields)
    ]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a session, above or below another one."""

    card_id: UUID
    text: str
    above: bool


def labelled(text: str, opening: str, lines: Sequence[Line]) -> UUID | None:
    """Returns the line that a line of fields labels, or None when it is no label.

    ``lines`` are the lines around it, the nearest first, and ``opening`` is the first line of the session. Labels stand
    above their lines where the session begins with one, and below their lines elsewhere.
    """
    fields = fields_of(text)
    if sum(fields_of(line.text) == fields for line in lines) < _LEAST_AGAIN:
        return None
    beside = (line for line in lines if line.above != (fields_of(opening) == fields))
    nearest = next(beside, None)
    return None if nearest is None or fields_of(nearest.text) == fields else nearest.card_id


def adds_a_word(label: Card, line: Card, question: Question) -> bool:
    """True when a label holds a word of the question, in full or cut short, that its line does not hold."""
    held = set(analyse(line.content))
    wanted = question.weights.keys() - held
    return any(
        word in wanted or (len(word) >= _LEAST_STEM and any(term.startswith(word) for term in wanted))
        for word in set(analyse(label.content)) - held
    )


def _asked_for(field: str, question: Question) -> bool:
    words = set(analyse(field))
    return bool(words) and words <= question.weights.keys()
