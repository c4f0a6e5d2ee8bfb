"""The shapes of what is sent and answered: the services' JSON, as it is. New fields may come with any version."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class Turn(TypedDict):
    """One message of a conversation. Without a ``turn_id`` the client makes one up, so that a retry repeats nothing."""

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


class Pushed(TypedDict):
    """The turns are safe. Give ``token`` to a recall's ``wait_for`` to wait until they are cards.

    It is None where Postgres has been away since the service started.
    """

    turn_ids: list[str]
    duplicates: list[str]
    token: str | None


class Card(TypedDict):
    """One card. Instants are ISO 8601; ``pending`` was said a moment ago and is in no table yet."""

    card_id: str
    kind: Literal["state", "event", "knowledge"]
    content: str
    entity: str | None
    concept_key: str | None
    value: str | None
    cardinality: Literal["single_value", "multi_value"] | None
    tags: list[str]
    occurred_at: str | None
    effective_at: str | None
    superseded_at: str | None
    last_verified: str
    project_id: str
    session_id: str
    turn_ids: list[str]
    source_span: dict[str, Any] | None
    provenance: Literal["user_stated", "assistant_stated", "agent_inferred"]
    confidence: float
    score: NotRequired[float]
    channels: NotRequired[dict[str, dict[str, float]]]
    pending: NotRequired[bool]
    aging: NotRequired[bool]
    outdated: NotRequired[bool]


class Contradiction(TypedDict):
    """Cards that cannot both be true."""

    concept_key: str
    entity: str
    card_ids: list[str]
    reason: str


class Answer(TypedDict):
    """What a recall found, best first, and how each channel did."""

    current_time: str
    cards: list[Card]
    contradictions: list[Contradiction]
    channels: dict[str, dict[str, Any]]
    warnings: list[str]


class Block(TypedDict):
    """One XML element of a prompt. ``stable``: the same at every question, so a prompt cache can keep it."""

    name: str
    text: str
    tokens: int
    stable: bool


class Numbered(TypedDict):
    """Which card carries a number in a prompt."""

    n: int
    card_id: str


class Prompt(TypedDict):
    """A prompt: ``text`` is all ``blocks`` in order. ``left_out`` are cards the budget had no room for."""

    blocks: list[Block]
    text: str
    tokens: int
    token_budget: int | None
    guard_rules_version: str
    cards: list[Numbered]
    left_out: list[str]
    current_time: str
    contradictions: list[Contradiction]
    channels: dict[str, dict[str, Any]]
    warnings: list[str]


class CardsPage(TypedDict):
    """Some cards of a slice; give ``next_cursor`` as ``cursor`` for the next ones, until it is None."""

    cards: list[Card]
    next_cursor: str | None
