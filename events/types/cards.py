"""The statements cards are folded from: one event a card, in the words of the turn it came from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from events.types.codec import event_type
from events.types.turns import ContextLayer

Cardinality = Literal["single_value", "multi_value"]
Provenance = Literal["user_stated", "assistant_stated", "agent_inferred"]
Sentiment = Literal["positive", "neutral", "negative"]
Statement = Literal["asserted", "ended", "corrected", "updated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSpan:
    """The exact words a card rests on: ``text == turn.text[start:end]``, offsets in code points."""

    turn_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CardOrigin:
    """The scope and source axes every card shares."""

    project_id: str
    session_id: str
    turn_ids: tuple[str, ...]
    said_at: datetime
    source_span: SourceSpan | None
    provenance: Provenance
    speaker: str | None = None
    agent_id: str | None = None
    document_id: str | None = None
    context_layer: ContextLayer | None = None
    mode: str | None = None


@dataclass(frozen=True, slots=True)
class Utterance:
    """Words and who said them, where that is known."""

    text: str
    speaker: str | None = None


@event_type(version=1)
@dataclass(frozen=True, slots=True, kw_only=True)
class StateAsserted:
    """Something is true of ``entity`` from ``effective_at`` on (``statement="asserted"``), stopped being
    true then (``"ended"``; an empty ``value`` ends whatever held), is true in place of ``replaces``
    (``"updated"``), or an earlier statement of the same session was a slip (``"corrected"``: ``replaces`` is the
    mistaken value where it was named).

    ``entity`` is ``"user"`` for the person whose memory this is, else a name as spoken.
    ``announced``: the words themselves announce a change ("moved", "switched to", 搬到, 改成).
    ``time_resolved`` is False where no time was found and ``effective_at`` fell back to ``said_at``.
    """

    content: str
    entity: str
    concept_key: str
    value: str
    cardinality: Cardinality
    tags: tuple[str, ...]
    origin: CardOrigin
    effective_at: datetime
    statement: Statement = "asserted"
    replaces: str | None = None
    effective_until: datetime | None = None
    announced: bool = False
    occurred_at_hint: str | None = None
    time_grain: str | None = None
    time_resolved: bool = False
    confidence: float = 1.0
    weight: float = 1.0


@event_type(version=1)
@dataclass(frozen=True, slots=True, kw_only=True)
class EventNoted:
    """Something happened at ``occurred_at`` (to ``occurred_until``, exclusive, where a range was meant).

    ``episode`` marks the turn itself, kept in its human words; ``importance`` is 1 to 10. ``before`` is what
    was said before it in its session, the nearest first: "two kittens!" is found by the question it answers.
    """

    content: str
    entity: str
    tags: tuple[str, ...]
    origin: CardOrigin
    occurred_at: datetime
    occurred_until: datetime | None = None
    occurred_at_hint: str | None = None
    time_grain: str | None = None
    time_resolved: bool = False
    concept_key: str | None = None
    value: str | None = None
    episode: bool = False
    topics: tuple[str, ...] = ()
    importance: int = 5
    sentiment: Sentiment = "neutral"
    before: tuple[Utterance, ...] = ()
    confidence: float = 1.0
    weight: float = 1.0


@event_type(version=1)
@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeLearned:
    """A concept was explained: ``title`` as spoken, other names in ``aliases``, the words in ``definition``."""

    content: str
    title: str
    definition: str
    tags: tuple[str, ...]
    origin: CardOrigin
    aliases: tuple[str, ...] = ()
    related_titles: tuple[str, ...] = ()
    confidence: float = 1.0
    weight: float = 1.0
