"""The parameters of the cards API, and the slices they mean."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from events.http.errors import invalid
from events.http.fields import QueryInstant, Uuid, metadata_wanted, refuse_future, text_given
from events.language.concepts import canonical_key, normalise_entity
from events.store.bounds import MAX_WEIGHT, as_real
from events.types.cards import Cardinality, Provenance, Sentiment
from events.types.relations import Predicate
from events.types.turn_contract import known_zone, zone_hint
from events.types.turns import ContextLayer
from retrieval.cards.slice import AXES, CONDITIONS, KINDS, Slice

ALL = "*"
EVERY_STATUS = frozenset(("all", ALL))
MAX_AXES = 4

Kind = Literal["state", "event", "knowledge", "reference"]
StatusAsked = Literal["current", "future", "superseded", "contested", "retracted", "all", "*"]
ArbitrationStatus = Literal["open", "keep_old", "accept_new", "coexist", "withdrawn", "all", "*"]
Names = Annotated[list[str] | None, Field(default=None, max_length=100)]


class ReaderIn(BaseModel, extra="forbid", use_attribute_docstrings=True):
    """The user whose cards are read."""

    user_id: str = Field(min_length=1, description="whose memory is read")
    wait_for: str | None = None
    """token of a push or of a command: wait until the cards hold it"""


class TemporalParams(ReaderIn):
    """The user, the valid time and the transaction time."""

    as_of: Annotated[QueryInstant | None, Field(description="what was true at this instant")] = None
    known_at: QueryInstant | None = None
    """only what had been recorded by this instant"""


Real = Annotated[float, AfterValidator(as_real)]


class SliceIn(TemporalParams):
    """A slice. Every parameter narrows the slice. A repeated parameter means any of its values."""

    project_id: list[str] = ["default"]
    """only cards of these projects; * for all"""
    context_layer: list[ContextLayer] | None = None
    kind: list[Kind] | None = None
    """state, event, knowledge, reference; all unless given"""
    status: list[StatusAsked] = ["current"]
    """current, future, superseded, contested, retracted; all or * for all"""
    created_from: Annotated[QueryInstant | None, Field(description="recorded at or after")] = None
    created_to: Annotated[QueryInstant | None, Field(description="recorded before")] = None
    occurred_from: Annotated[QueryInstant | None, Field(description="happened or lasted at or after")] = None
    occurred_to: Annotated[QueryInstant | None, Field(description="happened before")] = None
    effective_from: QueryInstant | None = None
    """true since this instant or later"""
    effective_to: Annotated[QueryInstant | None, Field(description="became true before")] = None
    superseded_from: QueryInstant | None = None
    """no longer true since this instant or later"""
    superseded_to: Annotated[QueryInstant | None, Field(description="stopped being true before")] = None
    verified_from: Annotated[QueryInstant | None, Field(description="last verified at or after")] = None
    verified_to: Annotated[QueryInstant | None, Field(description="last verified before")] = None
    session_id: Names
    agent_id: Names
    document_id: Names
    metadata: str | None = None
    """a JSON object that the metadata of a card must contain, such as {"ticket": "A-17"}"""
    turn_id: Names
    speaker: Names
    mode: Names
    concept_key: Names
    entity: Names
    value: Names
    cardinality: Cardinality | None = None
    tag: Annotated[list[str] | None, Field(max_length=100)] = None
    """tags, all of which a card must have"""
    topic: Names
    about: Annotated[str | None, Field(max_length=512)] = None
    """a name: cards that mention it, or mention its concept by any other name"""
    knowledge: Uuid | None = None
    """a knowledge card: the cards that mention its concept"""
    provenance: list[Provenance] | None = None
    min_confidence: Annotated[Real | None, Field(ge=0, le=1)] = None
    max_confidence: Annotated[Real | None, Field(ge=0, le=1)] = None
    min_weight: Annotated[Real | None, Field(ge=0, le=MAX_WEIGHT)] = None
    predicate: list[Predicate] | None = None
    """cards that stand in such a relation"""
    related_to: Annotated[Uuid | None, Field(description="cards one relation away from this one")] = None
    episode: bool | None = None
    min_importance: Annotated[int | None, Field(ge=1, le=10)] = None
    sentiment: list[Sentiment] | None = None
    pinned: bool | None = None
    """concepts that are in every prompt, or the others"""
    recalled: bool | None = None
    """cards that an answer held, or the others; counts of the last seconds may be missing"""
    collapse: Annotated[bool, Field(description="leave out cards that repeat (same_as) another card")] = False


class CardsIn(SliceIn):
    """A page of a slice. The last recorded card is first."""

    limit: Annotated[int, Field(ge=1, le=500)] = 50
    cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None


class ConceptsIn(ReaderIn):
    """A page of the concepts of a user. The last recorded one is first."""

    project_id: list[str] = ["default"]
    """only concepts of these projects; * for all"""
    pinned: Annotated[bool | None, Field(description="those that are in every prompt, or the others")] = None
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None


class MapIn(SliceIn):
    """The slice that is drawn. The last recorded cards are drawn when it has more than the limit."""

    limit: Annotated[int, Field(ge=1, le=2000, description="the most cards")] = 1000


class UsedIn(ReaderIn):
    """The use of the cards of a user."""

    limit: Annotated[int, Field(ge=1, le=100, description="the most cards")] = 20
    days: Annotated[int, Field(ge=1, le=92, description="the last days, in UTC")] = 30


class AggregateIn(SliceIn):
    """A slice, grouped by the values of some axes."""

    group_by: Annotated[list[str], Field(min_length=1, description=f"axes, of {', '.join(AXES)}")]
    bucket: Literal["day", "week", "month"] = "day"
    """the size of the groups of an axis of time"""
    timezone: Annotated[str, Field(max_length=64, description="IANA zone the buckets begin in")] = "UTC"


class RelationsIn(TemporalParams):
    """The relations of a card."""

    predicate: list[Predicate] | None = None


class NeighbourhoodIn(TemporalParams):
    """The neighbourhood of a card."""

    limit: Annotated[int, Field(ge=1, le=300, description="the most cards")] = 300


class NameIn(NeighbourhoodIn):
    """The neighbourhood of a name."""

    about: Annotated[str, Field(min_length=1, max_length=512)]
    """a name: cards that mention it, or mention its concept by any other name"""


class ArbitrationsIn(TemporalParams):
    """Arbitrations, open or settled. ``as_of`` leaves out those whose new value was said later."""

    status: Annotated[list[ArbitrationStatus], Field(description="* for all")] = ["open"]
    project_id: Annotated[list[str], Field(description="projects; * for all")] = ["*"]
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    cursor: Annotated[str | None, Field(description="next_cursor of the page before")] = None


_RANGES = ("created", "effective", "superseded", "verified")
"""The axes whose ranges must not end before they begin. What lasted may match both ends of `occurred` in any order."""


def slice_of(query: SliceIn, now: datetime) -> Slice:
    """Returns the slice of ``query``. The caller adds the conditions that need the tables: names, tags, duplicates.

    Raises a 422 ProblemError, which names the field, for text that cannot be stored, for an instant in the future, and
    for a range that ends before it begins.
    """
    asked = asked_of(query, now)
    given = query.model_dump(include=set(CONDITIONS), exclude_none=True)
    if (wanted := metadata_wanted(query.metadata)) is not None:
        given["metadata"] = wanted
    else:
        given.pop("metadata", None)
    for field, value in given.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                text_given(field, text)
    for axis in _RANGES:
        first, last = given.get(f"{axis}_from"), given.get(f"{axis}_to")
        if first is not None and last is not None and first > last:
            raise invalid(f"{axis}_from", f"must not be after {axis}_to")
    if query.about is not None:
        text_given("about", query.about)
    folded: dict[str, Callable[[str], str]] = {
        "concept_key": canonical_key,
        "entity": normalise_entity,
        "value": str.lower,
    }
    conditions = {
        field: [folded[field](text) for text in value] if field in folded else value
        for field, value in given.items()
    }
    return Slice(
        user_id=asked.user_id,
        now=now,
        as_of=query.as_of,
        known_at=query.known_at,
        kinds=tuple(kind for kind in KINDS if query.kind is None or kind in query.kind),
        projects=None
        if ALL in query.project_id
        else tuple(text_given("project_id", p) for p in query.project_id),
        statuses=None if EVERY_STATUS.intersection(query.status) else tuple(query.status),
        conditions=conditions,
    )


def asked_of(query: TemporalParams, now: datetime) -> Slice:
    """Returns the slice of all cards of the user at the instants of ``query``. Raises like :func:`slice_of`."""
    refuse_future("as_of", query.as_of, now)
    refuse_future("known_at", query.known_at, now)
    return Slice(
        user_id=text_given("user_id", query.user_id), now=now, as_of=query.as_of, known_at=query.known_at
    )


def reader_of(query: ReaderIn) -> str:
    """Returns the user of ``query``. Raises a 422 ProblemError for a name that no user can have."""
    return text_given("user_id", query.user_id)


def axes_of(group_by: list[str]) -> list[str]:
    """Returns the axes, each once. An item may name several axes, separated by commas.

    Raises a 422 ProblemError, which names the allowed axes.
    """
    axes = list(dict.fromkeys(name.strip() for given in group_by for name in given.split(",")))
    for axis in axes:
        if axis not in AXES:
            raise invalid("group_by", f"{axis!r} is no axis; use {', '.join(AXES)}", allowed=AXES)
    if len(axes) > MAX_AXES:
        raise invalid("group_by", f"names {len(axes)} axes; at most {MAX_AXES} can be taken at once")
    return axes


def zone_of(name: str) -> str:
    """Returns ``name`` when it is an IANA zone. Otherwise raises a 422 ProblemError."""
    if (zone := known_zone(name)) is None:
        raise invalid("timezone", f"is {name[:40]!r}; {zone_hint(name)}")
    return zone.key
