"""A recall as prompt blocks: what an assistant is given, in an order that a prompt cache can keep.

The blocks that never change come first, those of the question after them, and the time last. So the text up to the
first card is the same, byte for byte, from one question to the next.
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
from xml.sax.saxutils import escape, quoteattr

from retrieval.context.token_estimate import count_tokens

_STABLE = ("core", "guard_rules")
_KIND_BLOCKS = {
    "state": "state_cards",
    "event": "event_cards",
    "knowledge": "knowledge_cards_referenced",
}
# What XML 1.0 has no place for, escaped or not.
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Card = Mapping[str, Any]


class BudgetTooSmallError(ValueError):
    """The blocks that are always there take ``least`` tokens, which is more than was allowed."""

    def __init__(self, least: int) -> None:
        super().__init__(f"the blocks that are always there take {least} tokens")
        self.least = least


@dataclass(frozen=True, slots=True)
class Block:
    """One XML element with its line end. ``stable``: the same whatever is asked."""

    name: str
    text: str
    stable: bool = False

    @property
    def tokens(self) -> int:
        return count_tokens(self.text)


@cache
def stable_blocks() -> tuple[Block, ...]:
    """The blocks every prompt begins with, from the files of their names."""
    return tuple(
        Block(name, files("retrieval.context").joinpath(f"{name}.xml").read_text("utf-8"), stable=True)
        for name in _STABLE
    )


def guard_rules_version() -> str:
    """The version the guard rules carry."""
    found = re.search(r'<guard_rules version="([^"]+)"', stable_blocks()[1].text)
    assert found is not None
    return found[1]


def context_of(answer: Mapping[str, Any], token_budget: int | None = None) -> dict[str, Any]:
    """The prompt for a recall's answer, in at most ``token_budget`` tokens as :func:`count_tokens` counts them.

    Cards are left out whole, the least score first, after those that would not fit if they were alone; what is
    left out is named. Raises :class:`BudgetTooSmallError` where not even a prompt without cards fits.
    """
    cards = list(answer["cards"])
    if token_budget is not None:
        least = _tokens(answer, [])
        if least > token_budget:
            raise BudgetTooSmallError(least)
        cards = [card for card in cards if _tokens(answer, [card]) <= token_budget]
        # A prompt only grows with the cards in it, so the longest that fits is found by halving.
        fitting = bisect_right(
            range(1, len(cards) + 1), token_budget, key=lambda n: _tokens(answer, cards[:n])
        )
        cards = cards[:fitting]
    blocks = _blocks(answer, cards)
    numbered = {card["card_id"]: number for number, card in enumerate(cards, 1)}
    return {
        "blocks": [
            {"name": block.name, "text": block.text, "tokens": block.tokens, "stable": block.stable}
            for block in blocks
        ],
        "text": "".join(block.text for block in blocks),
        "tokens": sum(block.tokens for block in blocks),
        "token_budget": token_budget,
        "guard_rules_version": guard_rules_version(),
        "cards": [{"n": number, "card_id": card_id} for card_id, number in numbered.items()],
        "left_out": [card["card_id"] for card in answer["cards"] if card["card_id"] not in numbered],
        "current_time": answer["current_time"],
        "contradictions": answer["contradictions"],
        "channels": answer["channels"],
        "warnings": answer["warnings"],
    }


def _tokens(answer: Mapping[str, Any], cards: Sequence[Card]) -> int:
    return sum(block.tokens for block in _blocks(answer, cards))


def _blocks(answer: Mapping[str, Any], cards: Sequence[Card]) -> list[Block]:
    """Every block in its fixed place; those that would be empty are left out."""
    numbered = [(number, card) for number, card in enumerate(cards, 1)]
    lines: dict[str, list[str]] = {name: [] for name in (*_KIND_BLOCKS.values(), "aging_facts")}
    for number, card in numbered:
        lines["aging_facts" if card["aging"] else _KIND_BLOCKS[card["kind"]]].append(_card(number, card))
    lines["contradiction_alert"] = _conflicts(answer["contradictions"], numbered)
    blocks = [*stable_blocks()]
    for name, inner in lines.items():
        if inner:
            blocks.append(Block(name, "\n".join((f"<{name}>", *inner, f"</{name}>\n"))))
    now = datetime.fromisoformat(answer["current_time"]).isoformat(timespec="seconds")
    blocks.append(Block("current_time", f"<current_time>{now}</current_time>\n"))
    return blocks


def _card(number: int, card: Card) -> str:
    attributes: dict[str, Any] = {"n": number}
    if card["kind"] == "knowledge":
        attributes["title"] = card["title"]
        attributes["outdated"] = card["outdated"]
    else:
        attributes["about"] = card["entity"]
    if card["kind"] == "state":
        attributes["concept"] = card["concept_key"]
        attributes["since"] = card["effective_at"]
        attributes["until"] = card["superseded_at"]
    elif card["kind"] == "event":
        attributes["at"] = card["occurred_at"]
        attributes["to"] = card["occurred_until"]
        attributes["speaker"] = card["speaker"]
    if card["aging"] or card["outdated"]:
        attributes["last_verified"] = card["last_verified"]
    attributes["source"] = card["provenance"]
    attributes["pending"] = card["pending"]
    return f"<card{_attributes(attributes)}>{_text(card['content'])}</card>"


def _conflicts(
    contradictions: Sequence[Mapping[str, Any]], numbered: Sequence[tuple[int, Card]]
) -> list[str]:
    """The contradictions that concern a card in the prompt."""
    lines = []
    for found in contradictions:
        numbers = [number for number, card in numbered if card["card_id"] in found["card_ids"]]
        if numbers:
            attributes = {
                "about": found["entity"],
                "concept": found["concept_key"],
                "cards": " ".join(map(str, numbers)),
            }
            lines.append(f"<conflict{_attributes(attributes)}>{_text(found['reason'])}</conflict>")
    return lines


def _attributes(values: Mapping[str, Any]) -> str:
    """The attributes that say something: none for what is unknown or not so."""
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
    """Words as the text of an element: they can neither close their block nor open another."""
    return escape(_clean(value), {"\r": "&#13;"})


def _clean(value: str) -> str:
    return _UNPRINTABLE.sub("\ufffd", value)
