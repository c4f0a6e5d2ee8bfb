"""The events that record an extraction. An extractor writes them even when the turns give no card."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from uuid import UUID

from events.types.codec import event_type, upcaster
from events.types.envelope import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The cost of one extraction: tokens as billed, wall time in milliseconds, list price in US dollars.

    ``cost_usd`` is None when the price of the model is unknown. Calls with an unusable answer count too.
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
        """The sum of all tokens, cached tokens included."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens

    def __add__(self, other: Usage) -> Usage:
        known = self.cost_usd is not None and other.cost_usd is not None
        counts = {name: getattr(self, name) + getattr(other, name) for name in _COUNTS}
        return Usage(
            **counts, cost_usd=round((self.cost_usd or 0.0) + (other.cost_usd or 0.0), 9) if known else None
        )


_COUNTS = tuple(each.name for each in fields(Usage) if each.name != "cost_usd")


@event_type(version=2, visible=("turn_positions", "usage"))
class TurnsExtracted:
    """An extractor extracted turns. The card events of the extraction follow in the same append.

    ``refused`` counts the cards that grounding refused. ``rules_fallback`` is True when the rules extractor ran in the
    place of the model; a reextraction of these turns is then useful. ``replaces`` are the events of earlier extractions
    of the same turns. A :class:`CardsWithdrawn` withdraws the cards of those extractions.

    ``modes`` are the modes of the turns, in the order of ``turn_ids``; None is the general mode. It is empty when
    nobody had declared a mode. ``modes_digest`` is the version of the modes and hints that the extractor saw.
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
    modes: tuple[str | None, ...] = ()
    modes_digest: str | None = None


@upcaster("TurnsExtracted", from_version=1)
def _rules_fallback(data: dict[str, object]) -> dict[str, object]:
    """Renames the field ``stand_in`` of version 1 to ``rules_fallback``."""
    return {("rules_fallback" if name == "stand_in" else name): value for name, value in data.items()}


@event_type(version=1, visible=("turn_positions", "usage"))
class ExtractionFailed:
    """An extractor gave up turns. ``reason`` is for an operator. A reextraction may try the turns again."""

    extractor: str
    model: str | None
    prompt_version: str
    turn_ids: tuple[str, ...]
    turn_positions: tuple[int, ...]
    reason: str
    attempts: int
    usage: Usage = field(default_factory=Usage)


@event_type(version=1)
class CardsWithdrawn:
    """Card events were withdrawn. Projections ignore these events from then on. The events stay in the log.

    ``positions`` are the positions of the events in this event's partition, in the order of ``event_ids``.
    """

    event_ids: tuple[UUID, ...]
    positions: tuple[int, ...]
    reason: str


def standing(events: Iterable[Event], types: tuple[type, ...]) -> list[Event]:
    """Returns the events with a payload of ``types`` that no withdrawal among ``events`` takes back, in order."""
    events = list(events)
    gone = {
        one for each in events if isinstance(each.payload, CardsWithdrawn) for one in each.payload.event_ids
    }
    return [each for each in events if isinstance(each.payload, types) and each.event_id not in gone]
