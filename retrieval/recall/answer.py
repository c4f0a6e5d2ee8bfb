"""What a recall answers. The HTTP service renders it as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from events.insights import Insight
from events.modes.registry import UNDECLARED, Modes
from projectors.cards.card import Card, Kind
from retrieval.cards.alerts import Contradiction
from retrieval.recall.channel_executor import ChannelReport


@dataclass(frozen=True, slots=True)
class ChannelPlace:
    """Where a channel had a card: its rank from 1, and its score in the unit of the channel."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Another card beside a card that answers. An ``episode`` holds the words of the turn.

    A ``retracted`` one never held.
    """

    card_id: UUID
    kind: Kind
    content: str
    episode: bool = False
    retracted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CardAnswer:
    """A card that answers a question. A ``pending`` card is in no table yet.

    ``aging`` and ``outdated`` say that the card is old at the time of the question. ``time_passed`` says that the time
    of a planned event has passed by then, and nobody said that it happened. ``beside`` are other cards of the same
    turn. ``perhaps_no_longer`` holds the later words that may have ended what the card says.
    """

    card: Card
    score: float
    channels: Mapping[str, ChannelPlace]
    pending: bool
    aging: bool
    outdated: bool
    time_passed: bool = False
    beside: Sequence[Beside] = ()
    perhaps_no_longer: Beside | None = None

    @property
    def card_id(self) -> UUID:
        return self.card.card_id


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallAnswer:
    """The cards that answer, best first; what contradicts them; how each channel did.

    ``insights`` are about the question and stand below the cards, the nearest first.
    ``warnings`` name what is missing from the answer, and why. ``explain`` is None unless the question asked for it.
    ``terms`` are the search terms of the question, with their weights.
    ``modes`` are the modes that were searched, by their present names; None: all. ``known_modes`` are the user's modes.
    """

    current_time: datetime
    cards: Sequence[CardAnswer]
    contradictions: Sequence[Contradiction]
    channels: Mapping[str, ChannelReport]
    warnings: tuple[str, ...] = ()
    explain: Mapping[str, object] | None = None
    terms: Mapping[str, float] = field(default_factory=dict)
    modes: tuple[str, ...] | None = None
    known_modes: Modes = UNDECLARED
    insights: Sequence[Insight] = ()
