"""A recall as prompt blocks, in an order that a prompt cache can use.

The stable blocks come first, then the blocks of the question, and the time last. The text before the first card is
therefore the same for every question, byte for byte.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any
from uuid import UUID
from xml.sax.saxutils import escape, quoteattr

from retrieval.cards.alerts import Contradiction
from retrieval.context.token_estimate import count_tokens
from retrieval.recall.answer import CardAnswer, RecallAnswer

_STABLE = ("core", "guard_rules")
_KIND_BLOCKS = {
    "state": "state_cards",
    "event": "event_cards",
    "knowledge": "knowledge_cards_referenced",
}
# Characters that XML 1.0 does not allow, escaped or not.
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class BudgetTooSmallError(ValueError):
    """The token budget is smaller than ``least``, the tokens of the blocks that are always present."""

    def __init__(self, least: int) -> None:
        super().__init__(f"the blocks that are always there take {least} tokens")
        self.least = least


@dataclass(frozen=True, slots=True)
class Block:
    """One XML element with its line end. A ``stable`` block is the same for every question."""

    name: str
    text: str
    tokens: int
    stable: bool


@dataclass(frozen=True, slots=True)
class NumberedCard:
    """The number that a card has in a prompt, from 1."""

    n: int
    card_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """An answer as prompt blocks. ``left_out`` are the cards that the budget has no room for."""

    blocks: Sequence[Block]
    token_budget: int | None
    guard_rules_version: str
    cards: Sequence[NumberedCard]
    left_out: Sequence[UUID]
    answer: RecallAnswer

    @property
    def text(self) -> str:
        """All blocks in order."""
        return "".join(block.text for block in self.blocks)

    @property
    def tokens(self) -> int:
        """The tokens of all blocks, as :func:`count_tokens` counts them."""
        return sum(block.tokens for block in self.blocks)


def _block(name: str, text: str, *, stable: bool = False) -> Block:
    return Block(name, text, count_tokens(text), stable)


@cache
def stable_blocks() -> tuple[Block, ...]:
    """Returns the blocks that every prompt begins with, from the files with their names."""
    return tuple(
        _block(name, files("retrieval.context").joinpath(f"{name}.xml").read_text("utf-8"), stable=True)
        for name in _STABLE
    )


def guard_rules_version() -> str:
    """Returns the version of the guard rules."""
    found = re.search(r'<guard_rules version="([^"]+)"', stable_blocks()[1].text)
    assert found is not None
    return found[1]


def context_of(answer: RecallAnswer, token_budget: int | None = None) -> Prompt:
    """Returns the prompt for an answer, in at most ``token_budget`` tokens as :func:`count_tokens` counts them.

    A card is in the prompt whole or not at all. A card that alone exceeds the budget is left out first, then the
    cards with the lowest scores. Raises :class:`BudgetTooSmallError`: when the blocks without cards do not fit.
    """
    cards = list(answer.cards)
    if token_budget is not None:
        least = _tokens(answer, [])
        if least > token_budget:
            raise BudgetTooSmallError(least)
        cards = [card for card in cards if _tokens(answer, [card]) <= token_budget]
        # A prompt only grows with its cards, so bisection finds the longest prompt that fits.
        fitting = bisect_right(
            range(1, len(cards) + 1), token_budget, key=lambda n: _tokens(answer, cards[:n])
        )
        cards = cards[:fitting]
    blocks = _blocks(answer, cards)
    shown = {card.card_id for card in cards}
    return Prompt(
        blocks=blocks,
        token_budget=token_budget,
        guard_rules_version=guard_rules_version(),
        cards=[NumberedCard(number, card.card_id) for number, card in enumerate(cards, 1)],
        left_out=[card.card_id for card in answer.cards if card.card_id not in shown],
        answer=answer,
    )


def _tokens(answer: RecallAnswer, cards: Sequence[CardAnswer]) -> int:
    return sum(block.tokens for block in _blocks(answer, cards))


def _blocks(answer: RecallAnswer, cards: Sequence[CardAnswer]) -> list[Block]:
    """Every block in its fixed place. Empty blocks are absent."""
    numbered = [(number, card) for number, card in enumerate(cards, 1)]
    lines: dict[str, list[str]] = {name: [] for name in (*_KIND_BLOCKS.values(), "aging_facts")}
    for number, card in numbered:
        lines["aging_facts" if card.aging else _KIND_BLOCKS[card.card.kind]].append(_card(number, card))
    lines["contradiction_alert"] = _conflicts(answer.contradictions, numbered)
    blocks = [*stable_blocks()]
    for name, inner in lines.items():
        if inner:
            blocks.append(_block(name, "\n".join((f"<{name}>", *inner, f"</{name}>\n"))))
    now = answer.current_time.isoformat(timespec="seconds")
    blocks.append(_block("current_time", f"<current_time>{now}</current_time>\n"))
    return blocks


def _card(number: int, answer: CardAnswer) -> str:
    card = answer.card
    attributes: dict[str, Any] = {"n": number}
    if card.kind == "knowledge":
        attributes["title"] = card.title
        attributes["outdated"] = answer.outdated
    else:
        attributes["about"] = card.entity
    if card.kind == "state":
        attributes["concept"] = card.concept_key
        attributes["since"] = card.effective_at
        attributes["until"] = card.superseded_at
    elif card.kind == "event":
        attributes["at"] = card.occurred_at
        attributes["to"] = card.occurred_until
        attributes["speaker"] = card.speaker
    if answer.aging or answer.outdated:
        attributes["last_verified"] = card.last_verified
    attributes["source"] = card.provenance
    attributes["pending"] = answer.pending
    return f"<card{_attributes(attributes)}>{_text(card.content)}</card>"


def _conflicts(
    contradictions: Sequence[Contradiction], numbered: Sequence[tuple[int, CardAnswer]]
) -> list[str]:
    """The contradictions that concern a card of the prompt, a line each."""
    lines = []
    for found in contradictions:
        numbers = [number for number, card in numbered if card.card_id in found.card_ids]
        if numbers:
            attributes = {
                "about": found.entity,
                "concept": found.concept_key,
                "cards": " ".join(map(str, numbers)),
            }
            lines.append(f"<conflict{_attributes(attributes)}>{_text(found.reason)}</conflict>")
    return lines


def _attributes(values: Mapping[str, Any]) -> str:
    """The attributes as text. A value that is None or False is absent."""
    return "".join(
        f" {name}={quoteattr(_clean(_shown(value)))}"
        for name, value in values.items()
        if value is not None and value is not False
    )


def _shown(value: Any) -> str:
    if value is True:
        return "true"
    return value.isoformat(timespec="minutes") if isinstance(value, datetime) else str(value)


def _text(value: str) -> str:
    """Escapes a text for an element, so it can neither close its block nor open another."""
    return escape(_clean(value), {"\r": "&#13;"})


def _clean(value: str) -> str:
    return _UNPRINTABLE.sub("\ufffd", value)
