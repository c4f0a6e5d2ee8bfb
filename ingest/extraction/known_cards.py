"""What is known of a user at one place of the log: the current facts, the open plans and the latest events.

The functions are pure. The same statements, project and instant give the same result.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from events.language.concepts import canonical_key, normalise_entity, normalise_value
from events.types.cards import Cardinality, EventNoted, EventStatus, StateAsserted, Statement
from events.types.envelope import Event, NewEvent

_MOST_FACTS = 200
_MOST_PLANS = 40
_MOST_EVENTS = 60
_LONGEST = 300  # Characters of each text. The longest value of a card has 768 bytes.
_PASSED = timedelta(days=14)
"""A plan stays open for so long after its time: "the trip last weekend fell through" is said afterwards."""
_UNDATED = timedelta(days=120)
"""A plan without a time stays open for so long after it was said."""


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A statement about an entity. ``mode`` is the first name of its mode.

    ``event_id`` is the event that first said the value without a break, so it is the id of the card. ``since`` is the
    instant from which the value is true, and ``said_at`` is when it was said last. ``identity`` is the normalised
    entity, key and value: facts with equal identities are one fact.
    """

    event_id: UUID
    project_id: str
    mode: str
    session_id: str
    entity: str
    concept_key: str
    value: str
    cardinality: Cardinality
    since: datetime
    until: datetime | None
    said_at: datetime
    statement: Statement
    replaces: str | None
    identity: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class KnownEvent:
    """An event that was noted. ``mode`` is the first name of its mode. ``words`` are the words that the event rests on.
    ``time_zone`` is the speaker's clock.

    ``occurred_until`` is exclusive. ``replaces_event`` is the earlier event that this event replaces. ``of_plan`` is
    True for the correction of a plan, which is a plan itself.
    """

    event_id: UUID
    project_id: str
    mode: str
    session_id: str
    entity: str
    content: str
    words: str
    status: EventStatus
    occurred_at: datetime
    occurred_until: datetime | None
    time_resolved: bool
    time_grain: str | None
    time_zone: str | None
    said_at: datetime
    participants: tuple[str, ...] = ()
    replaces_event: UUID | None = None
    of_plan: bool = False

    def is_open(self, at: datetime) -> bool:
        """Returns True for a plan whose time has not long passed at the instant ``at``.

        A corrected event is a plan when it corrects a plan or lay ahead when it was said.
        """
        if not self.is_plan:
            return False
        if not self.time_resolved:
            return at - max(self.said_at, self.occurred_until or self.said_at) <= _UNDATED
        return at - (self.occurred_until or self.occurred_at) <= _PASSED

    @property
    def is_plan(self) -> bool:
        """True for a plan, and for a correction that tells of a plan."""
        ahead = self.of_plan or (self.time_resolved and self.occurred_at > self.said_at)
        return self.status == "planned" or (self.status == "corrected" and ahead)


@dataclass(frozen=True, slots=True)
class KnownCards:
    """The known cards of one user in one project, the latest last. Every tuple is bounded.

    ``events`` are the events that are no open plan. No card here is withdrawn, ended or replaced.
    """

    facts: tuple[KnownFact, ...] = ()
    plans: tuple[KnownEvent, ...] = ()
    events: tuple[KnownEvent, ...] = ()

    def in_mode(self, mode: str) -> KnownCards:
        """Returns the cards of one mode, which is given by its first name."""
        return KnownCards(
            tuple(card for card in self.facts if card.mode == mode),
            tuple(card for card in self.plans if card.mode == mode),
            tuple(card for card in self.events if card.mode == mode),
        )

    def with_events(self, events: Iterable[NewEvent], at: datetime) -> KnownCards:
        """Returns these cards with the cards of a person among ``events``, which are not in the log yet."""
        cards = [card for each in events if (card := known_card(each)) is not None]
        if not cards:
            return self
        fresh = [card for card in cards if isinstance(card, KnownEvent)]
        facts = [card for card in cards if isinstance(card, KnownFact) and card.statement != "ended"]
        gone = {card.replaces_event for card in fresh}
        return KnownCards((*facts, *self.facts), *_standing((*self.events, *self.plans, *fresh), gone, at))


NOTHING = KnownCards()


def identity_of(state: StateAsserted) -> tuple[str, str, str]:
    """Returns the normalised entity, key and value of a state. States with equal identities say one thing."""
    key = canonical_key(state.concept_key)
    return normalise_entity(state.entity), key, normalise_value(key, state.value)


