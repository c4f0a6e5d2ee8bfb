"""Feeds the document from state cards. The fold of the cards says which values hold."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from events.core.feed import CardValue, Trust
from events.core.places import APPEND, place_of
from events.core.schema import DYNAMIC
from events.language.changes import denies
from events.language.frequencies import with_frequency
from events.platform.modes import GENERAL_MODE
from events.types.cards import StateAsserted
from events.types.envelope import Event
from events.types.extraction import CardsWithdrawn
from events.types.migrations import migrated
from events.types.relations import CardsConnected, ConnectionWithdrawn
from events.types.verdicts import ConflictRuled
from projectors.cards.arbitration import Thresholds
from projectors.cards.connections import SUPERSEDING
from projectors.cards.fold import remarked
from projectors.cards.statement import Statement, identity_groups, statements_of
from projectors.cards.timeline import ValidPeriod, state_timeline

_FORMS = {"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d"}
PROJECT = "default"
"""The project whose cards feed the document. What was said in another project stays there."""


class StateFeed:
    """The values of state cards of the default project, in the general mode or in the default mode of the project.

    The document is outside modes: facts of these two modes replace each other in it.

    A value holds when its card is current: not superseded, ended, retracted or contested, and without an end of its
    own. A relation that somebody stated counts like one of a timeline, and a card that repeats another tells nothing. A
    card whose conflict waits for a verdict changes nothing.
    """

    types = frozenset(
        cls.__name__
        for cls in (StateAsserted, CardsWithdrawn, ConflictRuled, CardsConnected, ConnectionWithdrawn)
    )

    def __init__(self, *, supersede: bool = True, thresholds: Thresholds | None = None) -> None:
        self._supersede = supersede
        self._thresholds = thresholds or Thresholds()

    def statements(self, event: Event) -> Sequence[Statement]:
        payload = event.payload
        if not isinstance(payload, StateAsserted) or not _in_scope(payload):
            return ()
        return statements_of(event, supersede=self._supersede)

    def target(self, event: Event) -> UUID | None:
        if type(event.payload).__name__ not in self.types:
            return None
        return remarked(event) or _hidden_by(event)

    def withdrawn(self, event: Event) -> Sequence[int]:
        return event.payload.positions if isinstance(event.payload, CardsWithdrawn) else ()

    def held(
        self, statements: Iterable[Statement], remarks: Mapping[UUID, Sequence[Event]]
    ) -> Sequence[CardValue]:
        about = {
            card: [each for each in told if remarked(each) is not None] for card, told in remarks.items()
        }
        hidden = {card for card, told in remarks.items() if _is_hidden(told)}
        said: dict[tuple[str, str], list[Statement]] = {}
        for each in statements:
            said.setdefault((each.event.user_id, each.identity), []).append(each)
        periods: list[ValidPeriod] = []
        for _, group in identity_groups({}, said):
            everything = [one for key in group for one in said[key]]
            periods += state_timeline(everything, about, self._thresholds).periods
        told = [each for each in periods if _tells(each) and each.first.event.event_id not in hidden]
        told.sort(key=lambda each: (each.effective_at, each.first.event.position))
        return [_value_of(each) for each in told]


def _hidden_by(event: Event) -> UUID | None:
    """Returns the card that a relation hides: the older one of a chain, or the later one of two that say the same."""
    payload = event.payload
    if isinstance(payload, CardsConnected | ConnectionWithdrawn):
        if payload.predicate in SUPERSEDING:
            return payload.to_card
        if payload.predicate == "same_as":
            return payload.from_card
    return None


def _is_hidden(told: Sequence[Event]) -> bool:
    """True when a relation among ``told`` hides its card, and no later event withdrew the relation."""
    last: dict[tuple[UUID, UUID, str], Event] = {}
    for event in sorted(told, key=lambda each: each.position):
        if _hidden_by(event) is not None:
            last[event.payload.from_card, event.payload.to_card, event.payload.predicate] = event
    return any(isinstance(event.payload, CardsConnected) for event in last.values())


def _in_scope(payload: StateAsserted) -> bool:
    origin = payload.origin
    return origin.project_id == PROJECT and (origin.default_mode or origin.register == GENERAL_MODE)


def _tells(period: ValidPeriod) -> bool:
    over = period.superseded_at is not None and (
        period.superseded_at <= period.effective_at or period.first.state.effective_until is not None
    )
    said = period.latest.state
    # A correction in words that name no value has the words as its value.
    denied = said.value == said.content and denies(said.content)
    return not (over or period.retracted or period.contested or period.ended or denied)


def _value_of(period: ValidPeriod) -> CardValue:
    latest, said = period.latest, period.latest.state
    turn_ids = dict.fromkeys(turn for each in period.statements for turn in each.state.origin.turn_ids)
    mark = migrated(said.origin.metadata)
    text = said.value or said.content
    place = place_of(said.entity, said.concept_key, period.first.event.event_id, single=latest.single)
    routine = with_frequency(text) if place[0] == DYNAMIC and place[-2:] == ("values", APPEND) else None
    if routine is not None:  # an activity is a member, and its frequency the value
        place, text = (*place[:-2], routine[0]), routine[1]
    return CardValue(
        place=place,
        key=latest.value_key,
        text=text,
        since=period.effective_at,
        until=period.superseded_at,
        event_id=latest.event.event_id,
        turn_ids=tuple(turn_ids),
        trust=_trust_of(said),
        confidence=said.confidence,
        began=_beginning(period.first.state),
        source=None if mark is None else mark.source,
        rationale=None if mark is None else f"migrated from {mark.source}",
        unsure=all(_is_unsure(each.state) for each in period.statements),
    )


def _beginning(said: StateAsserted) -> str | None:
    """Returns the time that the words name for the beginning of a fact, or None."""
    form = _FORMS.get(said.time_grain or "")
    named = said.time_resolved and form is not None and said.effective_at != said.origin.said_at
    return f"{said.effective_at:{form}}" if named else None


def _is_unsure(said: StateAsserted) -> bool:
    mark = migrated(said.origin.metadata)
    return mark is not None and said.confidence < mark.apply_from


def _trust_of(said: StateAsserted) -> Trust:
    if said.origin.provenance == "agent_inferred":
        return Trust.INFERENCE
    if said.origin.provenance == "assistant_stated":
        return Trust.AGENT
    mark = migrated(said.origin.metadata)
    if mark is not None and mark.notes:
        return Trust.AGENT
    if said.announced or said.statement in ("corrected", "updated"):
        return Trust.CORRECTION
    return Trust.USER
