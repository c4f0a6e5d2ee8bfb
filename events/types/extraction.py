"""What an extractor did with turns, whether or not a card came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from events.types.codec import event_type, upcaster


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one extraction cost: tokens as billed, wall time in milliseconds, list price in US dollars.

    ``cost_usd`` is None where the model's price is not known. Calls whose answer could not be used are counted.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    calls: int = 0
    latency_ms: int = 0
    cost_usd: float | None = 0.0

    @property
    def tokens(self) -> int:
        """All tokens, whatever they cost."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens

    def __add__(self, other: Usage) -> Usage:
        known = self.cost_usd is not None and other.cost_usd is not None
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            calls=self.calls + other.calls,
            latency_ms=self.latency_ms + other.latency_ms,
            cost_usd=round((self.cost_usd or 0.0) + (other.cost_usd or 0.0), 9) if known else None,
        )


@event_type(version=2)
@dataclass(frozen=True, slots=True, kw_only=True)
class TurnsExtracted:
    """Turns were read and understood; the card events it caused follow it in the same append.

    ``refused`` counts cards the words of the turns did not bear out. ``rules_fallback``: another extractor was
    meant to read them and could not, so they are worth reading again. ``replaces`` are the events of the same
    turns' earlier readings; a :class:`CardsWithdrawn` takes their cards back.
    """

    extractor: str
    model: str | None
    prompt_version: str
    turn_ids: tuple[str, ...]
    turn_positions: tuple[int, ...]
    usage: Usage
    cards: int
    refused: int = 0
    rules_fallback: bool = False
    replaces: tuple[UUID, ...] = ()


@upcaster("TurnsExtracted", from_version=1)
def _rules_fallback(data: dict[str, Any]) -> dict[str, Any]:
    """Version 1 said ``stand_in`` for ``rules_fallback``."""
    return {("rules_fallback" if name == "stand_in" else name): value for name, value in data.items()}


@event_type(version=1)
@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionFailed:
    """Turns could not be read; the reason is for an operator, and re-extraction may try again."""

    extractor: str
    model: str | None
    prompt_version: str
    turn_ids: tuple[str, ...]
    turn_positions: tuple[int, ...]
    reason: str
    attempts: int
    usage: Usage = field(default_factory=Usage)


@event_type(version=1)
@dataclass(frozen=True, slots=True, kw_only=True)
class CardsWithdrawn:
    """Card events that count no more, as if they had never been said; they stay in the log.

    ``positions`` are their places, in the partition of this event and in the order of ``event_ids``.
    """

    event_ids: tuple[UUID, ...]
    positions: tuple[int, ...]
    reason: str
