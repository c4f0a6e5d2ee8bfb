"""The shapes of the read service's answers, for its OpenAPI document. Any version may add fields."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, Field

from events.types.cards import Cardinality, EventStatus, Provenance, Sentiment
from events.types.relations import Predicate
from events.types.turns import ContextLayer

Kind = Literal["state", "event", "knowledge", "reference"]
Status = Literal["current", "future", "superseded", "contested", "retracted"]


class Span(BaseModel):
    """The exact words behind a card. Offsets are in code points."""

    turn_id: str
    start: int
    end: int
    text: str


class Place(BaseModel):
    """The place of a card in a channel: its rank from 1, and its score in the channel's own unit."""

    rank: int = Field(ge=1)
    score: float


class AnyCard(BaseModel):
    """The fields of a card in every answer. A field that belongs to one kind may be missing in other kinds."""

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
    metadata: dict[str, Any] | None = Field(description="the metadata of the turn, as the app gave it")
    provenance: Provenance
    confidence: float
    weight: float
    mentions: int
    mode: str | None
    said_at: AwareDatetime
    time_zone: str | None = Field(description="the speaker's clock: an IANA zone or an offset")
    time_grain: str | None = Field(description="the grain of the time: day, week, month, year …")
    time_resolved: bool | None = Field(
        description="null: the words name no time; false: they name a time that was not resolved. The time is then "
        "that of the turn"
    )
    alternative_at: AwareDatetime | None = Field(
        description="the other instant that an ambiguous time may mean"
    )
    when: str = Field(description="the times as text, on the speaker's clock and at their grain")
    aging: bool = Field(description="an old value: ask the user if it still holds")
    outdated: bool = Field(description="old knowledge: check it before use")
    ended: bool = Field(False, description="state: it stopped being true, and no value replaced it")
    episode: bool = Field(False, description="event: the human words of a turn")
    topics: list[str] = Field([], description="event: its topics")
    importance: int | None = Field(None, description="event: 1 to 10")
    sentiment: Sentiment | None = Field(None, description="event")
    event_status: EventStatus | None = Field(
        None, description="event: what became of it, by the time of the question"
    )
    time_passed: bool = Field(
        False, description="event: it was planned, its time has passed, and nobody said that it happened"
    )
    participants: list[str] = Field([], description="event: all who take part, when there are several")
    value_at: AwareDatetime | None = Field(None, description="state: the start of a value that is a time")
    value_until: AwareDatetime | None = Field(
        None, description="state: the end of a value that is a time, exclusive"
    )
    value_grain: str | None = Field(None, description="state: the grain of a value that is a time")
    title: str | None = Field(None, description="knowledge: its name; reference: its key")
    aliases: list[str] = Field([], description="knowledge: its other names")
    definition: str | None = Field(None, description="knowledge: its definition")


class Beside(BaseModel):
    """Another card, in short: of the same turn, or of a later one."""

    card_id: UUID
    kind: Kind
    content: str


class RecalledCard(AnyCard):
    """A card that answers a question. ``pending``: the card is so new that it is not in the tables yet."""

    score: float
    channels: dict[str, Place]
    pending: bool
    beside: list[Beside] = Field(description="other cards of the same turn")
    perhaps_no_longer: Beside | None = Field(
        None, description="the later words that may have ended what the card says"
    )


class Card(AnyCard):
    """A card from the tables."""

    status: Status


class Brief(BaseModel):
    """A card in short."""

    card_id: UUID
    kind: Kind
    content: str
    value: str | None


class BriefWithStatus(Brief):
    """A card in short, with its status."""

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
    cards: list[Brief] = Field([], description="both sides, also a side that does not answer the question")


class ChannelReport(BaseModel):
    """The result of a channel in one recall."""

    status: Literal["ok", "late", "quarantined", "down"]
    ms: float
    hits: int
    detail: str | None = None


class _Answer(BaseModel):
    current_time: AwareDatetime = Field(description="the time of the question, or its as_of")
    contradictions: list[Contradiction]
    channels: dict[str, ChannelReport]
    warnings: list[str] = Field(description="missing parts of the answer, with the reasons")


class RecallAnswer(_Answer):
    """The found cards, the best first, and the report of each channel."""

    cards: list[RecalledCard]
    explain: dict[str, Any] = Field(
        {},
        description="the explanation of the answer, when it was asked for; any version may change it",
    )


class Block(BaseModel):
    """One XML element of a prompt. ``stable``: it is the same for every question, so a prompt cache can keep it."""

    name: str
    text: str
    tokens: int
    stable: bool


class Numbered(BaseModel):
    """The card behind a number in a prompt."""

    n: int = Field(ge=1)
    card_id: UUID


class Prompt(_Answer):
    """A prompt. ``text`` is the text of all ``blocks`` in order."""

    blocks: list[Block]
    text: str
    tokens: int
    token_budget: int | None
    guard_rules_version: str
    cards: list[Numbered]
    left_out: list[UUID] = Field(description="cards that did not fit into the token budget")


class CardsPage(BaseModel):
    """One page of the cards of a slice."""

    cards: list[Card]
    next_cursor: str | None = Field(
        description="give it as cursor for the next page; null after the last one"
    )


class Groups(BaseModel):
    """The number of cards for each combination of axis values. A group holds the values by axis name."""

    group_by: list[str]
    bucket: Literal["day", "week", "month"] | None
    groups: list[dict[str, Any]]
    total: int


class Edge(BaseModel):
    """A relation from ``from_card`` to ``to_card``. ``implied``: a timeline implies it; else an event states it."""

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
    """An edge from the view of one of its cards."""

    direction: Literal["out", "in"]
    other: BriefWithStatus | None


class Relations(BaseModel):
    """The relations of a card, stated and implied, and its related cards."""

    relations: list[Relation]
    related: list[BriefWithStatus]
    episode: list[BriefWithStatus]
    gave_rise_to: list[BriefWithStatus]


class Update(BaseModel):
    """A change that overwrote a card in place."""

    card_id: UUID
    changed_at: AwareDatetime
    old_value: str | None
    new_value: str | None
    old_content: str | None
    reason: str
    event_id: UUID


class History(BaseModel):
    """Every card about the same fact, in order of time."""

    cards: list[Card]
    updates: list[Update]
    relations: list[Edge]


class Latest(BaseModel):
    """The end of a card's chain of changes, and the ids along the chain."""

    card: Card
    chain: list[UUID]


class Arbitration(BaseModel):
    """A conflict that waits, or waited, for a verdict."""

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
    """A page of conflicts, the latest opened first."""

    arbitrations: list[Arbitration]
    next_cursor: str | None


class ChannelHealthReport(BaseModel):
    """The health of a channel in this process."""

    status: Literal["ok", "quarantined"]
    p95_ms: float | None
    samples: int
    quarantined_for_s: float | None
    fault: str | None = Field(None, description="for tests: the setting that makes the channel fail")


Channels = dict[str, ChannelHealthReport]
