"""Cards, their relations and their history, and conflicts between them."""

from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AwareDatetime, Field

from events.resources.resource import Absent, Resource
from events.types.cards import Cardinality, EventStatus, Provenance, Sentiment
from events.types.relations import Predicate
from events.types.turns import ContextLayer

Kind = Literal["state", "event", "knowledge", "reference"]
CardStatus = Literal["current", "future", "superseded", "contested", "retracted"]


@dataclass(frozen=True, slots=True)
class OfKind:
    """The kinds that have a field of a card. Cards of the other kinds lack the field."""

    kinds: tuple[Kind, ...]


_State, _Event, _Knowledge = OfKind(("state",)), OfKind(("event",)), OfKind(("knowledge",))


class SourceSpan(Resource):
    """The exact words behind a card. Offsets are in code points."""

    turn_id: str
    start: int
    end: int
    text: str


class AnyCard(Resource, use_attribute_docstrings=True):
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
    source_span: SourceSpan | None
    provenance: Provenance
    confidence: float
    weight: float
    mentions: int
    mode: str | None
    said_at: AwareDatetime
    time_zone: str | None = Field(description="the speaker's clock: an IANA zone or an offset")
    time_grain: str | None = Field(description="the grain of the time: day, week, month, year …")
    time_resolved: bool | None
    """null: the words name no time; false: they name a time that was not resolved. The time is then that of the turn"""
    alternative_at: AwareDatetime | None
    """the other instant that an ambiguous time may mean"""
    metadata: dict[str, object] | None = Field(description="the metadata of the turn, as the app gave it")
    ended: Annotated[bool, _State] = False
    """state: it stopped being true, and no value replaced it"""
    value_at: Annotated[AwareDatetime | None, _State] = None
    """state: the start of a value that is a time"""
    value_until: Annotated[AwareDatetime | None, _State] = None
    """state: the end of a value that is a time, exclusive"""
    value_grain: Annotated[str | None, _State] = None
    """state: the grain of a value that is a time"""
    episode: Annotated[bool, _Event] = Field(False, description="event: the human words of a turn")
    topics: Annotated[list[str], _Event] = Field([], description="event: its topics")
    importance: Annotated[int | None, _Event] = Field(None, description="event: 1 to 10")
    sentiment: Annotated[Sentiment | None, _Event] = Field(None, description="event")
    event_status: Annotated[EventStatus | None, _Event] = None
    """event: what became of it, by the time of the question"""
    participants: Annotated[list[str], _Event] = Field([])
    """event: all who take part, when there are several"""
    title: Annotated[str | None, OfKind(("knowledge", "reference"))] = None
    """knowledge: its name; reference: its key"""
    aliases: Annotated[list[str], _Knowledge] = Field([], description="knowledge: its other names")
    definition: Annotated[str | None, _Knowledge] = Field(None, description="knowledge: its definition")
    pinned: Annotated[bool, _Knowledge] = Field(False, description="knowledge: it is in every prompt")
    when: str = Field(description="the times as text, on the speaker's clock and at their grain")
    time_passed: Annotated[bool, _Event] = False
    """event: it was planned, its time has passed, and nobody said that it happened"""
    aging: bool = Field(description="an old value: ask the user if it still holds")
    outdated: bool = Field(description="old knowledge: check it before use")


class Card(AnyCard):
    """A card from the tables."""

    status: CardStatus


@cache
def names_of(kind: Kind) -> tuple[str, ...]:
    """Returns the fields of every card of a kind, in the order of the JSON."""
    return tuple(
        name
        for name, field in AnyCard.model_fields.items()
        if all(kind in each.kinds for each in field.metadata if isinstance(each, OfKind))
    )


class CardsPage(Resource, use_attribute_docstrings=True):
    """One page of the cards of a slice."""

    cards: list[Card]
    next_cursor: str | None
    """give it as cursor for the next page; null after the last one"""


class MapPoint(Resource):
    """A card on the map."""

    card_id: UUID
    kind: Kind
    content: str = Field(description="the first 80 characters")
    x: int
    y: int


class CardMap(Resource, use_attribute_docstrings=True):
    """The vectors of cards in two dimensions: near cards mean similar things. Coordinates are from -1000 to 1000."""

    embedder: str | None
    """the embedder of the vectors; null: no card has a vector"""
    points: list[MapPoint]
    shown: float
    """the share of the variance of the vectors that the map shows, 0 to 1"""
    missing: int
    """cards without a vector of this embedder"""
    cut: bool
    """true when the slice has more cards than the limit"""


