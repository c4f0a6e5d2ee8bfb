"""Scores answers without a judge: the current value is among the first cards, with no superseded value above it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from events.language.chinese_script import to_simplified
from tests.aging.chains import MECHANISMS, Chain, Probe

CUT = 5


def right(cards: Sequence[Mapping[str, Any]], probe: Probe) -> bool:
    """True when the first cards hold the current value, with no card above it that holds only an old one."""
    for card in cards[:CUT]:
        if holds(card, probe.current):
            return True
        if any(holds(card, old) for old in probe.stale):
            return False
    return False


def holds(card: Mapping[str, Any], value: str) -> bool:
    """True when a card's words name ``value``, in either script. Latin names count as whole words only."""
    beside = " ".join(each["content"] for each in card.get("beside", ()))
    words = to_simplified(f"{card['content']} {card.get('value') or ''} {beside}").casefold()
    wanted = to_simplified(value).casefold()
    if wanted.isascii():
        return re.search(rf"(?<![a-z0-9]){re.escape(wanted)}(?![a-z0-9])", words) is not None
    return wanted in words


@dataclass(slots=True)
class Scores:
    """Right answers of all, by mechanism and depth, with every miss in words."""

    depths: int
    asked: dict[tuple[str, int, str], int] = field(default_factory=dict)
    correct: dict[tuple[str, int, str], int] = field(default_factory=dict)
    misses: list[str] = field(default_factory=list)

    def add(self, chain: Chain, depth: int, probe: Probe, cards: Sequence[Mapping[str, Any]]) -> None:
        """Count one answer."""
        cell = (chain.mechanism, depth, chain.language)
        was_right = right(cards, probe)
        self.asked[cell] = self.asked.get(cell, 0) + 1
        self.correct[cell] = self.correct.get(cell, 0) + was_right
        if not was_right:
            got = " | ".join(
                f"{card['kind']}: {card['content'][:60]}" + (" (superseded)" if card["superseded_at"] else "")
                for card in cards[:CUT]
            )
            self.misses.append(
                f"{chain.user_id} d{depth}: {probe.question} wants {probe.current}"
                + (f", not {', '.join(probe.stale)}" if probe.stale else "")
                + f"\n    {got}"
            )

    def recall(self, mechanism: str, depth: int, language: str | None = None) -> float | None:
        """The share of right answers; None where nothing was asked."""
        cells = [
            cell for cell in self.asked if cell[:2] == (mechanism, depth) and language in (None, cell[2])
        ]
        asked = sum(self.asked[cell] for cell in cells)
        return sum(self.correct[cell] for cell in cells) / asked if asked else None

    def loss(self, mechanism: str) -> float | None:
        """Returns the loss of the deepest questions against the first. The loss is never below zero."""
        first, last = self.recall(mechanism, 0), self.recall(mechanism, self.depths - 1)
        return None if first is None or last is None else max(0.0, first - last)

    def missed_goals(self) -> list[str]:
        """Returns the missed goals in words."""
        wanted = [
            ("revision recall at the last depth", self.recall("revision", self.depths - 1), 0.95, True),
            ("interference recall at d2", self.recall("interference", min(2, self.depths - 1)), 0.95, True),
            ("compression loss", self.loss("compression"), 0.02, False),
            ("maintenance loss", self.loss("maintenance"), 0.02, False),
        ]
        return [
            f"{name} is {value:.2f}, the goal is {'at least' if least else 'at most'} {goal:.2f}"
            for name, value, goal, least in wanted
            if value is not None and (value < goal if least else value > goal)
        ]

    def table(self) -> str:
        """Mechanism by depth, with what is lost on the way; each language below."""
        lines = [
            f"{'recall':<14}" + "".join(f"{f'd{depth}':>7}" for depth in range(self.depths)) + f"{'loss':>7}"
        ]
        for mechanism in MECHANISMS:
            lines.append(self._line(mechanism, mechanism, None) + f"{self.loss(mechanism) or 0:>7.2f}")
            lines += [
                self._line(f"  {language}", mechanism, language)
                for language in sorted({cell[2] for cell in self.asked if cell[0] == mechanism})
            ]
        return "\n".join(lines)

    def _line(self, name: str, mechanism: str, language: str | None) -> str:
        values = (self.recall(mechanism, depth, language) for depth in range(self.depths))
        return f"{name:<14}" + "".join("      -" if value is None else f"{value:>7.2f}" for value in values)
