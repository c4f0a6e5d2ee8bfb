"""What an extractor did with turns, whether or not a card came of it."""

from __future__ import annotations

from dataclasses import dataclass

from events.codec import event_type


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one extraction cost: tokens as billed, wall time in milliseconds."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    calls: int = 0
    latency_ms: int = 0


@event_type(version=1)
@dataclass(frozen=True, slots=True, kw_only=True)
class TurnsExtracted:
    """Turns were read and understood; the card events it caused follow it in the same append."""

    extractor: str
    model: str | None
    prompt_version: str
    turn_ids: tuple[str, ...]
    turn_positions: tuple[int, ...]
    usage: Usage
    cards: int
    refused: int = 0


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