class UsedCard(Resource, use_attribute_docstrings=True):
    """A card with the number of answers that held it."""

    card: Card
    uses: int
    last_day: date
    """the last day, in UTC, of such an answer"""


class UsedDay(Resource):
    """The number of cards that the answers of a day in UTC held."""

    day: date
    cards: int


class CardUse(Resource, use_attribute_docstrings=True):
    """What answers to questions held. Questions with ``explain`` do not count, and a kill loses some seconds."""

    cards: list[UsedCard]
    """the cards that answers held most often"""
    days: list[UsedDay]


class Groups(Resource):
    """The number of cards for each combination of axis values. A group holds the values by axis name."""

    group_by: list[str]
    bucket: Literal["day", "week", "month"] | None
    groups: list[dict[str, object]]
    total: int


class Side(Resource):
    """One side of a contradiction: a card in short."""

    card_id: UUID
    kind: Kind
    content: str
    value: str | None
    effective_at: AwareDatetime | None
    occurred_at: AwareDatetime | None
    turn_ids: list[str]


class Contradiction(Resource, use_attribute_docstrings=True):
    """Cards that cannot both be true."""

    concept_key: str | None
    entity: str | None
    card_ids: list[UUID]
    reason: str
    arbitration_id: Absent[UUID] = None
    """the conflict that waits for a verdict"""
    cards: Absent[list[Side]] = None
    """both sides, also a side that does not answer the question"""


class CardSummary(Resource):
    """A card in short, as the neighbour of another card."""

    card_id: UUID
    kind: Kind
    content: str
    entity: str | None
    concept_key: str | None
    value: str | None
    status: CardStatus


class Edge(Resource):
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
    """An edge from the view of one of its cards. ``other`` is null when the other card is unknown."""

    direction: Literal["out", "in"]
    other: CardSummary | None


class Relations(Resource):
    """The relations of a card, stated and implied, and the cards that belong to it without an edge."""

    relations: list[Relation]
    related: list[CardSummary]
    episode: list[CardSummary]
    gave_rise_to: list[CardSummary]


class Neighbour(Resource, use_attribute_docstrings=True):
    """A card of a neighbourhood."""

    card_id: UUID
    kind: Kind
    content: str
    """its beginning, at most 120 characters"""
    status: CardStatus
    ring: int
    """0: the card in the middle, 1: one relation away from it or a card that mentions the name, 2: two away"""


class NeighbourEdge(Resource):
    """A relation between two cards of a neighbourhood."""

    from_card: UUID
    to_card: UUID
    predicate: str


class Neighbourhood(Resource, use_attribute_docstrings=True):
    """The cards around a card or a name, the nearest first, at most 300 cards, 600 edges and 200 kB."""

    nodes: list[Neighbour]
    edges: list[NeighbourEdge]
    cut: bool
    """true when there is more than fits"""


class CardUpdate(Resource):
    """A change that overwrote a card in place."""

    card_id: UUID
    changed_at: AwareDatetime
    old_value: str | None
    new_value: str | None
    old_content: str | None
    reason: str
    event_id: UUID


class CardHistory(Resource):
    """Every card about the same fact, in order of time."""

    cards: list[Card]
    updates: list[CardUpdate]
    relations: list[Edge]


class LatestCard(Resource):
    """The end of a card's chain of changes, and the ids along the chain."""

    card: Card
    chain: list[UUID]


class Arbitration(Resource):
    """A conflict that waits, or waited, for a verdict. ``evidence`` holds the turns and quotes of both sides.

    ``said_at`` is when the new value was said. ``opened_at`` and ``settled_at`` are times of the log.
    """

    arbitration_id: UUID
    project_id: str
    entity: str
    concept_key: str
    old_card: UUID | None
    new_card: UUID | None
    old_value: str | None
    new_value: str | None
    reason: str
    evidence: object
    status: Literal["open", "keep_old", "accept_new", "coexist", "withdrawn"]
    said_at: AwareDatetime
    opened_at: AwareDatetime
    settled_at: AwareDatetime | None


class Arbitrations(Resource):
    """A page of conflicts, the latest opened first."""

    arbitrations: list[Arbitration]
    next_cursor: str | None


class Accepted(Resource):
    """The event is in the log. ``duplicate`` is true when an earlier request already appended it."""

    event_id: UUID
    partition: int
    position: int
    recorded_at: AwareDatetime
    duplicate: bool
    token: str = Field(description="give the token to wait_for to read cards that include this event")
