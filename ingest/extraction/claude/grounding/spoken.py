"""The content, the entity and the origin of a card, as the speaker said them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

from events.language.chinese_script import has_cjk, to_simplified
from events.language.concepts import normalise_entity
from events.types.turns import TurnRecorded
from ingest.extraction.claude.grounding.evidence import Evidence
from ingest.extraction.claude.grounding.quotes import QuoteInContext
from ingest.extraction.claude.moments import PARTS
from ingest.extraction.extractor_port import CardEvent, Relation

SURE, LESS_SURE = 0.9, 0.75
"""Confidence of a card in the speaker's words, and of a card with another reading or in other words."""


def content_of(
    text: str, quote: QuoteInContext, evidence: Evidence, known: str, *, labelled: bool = False
) -> str | None:
    """Returns the content of a card, or None when the words refuse ``text``. Names in ``known`` need no evidence.

    The content is ``text`` when the words bear it out. It is what the speaker said when ``text`` is loose, and when the
    words refuse ``text`` of a card that is ``labelled`` with a known card.
    """
    spoken = as_spoken(text, quote.turn, quote.span.text)
    if spoken == quote.span.text:
        return spoken
    verdict = evidence.verdict(spoken, known=f"{known} {' '.join(quote.speakers)}")
    if verdict == "refused" and not labelled:
        return None
    return spoken if verdict == "borne" else quote.touched(PARTS) or quote.span.text


_Card_co = TypeVar("_Card_co", bound=CardEvent, covariant=True)


@dataclass(frozen=True, slots=True)
class Grounded(Generic[_Card_co]):
    """A card, the known facts that it is connected with, and the number of refused claims about it."""

    card: _Card_co
    relations: tuple[tuple[Relation, UUID], ...] = ()
    refused: int = 0


def ground(
    content: str, quote: QuoteInContext, attempt: Callable[[QuoteInContext], Grounded[_Card_co] | None]
) -> Grounded[_Card_co] | None:
    """Returns what ``attempt`` makes of a quote, alone or with one later turn when that bears out ``content``."""
    alone = attempt(quote)
    if alone is None or alone.card.content != as_spoken(content, quote.turn):
        for both in quote.with_later_turns():
            found = attempt(both)
            if found is not None and found.card.content == as_spoken(content, quote.turn):
                return found
    return alone


def owner_of(turn: TurnRecorded) -> str:
    """Returns the name of the speaker of a turn."""
    return turn.speaker or ("assistant" if turn.role == "assistant" else "user")


def entity_of(name: str, turn: TurnRecorded) -> str:
    """Returns ``name``, or the speaker when ``name`` is a word for oneself."""
    return owner_of(turn) if normalise_entity(name) == "user" else name.strip()


def as_spoken(text: str, turn: TurnRecorded, instead: str | None = None) -> str:
    """Returns ``text`` in the speaker's script.

    Returns ``instead``, the speaker's own words, when one is Chinese, Japanese or Korean and the other is not.
    """
    text = text.strip()
    if instead is not None and has_cjk(text) != has_cjk(instead):
        return instead
    if not has_cjk(text) or not has_cjk(turn.text):
        return text
    folded = to_simplified(turn.text)
    if folded == turn.text:
        return to_simplified(text)
    if to_simplified(text) != text:
        return text
    # The speaker writes traditional characters, and ``text`` has none. The speaker's characters replace them.
    spoken = {plain: written for written, plain in zip(turn.text, folded, strict=True) if written != plain}
    return "".join(spoken.get(character, character) for character in text)
