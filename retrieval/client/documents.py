"""The shapes of requests and answers, as the services write them. Any version may add fields."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class Turn(TypedDict):
    """One message of a conversation. The client makes a ``turn_id`` where none is given, so a retry repeats nothing."""

    user_id: str
    text: str
    role: NotRequired[Literal["user", "assistant", "system"]]
    speaker: NotRequired[str]
    session_id: NotRequired[str]
    project_id: NotRequired[str]
    agent_id: NotRequired[str]
    document_id: NotRequired[str]
    context_layer: NotRequired[Literal["personal", "work", "social"]]
    mode: NotRequired[str]
    said_at: NotRequired[str]
    timezone: NotRequired[str]
    turn_id: NotRequired[str]
    metadata: NotRequired[dict[str, Any]]


class Pushed(TypedDict):
    """The turns are safe. A recall with ``token`` as ``wait_for`` waits until the turns are cards.

    ``token`` is None where Postgres has been away since the service started.
    """

    turn_ids: list[str]
    duplicates: list[str]
    token: str | None


class SourceSpan(TypedDict):
    """The exact words that a card rests on. Offsets count code points."""

    turn_id: str
    start: int
    end: int
    text: str


class ChannelPlace(TypedDict):
    """Where a channel had a card: its rank from 1, and its score in the unit of the channel."""

    rank: int
    score: float


class ChannelReport(TypedDict):
    """What one channel did. ``ms`` is its time in milliseconds. ``detail`` says what is missing, and why."""

    status: Literal["ok", "late", "quarantined", "down"]
    ms: float
    hits: int
    detail: NotRequired[str]


class Beside(TypedDict):
    """Another card of the turn of a card that answers."""

    card_id: str
    kind: Literal["state", "event", "knowledge", "reference"]
    content: str


class Card(TypedDict):
    """One card. Instants are ISO 8601. The fields of a kind are absent from cards of the other kinds.

    ``when`` tells the times as text, on the speaker's clock. An answer to a question has ``score``, ``channels``,
    ``pending`` and ``beside``; a card of a slice has ``status``. A ``pending`` card is in no table yet. ``aging`` asks
    for a check with the user, ``outdated`` for a check before use.
    ``time_passed`` says of a planned event that its time has passed, and that nobody said that it happened.
    """

    card_id: str
    kind: Literal["state", "event", "knowledge", "reference"]
    content: str
    entity: str | None
    concept_key: str | None
    value: str | None
    cardinality: Literal["single_value", "multi_value"] | None
    tags: list[str]
    occurred_at: str | None
    occurred_until: str | None
    effective_at: str | None
    superseded_at: str | None
    last_verified: str
    created_at: str
    project_id: str
    session_id: str
    agent_id: str | None
    document_id: str | None
    context_layer: Literal["personal", "work", "social"] | None
    speaker: str | None
    turn_ids: list[str]
    source_span: SourceSpan | None
    metadata: dict[str, Any] | None
    provenance: Literal["user_stated", "assistant_stated", "agent_inferred"]
    confidence: float
    weight: float
    mentions: int
    mode: str | None
    said_at: str
    time_zone: str | None
    time_grain: str | None
    time_resolved: bool | None
    alternative_at: str | None
    when: str
    aging: bool
    outdated: bool
    ended: NotRequired[bool]
    episode: NotRequired[bool]
    topics: NotRequired[list[str]]
    importance: NotRequired[int]
    sentiment: NotRequired[Literal["positive", "neutral", "negative"]]
    event_status: NotRequired[Literal["happened", "planned", "cancelled", "corrected"]]
    time_passed: NotRequired[bool]
    participants: NotRequired[list[str]]
    value_at: NotRequired[str | None]
    value_until: NotRequired[str | None]
    value_grain: NotRequired[str | None]
    title: NotRequired[str]
    aliases: NotRequired[list[str]]
    definition: NotRequired[str]
    status: NotRequired[Literal["current", "future", "superseded", "contested", "retracted"]]
    score: NotRequired[float]
    channels: NotRequired[dict[str, ChannelPlace]]
    pending: NotRequired[bool]
    beside: NotRequired[list[Beside]]
    perhaps_no_longer: NotRequired[Beside]


class Side(TypedDict):
    """One side of a contradiction."""

    card_id: str
    kind: Literal["state", "event", "knowledge", "reference"]
    content: str
    value: str | None
    effective_at: str | None
    occurred_at: str | None
    turn_ids: list[str]


class Contradiction(TypedDict):
    """Cards that cannot all be true. ``arbitration_id`` names the conflict that waits for a verdict."""

    concept_key: str | None
    entity: str | None
    card_ids: list[str]
    reason: str
    arbitration_id: NotRequired[str]
    cards: NotRequired[list[Side]]


class Answer(TypedDict):
    """What a recall found, best first, and what each channel did. ``warnings`` name what is missing, and why."""

    current_time: str
    cards: list[Card]
    contradictions: list[Contradiction]
    channels: dict[str, ChannelReport]
    warnings: list[str]


class Block(TypedDict):
    """One XML element of a prompt. A ``stable`` block is the same for every question, so a prompt cache can keep it."""

    name: str
    text: str
    tokens: int
    stable: bool


class Numbered(TypedDict):
    """The number that a card has in a prompt, from 1."""

    n: int
    card_id: str


class Prompt(TypedDict):
    """A prompt. ``text`` is all ``blocks`` in order. ``left_out`` are the cards that the budget has no room for."""

    blocks: list[Block]
    text: str
    tokens: int
    token_budget: int | None
    guard_rules_version: str
    cards: list[Numbered]
    left_out: list[str]
    current_time: str
    contradictions: list[Contradiction]
    channels: dict[str, ChannelReport]
    warnings: list[str]


class CardsPage(TypedDict):
    """Some cards of a slice. ``next_cursor`` is the ``cursor`` of the next page; it is None after the last page."""

    cards: list[Card]
    next_cursor: str | None


class StageHealth(TypedDict):
    """The health of one stage. None is unknown."""

    behind: int | None
    seconds: float | None
    state: str
    detail: str | None
    rate: float | None
    parked: int | None
    dead: int | None
    error: str | None
    error_at: str | None
    workers: int | None
    position: int | None
    stalled_s: float | None
    pending: int | None
    pending_s: float | None
    blocked: list[dict[str, Any]]


class Status(TypedDict):
    """The health of every stage at one moment. ``well``: nothing needs an operator. None is unknown, never zero."""

    well: bool
    whole: bool
    stages: dict[str, StageHealth]
    events: int | None
    parked: int | None
    dead: int | None
    recorded: int | None
    duplicates: int | None
    channels: dict[str, Any]
    embedder: dict[str, str | None] | None
    servers: dict[str, str]