def known_card(event: Event | NewEvent) -> KnownFact | KnownEvent | None:
    """Returns a state or an event of a person in short form. Returns None for episodes and for every other event."""
    payload = event.payload
    if isinstance(payload, StateAsserted):
        return KnownFact(
            event_id=event.event_id,
            project_id=payload.origin.project_id,
            mode=payload.origin.register,
            session_id=payload.origin.session_id,
            entity=payload.entity[:_LONGEST],
            concept_key=payload.concept_key[:_LONGEST],
            value=payload.value[:_LONGEST],
            cardinality=payload.cardinality,
            since=payload.effective_at,
            until=payload.effective_until,
            said_at=payload.origin.said_at,
            statement=payload.statement,
            replaces=None if payload.replaces is None else payload.replaces[:_LONGEST],
            identity=identity_of(payload),
        )
    if isinstance(payload, EventNoted) and not payload.episode:
        span = payload.origin.source_span
        return KnownEvent(
            event_id=event.event_id,
            project_id=payload.origin.project_id,
            mode=payload.origin.register,
            session_id=payload.origin.session_id,
            entity=payload.entity[:_LONGEST],
            content=payload.content[:_LONGEST],
            words="" if span is None else span.text[:_LONGEST],
            status=payload.status,
            occurred_at=payload.occurred_at,
            occurred_until=payload.occurred_until,
            time_resolved=payload.time_resolved,
            time_grain=payload.time_grain,
            time_zone=payload.origin.time_zone,
            said_at=payload.origin.said_at,
            participants=payload.participants,
            replaces_event=payload.replaces_event,
        )
    return None


def fold_known(cards: Iterable[KnownFact | KnownEvent], project_id: str, at: datetime) -> KnownCards:
    """Returns the known cards of a project at the instant ``at``. ``cards`` are in the order of their turns."""
    facts: dict[tuple[str, ...], KnownFact] = {}
    events: list[KnownEvent] = []
    replaced: set[UUID] = set()
    for card in cards:
        if card.project_id != project_id:
            continue
        if isinstance(card, KnownFact):
            _state(facts, card, at)
        else:
            events.append(card)
            if card.replaces_event is not None:
                replaced.add(card.replaces_event)
    latest = sorted(facts.values(), key=lambda fact: fact.said_at)
    return KnownCards(tuple(latest[-_MOST_FACTS:]), *_standing(events, replaced, at))


def _standing(
    events: Iterable[KnownEvent], gone: Collection[UUID | None], at: datetime
) -> tuple[tuple[KnownEvent, ...], tuple[KnownEvent, ...]]:
    """Returns the latest open plans and the latest other events, without those that are ``gone``."""
    standing = [event for event in _of_plans(events) if event.event_id not in gone]
    return (
        tuple([event for event in standing if event.is_open(at)][-_MOST_PLANS:]),
        tuple([event for event in standing if not event.is_open(at)][-_MOST_EVENTS:]),
    )


def _of_plans(events: Iterable[KnownEvent]) -> list[KnownEvent]:
    """Returns the events, each correction of a plan with ``of_plan``. An event comes behind what it replaces."""
    plans: set[UUID] = set()
    told: list[KnownEvent] = []
    for event in events:
        corrects = event.status == "corrected" and event.replaces_event in plans
        told.append(replace(event, of_plan=True) if corrects else event)
        if told[-1].is_plan:
            plans.add(event.event_id)
    return told


def _state(facts: dict[tuple[str, ...], KnownFact], said: KnownFact, at: datetime) -> None:
    """Applies one statement to ``facts``, which holds the values in force by slot."""
    entity, key, value = said.identity
    single = said.cardinality == "single_value"
    about = (said.mode, entity, key)
    slot = about if single else (*about, value)
    if said.statement == "ended":
        for other in [slot for slot in facts if slot[:3] == about]:
            if not said.value or facts[other].identity[2] == value:
                del facts[other]
        return
    if said.replaces is not None and said.statement in ("corrected", "updated"):
        gone = normalise_value(key, said.replaces)
        facts.pop((*about, gone), None)
    if (said.until is not None and said.until <= at) or said.since > max(at, said.said_at):
        return
    before = facts.get(slot)
    if before is not None and before.identity[2] == value:
        # The value was said again. The card keeps the id and the start of its first statement.
        said = replace(said, event_id=before.event_id, since=min(before.since, said.since))
    elif before is not None and before.since > said.since and said.statement == "asserted":
        return
    facts[slot] = said
