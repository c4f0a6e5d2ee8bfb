"""The shapes of the read service's answers, for its OpenAPI document. New fields may come with any version."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, Field

from events.types.cards import Cardinality, Provenance, Sentiment
from events.types.relations import Predicate
from events.types.turns import ContextLayer

Kind = Literal["state", "event", "knowledge"]
Status = Literal["current", "future", "superseded", "contested", "retracted"]


class Span(BaseModel):
    """The exact words a card rests on; offsets in code points."""

    turn_id: str
    start: int
    end: int
    text: str


class Place(BaseModel):
    """Where a channel had a card: its rank from 1, and its score in the channel's own unit."""

    rank: int = Field(ge=1)
    score: float


class AnyCard(BaseModel):
    """What every answer says of a card. The fields of its kind may be missing in the others."""

    card_id: UUID
    kind: Kind
    content: str
    entity: str | None
    concept_key: str | None
    value: str | None
    cardinality: Cardinality | None
    tags: list[str]
    occurred_at: AwareDatetime | None
    occurred_until: AwareDatetime | None
    effective_at: AwareDatetime | None
    superseded_at: AwareDatetime | None
    last_verified: AwareDatetime
    created_at: AwareDatetime
    project_id: str
    session_id: str
    agent_id: str | None
    document_id: str | None
    context_layer: ContextLayer | None
    speaker: str | None
    turn_ids: list[str]
    source_span: Span | None
    provenance: Provenance
    confidence: float
    weight: float
    mentions: int
    mode: str | None
    said_at: AwareDatetime
    aging: bool = Field(description="a value of long ago: ask whether it still holds")
    outdated: bool = Field(description="knowledge of long ago: check it before it is relied on")
    ended: bool = Field(False, description="state: it stopped being true, and nothing took its place")
    episode: bool = Field(False, description="event: the human words of a turn")
    topics: list[str] = Field([], description="event: what it is about")
    importance: int | None = Field(None, description="event: 1 to 10")
    sentiment: Sentiment | None = Field(None, description="event")
    title: str | None = Field(None, description="knowledge: the name it goes by")
    aliases: list[str] = Field([], description="knowledge: its other names")
    definition: str | None = Field(None, description="knowledge: what it is")


class RecalledCard(AnyCard):
    """A card that answers a question. ``pending``: it was said a moment ago, and is in no table yet."""

    score: float
    channels: dict[str, Place]
    pending: bool


class Card(AnyCard):
    """A card of the tables."""

    status: Status


class Brief(BaseModel):
    """A card in short."""

    card_id: UUID
    kind: Kind
    content: str
    value: str | None


class BriefWithStatus(Brief):
    """A card in short, with how it stands."""

    entity: str | None
    concept_key: str | None
    status: Status


class Contradiction(BaseModel):
    """Cards that cannot both be true."""

    concept_key: str | None
    entity: str | None
    card_ids: list[UUID]
    reason: str
    arbitration_id: UUID | None = Field(None, description="the conflict that waits for a verdict")
    cards: list[Brief] = Field([], description="both sides, whether or not both answer the question")


class ChannelReport(BaseModel):
    """How a channel did."""

    status: Literal["ok", "late", "quarantined", "down"]
    ms: float
    hits: int
    detail: str | None = None


class _Answer(BaseModel):
    current_time: AwareDatetime = Field(description="when it was asked, or the instant it was asked as of")
    contradictions: list[Contradiction]
    channels: dict[str, ChannelReport]
    warnings: list[str] = Field(description="what is missing from this answer, and why")


class RecallAnswer(_Answer):
    """What was found, the best first, and how each channel did."""

    cards: list[RecalledCard]
    explain: dict[str, Any] = Field(
        {},
        description="how the answer came about; only where it was asked for, and may change with any version",
    )


class Block(BaseModel):
    """One XML element of a prompt. ``stable``: the same at every question, so a prompt cache can keep it."""

    name: str
    text: str
    tokens: int
    stable: bool


class Numbered(BaseModel):
    """Which card carries a number in a prompt."""

    n: int = Field(ge=1)
    card_id: UUID


class Prompt(_Answer):
    """A prompt: ``text`` is all ``blocks`` in order."""

    blocks: list[Block]
    text: str
    tokens: int
    token_budget: int | None
    guard_rules_version: str
    cards: list[Numbered]
    left_out: list[UUID] = Field(description="cards that the budget had no room for")


class CardsPage(BaseModel):
    """Some cards of a slice."""

    cards: list[Card]
    next_cursor: str | None = Field(
        description="give it as cursor for the next page; null after the last one"
    )


class Groups(BaseModel):
    """How many cards there are by the values of axes, which each group holds by their names."""

    group_by: list[str]
    bucket: Literal["day", "week", "month"] | None
    groups: list[dict[str, Any]]
    total: int


class Edge(BaseModel):
    """``from_card`` stands in relation to ``to_card``; ``implied`` by a timeline, or said."""

    from_card: UUID
    to_card: UUID
    predicate: Predicate
    reason: str
    confidence: float
    implied: bool
    refused: bool
    actor: str
    event_id: UUID | None
    created_at: AwareDatetime | None


class Relation(Edge):
    """An edge as one of its cards sees it."""

    direction: Literal["out", "in"]
    other: BriefWithStatus | None


class Relations(BaseModel):
    """What a card is related to, said or not."""

    relations: list[Relation]
    related: list[BriefWithStatus]
    episode: list[BriefWithStatus]
    gave_rise_to: list[BriefWithStatus]


class Update(BaseModel):
    """What was overwritten in place."""

    card_id: UUID
    changed_at: AwareDatetime
    old_value: str | None
    new_value: str | None
    old_content: str | None
    reason: str
    event_id: UUID


class History(BaseModel):
    """All there ever was of what a card is about, in order of time."""

    cards: list[Card]
    updates: list[Update]
    relations: list[Edge]


class Latest(BaseModel):
    """The end of a card's chain of changes, and the way there."""

    card: Card
    chain: list[UUID]


class Arbitration(BaseModel):
    """A conflict that the system must not decide alone."""

    arbitration_id: UUID
    project_id: str
    entity: str
    concept_key: str
    old_card: UUID | None
    new_card: UUID | None
    old_value: str | None
    new_value: str | None
    reason: str
    evidence: Any
    status: Literal["open", "keep_old", "accept_new", "coexist", "withdrawn"]
    opened_at: AwareDatetime
    settled_at: AwareDatetime | None


class Arbitrations(BaseModel):
    """A page of conflicts, the last opened first."""

    arbitrations: list[Arbitration]
    next_cursor: str | None


class ChannelStanding(BaseModel):
    """How a channel stands in this process."""

    status: Literal["ok", "quarantined"]
    p95_ms: float | None
    samples: int
    quarantined_for_s: float | None
    fault: str | None = Field(None, description="for tests: the setting that makes it fail")


Channels = dict[str, ChannelStanding]
