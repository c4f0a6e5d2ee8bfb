"""A card: what it says to every reader, and what the card table holds of it besides."""

from dataclasses import fields
from datetime import datetime
from typing import Literal
from uuid import UUID

import orjson

from events.types.cards import Cardinality, EventStatus, Provenance, Sentiment, SourceSpan
from events.types.json_values import Json
from events.types.metadata import metadata_text
from events.types.records import record
from events.types.turns import ContextLayer

Kind = Literal["state", "event", "knowledge", "reference"]


@record
class Card:
    """What a card says. Instants are aware. A field that belongs to another kind is None.

    ``effective_at`` and ``superseded_at`` bound the time in which a state holds; ``occurred_at`` and
    ``occurred_until`` (exclusive) the time in which an event happened. A retracted card was never true. A contested
    card was never current. An ended card says that something is over and holds at no instant.

    ``time_zone`` is the clock on which the times are told, ``time_grain`` their grain ("day", "month" …).
    ``time_resolved`` is None when the turn names no time, and False when it names a time that was not resolved.
    ``occurred_at`` or ``effective_at`` is then the time of the turn. ``alternative_at`` is the other instant that an
    ambiguous time may mean. A value that is a time lies between ``value_at`` and ``value_until`` (exclusive).

    ``event_status`` says what became of an event, and ``stated_status`` what its own words say. The two differ when a
    later event cancels or corrects it. An event that a later event replaces has a ``superseded_at``: when that was
    said.
    """

    card_id: UUID
    kind: Kind
    content: str
    entity: str | None = None
    concept_key: str | None = None
    value: str | None = None
    cardinality: Cardinality | None = None
    tags: list[str]
    occurred_at: datetime | None = None
    occurred_until: datetime | None = None
    effective_at: datetime | None = None
    superseded_at: datetime | None = None
    last_verified: datetime
    created_at: datetime
    said_at: datetime
    project_id: str
    session_id: str
    agent_id: str | None = None
    document_id: str | None = None
    context_layer: ContextLayer | None = None
    speaker: str | None = None
    turn_ids: list[str]
    source_span: SourceSpan | None = None
    metadata: dict[str, Json] | None = None
    provenance: Provenance
    confidence: float
    weight: float
    mentions: int = 1
    mode: str | None = None
    retracted: bool = False
    contested: bool = False
    ended: bool = False
    episode: bool | None = None
    topics: list[str] | None = None
    importance: int | None = None
    sentiment: Sentiment | None = None
    title: str | None = None
    aliases: list[str] | None = None
    definition: str | None = None
    pinned: bool = False
    time_zone: str | None = None
    time_grain: str | None = None
    time_resolved: bool | None = None
    alternative_at: datetime | None = None
    event_status: EventStatus | None = None
    stated_status: EventStatus | None = None
    participants: list[str] | None = None
    value_at: datetime | None = None
    value_until: datetime | None = None
    value_grain: str | None = None

    @property
    def begun(self) -> datetime | None:
        """When the card became true or happened."""
        return self.effective_at if self.kind == "state" else self.occurred_at or self.effective_at


@record
class StoredCard(Card):
    """A row of the card table. ``position`` is the place of its event in the partition of its user.

    ``name_keys`` are the normalised names of a concept, ``related_keys`` those of the concepts it is related to.
    ``term_keys`` find the card: first its ``own_terms`` own terms, then the terms of what was said before it.
    ``pair_keys`` find it by pairs of characters.
    """

    user_id: str
    position: int
    caused_by: UUID | None
    name_keys: list[str] | None = None
    related_keys: list[str] | None = None
    term_keys: list[int]
    own_terms: int
    pair_keys: list[int]

    @property
    def source_span_json(self) -> str | None:
        """The text of the column ``source_span``."""
        return None if self.source_span is None else orjson.dumps(self.source_span).decode()

    @property
    def metadata_json(self) -> str | None:
        """The text of the column ``metadata``."""
        return metadata_text(self.metadata)


CARD_FIELDS = tuple(field.name for field in fields(Card))
"""The columns a reader selects to make a :class:`Card`."""
STORED_FIELDS = tuple(field.name for field in fields(StoredCard))
"""Every column of the card table."""
