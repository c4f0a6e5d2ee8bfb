"""The fold of the card tables: from events to row changes. It uses no clock, no network and no database."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from events.language.concepts import name_key
from events.store.bounds import as_real
from events.types.cards import EventNoted
from events.types.envelope import Event
from events.types.extraction import CardsWithdrawn
from events.types.modes import CardReclassified
from events.types.naming import ConceptPinned, TagAliased
from events.types.people import PERSON_EVENTS
from events.types.references import reference_id
from events.types.relations import CardsConnected, ConnectionWithdrawn
from events.types.verdicts import CardVerified, ConflictRuled
from projectors.cards.arbitration import Thresholds
from projectors.cards.card import StoredCard
from projectors.cards.card_rows import event_card, knowledge_card, reference_card, spoken_terms, state_card
from projectors.cards.concept import knowledge_timeline
from projectors.cards.connections import Connections, Link
from projectors.cards.event_standing import EventKey, Replacements, changed_standings, standings_touched
from projectors.cards.mode_walls import side_by_side, within_modes
from projectors.cards.related_rows import (
    ArbitrationKey,
    RelationKey,
    StoredArbitration,
    StoredRelation,
    StoredUpdate,
    UpdateKey,
    arbitrations,
    relations,
    updates,
)
from projectors.cards.statement import Key, Statement, identity_groups
from projectors.cards.subjects import Subjects, Tie, Told
from projectors.cards.timeline import REMARKING, Remarks, Timeline, ValidPeriod, state_timeline

CardKey = tuple[str, str, UUID]  # user, kind, card
_K = TypeVar("_K")
_Row = TypeVar("_Row")


@dataclass(slots=True)
class Changes:
    """The row changes of a batch. Rows that are gone are deleted before rows are put. Counts are differences.

    ``terms`` are the terms of each user. A term stays when its card goes, so terms are only added. ``aliases`` are tags
    with the tag they mean. ``standings`` are event cards of earlier batches whose standing changes, as they are then.
    ``ties`` are differences of counts.
    """

    cards_put: dict[CardKey, StoredCard] = field(default_factory=dict)
    cards_gone: set[CardKey] = field(default_factory=set)
    relations_put: dict[RelationKey, StoredRelation] = field(default_factory=dict)
    relations_gone: set[RelationKey] = field(default_factory=set)
    arbitrations_put: dict[ArbitrationKey, StoredArbitration] = field(default_factory=dict)
    arbitrations_gone: set[ArbitrationKey] = field(default_factory=set)
    updates_put: dict[UpdateKey, StoredUpdate] = field(default_factory=dict)
    updates_gone: set[UpdateKey] = field(default_factory=set)
    statements: list[Statement] = field(default_factory=list)
    statements_gone: list[Statement] = field(default_factory=list)
    ties: Counter[Tie] = field(default_factory=Counter)
    person_events: list[tuple[Event, UUID, UUID]] = field(default_factory=list)
    person_events_gone: list[tuple[str, UUID]] = field(default_factory=list)
    remarks: list[tuple[UUID, Event]] = field(default_factory=list)
    standings: dict[CardKey, StoredCard] = field(default_factory=dict)
    aliases: dict[tuple[str, str], tuple[datetime, UUID, str]] = field(default_factory=dict)
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    terms: dict[str, set[str]] = field(default_factory=dict)

    def told(self, told: Told, recalled: Iterable[Event]) -> None:
        """Adds what a batch tells of people. An event relates two people, and has a row for each."""
        self.ties = told.ties
        self.person_events = [
            (event, *pair)
            for event, one, other in told.events.values()
            for pair in ((one, other), (other, one))
        ]
        self.person_events_gone = [
            (event.user_id, event.event_id) for event in recalled if isinstance(event.payload, PERSON_EVENTS)
        ]


def keys_touched(
    events: Iterable[Event], *, supersede: bool = True, subjects: Subjects | None = None
) -> set[Key]:
    """Returns the identities of ``events``, whose earlier statements :func:`fold` needs."""
    subjects = subjects or Subjects()
    return {(event.user_id, s.identity) for event in events for s in subjects.statements(event, supersede)}


def remarked(event: Event) -> UUID | None:
    """Returns the statement or event that ``event`` is a remark on, or None. The identity of a statement is touched."""
    payload = event.payload
    if isinstance(payload, ConflictRuled):
        return payload.arbitration_id
    if isinstance(payload, CardVerified | CardReclassified | ConceptPinned):
        return payload.card_id
    if isinstance(payload, CardsConnected | ConnectionWithdrawn) and payload.predicate in REMARKING:
        return payload.to_card
    return None


def fold(
    events: Sequence[Event],
    known: Mapping[Key, Sequence[Statement]],
    recalled: Sequence[Event] = (),
    *,
    remarks: Sequence[Event] = (),
    connections: Iterable[Link] = (),
    replaced: Sequence[Event] = (),
    references: Mapping[tuple[str, UUID], int] | None = None,
    subjects: Subjects | None = None,
    supersede: bool = True,
    thresholds: Thresholds | None = None,
) -> Changes:
    """Returns the changes that ``events`` make to tables that hold the fold of all earlier events.

    ``known`` are the earlier statements of every identity in :func:`keys_touched`, of the identities of ``recalled``
    and of people whose chains are others now (``subjects``), and of the identities that share an event with these. The
    fold computes the cards of these identities before and after the batch and returns the difference. The result
    therefore does not depend on the order of arrival. ``recalled`` are the events that a ``CardsWithdrawn`` among
    ``events`` takes back. ``remarks`` are the earlier remarks on these statements and on ``replaced``.
    ``connections`` are the chains that lead on from the cards that ``events`` connect. ``replaced`` are the events of
    :func:`~projectors.cards.event_standing.standings_touched` that the tables hold, and the events that replace them.
    ``references`` are the cards of references that the tables hold, each with the number of its terms.
    """
    changes = Changes()
    subjects = subjects or Subjects()
    held = dict(references or {})
    chains = Connections(connections)
    said: dict[Key, list[Statement]] = {}
    earlier = _by_target(remarks)
    all_remarks = {target: list(found) for target, found in earlier.items()}
    for event in events:
        payload = event.payload
        if isinstance(payload, CardsConnected | ConnectionWithdrawn):
            _connect(changes, chains, event, payload)
        if isinstance(payload, EventNoted):
            _note(changes, event, payload)
        elif isinstance(payload, TagAliased):
            _alias(changes, event, payload)
        elif (card_id := reference_id(event)) is not None:
            _refer(changes, event, (event.user_id, card_id), held)
        elif (target := remarked(event)) is not None:
            changes.remarks.append((target, event))
            all_remarks.setdefault((event.user_id, target), []).append(event)
        elif statements := subjects.statements(event, supersede):
            changes.terms.setdefault(event.user_id, set()).update(spoken_terms(event))
            changes.statements += statements
            for statement in statements:
                said.setdefault((event.user_id, statement.identity), []).append(statement)
    _withdraw(changes, recalled)
    gone = {event.event_id for event in recalled}
    now = _present(changes, known, said, gone, subjects)
    for user_id, group in identity_groups(known, now):
        _difference(
            changes,
            user_id,
            _timeline(user_id, known, group, earlier, thresholds),
            _timeline(user_id, now, group, all_remarks, thresholds),
        )
    if gone:
        changes.statements = [one for one in changes.statements if one.event.event_id not in gone]
    if touched := standings_touched(events, recalled):
        now_noted = [event for event in (*replaced, *events) if event.event_id not in gone]
        _stand(changes, touched, Replacements(replaced, earlier), Replacements(now_noted, all_remarks))
    return changes


def _present(
    changes: Changes,
    known: Mapping[Key, Sequence[Statement]],
    said: Mapping[Key, Sequence[Statement]],
    gone: set[UUID],
    subjects: Subjects,
) -> dict[Key, list[Statement]]:
    """Returns the statements after the batch by their present identities. Adds the known ones that go or move."""
    now: dict[Key, list[Statement]] = {}
    for one in (one for statements in known.values() for one in statements):
        present = subjects.now(one)
        taken = one.event.event_id in gone
        if taken or present is not one:
            changes.statements_gone.append(one)
        if not taken:
            now.setdefault((one.event.user_id, present.identity), []).append(present)
            changes.statements += [present] if present is not one else []
    for key, statements in said.items():
        if kept := [one for one in statements if one.event.event_id not in gone]:
            now.setdefault(key, []).extend(kept)
    return now


def noted_cards(events: Iterable[Event]) -> Changes:
    """Returns the changes that the noted events among ``events`` make by themselves. No event replaces another yet."""
    changes = Changes()
    for event in events:
        if isinstance(event.payload, EventNoted):
            _note(changes, event, event.payload)
    return changes


def replacements_of(replacing: Sequence[Event], noted: Sequence[Event]) -> Changes:
    """Returns the standings and relations that ``replacing`` events make, when the tables hold none of them yet.

    ``replacing`` are all replacing events of their users, and the remarks on events. ``noted`` are the events they name
    that the tables hold.
    """
    changes = Changes()
    held = Replacements((*noted, *replacing), _by_target(replacing))
    _stand(changes, standings_touched(replacing), Replacements(()), held)
    return changes


def _note(changes: Changes, event: Event, payload: EventNoted) -> None:
    noted, terms = event_card(event, payload)
    changes.terms.setdefault(event.user_id, set()).update(terms)
    changes.cards_put[event.user_id, "event", event.event_id] = noted
    _count(changes, 1, noted)


def _refer(changes: Changes, event: Event, card: tuple[str, UUID], held: dict[tuple[str, UUID], int]) -> None:
    """Puts the card of a reference as it is after ``event``, in the place of the card before."""
    key = (card[0], "reference", card[1])
    before = changes.cards_put.pop(key, None)
    if before is not None:
        _count(changes, -1, before)
    elif (own_terms := held.pop(card, None)) is not None:
        changes.cards_gone.add(key)
        cards, terms = changes.counts.get(card[0], (0, 0))
        changes.counts[card[0]] = (cards - 1, terms - own_terms)
    if (made := reference_card(event)) is not None:
        changes.cards_put[key], terms_found = made
        changes.terms.setdefault(card[0], set()).update(terms_found)
        _count(changes, 1, changes.cards_put[key])


def _stand(changes: Changes, touched: set[EventKey], before: Replacements, after: Replacements) -> None:
    """Adds the standings and the relations of the ``touched`` events."""
    for (user_id, event_id), standing in changed_standings(before, after, touched).items():
        key = (user_id, "event", event_id)
        put = changes.cards_put.get(key)
        if put is not None:
            changes.cards_put[key] = standing.of(put)
        else:
            event = after.events[user_id, event_id]
            card, _ = event_card(event, event.payload)
            changes.standings[key] = standing.of(card)
    _replace(
        before.relations(touched), after.relations(touched), changes.relations_put, changes.relations_gone
    )


def withdrawn_places(events: Iterable[Event]) -> list[tuple[int, int]]:
    """Returns the places of the events that ``events`` take back: (partition, position)."""
    return [
        (event.partition, position)
        for event in events
        if isinstance(event.payload, CardsWithdrawn)
        for position in event.payload.positions
    ]


def _by_target(remarks: Iterable[Event]) -> dict[tuple[str, UUID], list[Event]]:
    found: dict[tuple[str, UUID], list[Event]] = {}
    for event in remarks:
        if (target := remarked(event)) is not None:
            found.setdefault((event.user_id, target), []).append(event)
    return found


def _withdraw(changes: Changes, recalled: Iterable[Event]) -> None:
    for event in recalled:
        if isinstance(event.payload, EventNoted):
            key = (event.user_id, "event", event.event_id)
            card = changes.cards_put.pop(key, None)
            if card is None:
                card, _ = event_card(event, event.payload)
                changes.cards_gone.add(key)
            _count(changes, -1, card)


def _connect(
    changes: Changes, chains: Connections, event: Event, payload: CardsConnected | ConnectionWithdrawn
) -> None:
    link = (event.user_id, payload.from_card, payload.to_card, payload.predicate)
    key = (*link, False)
    changes.relations_gone.add(key)
    if isinstance(payload, ConnectionWithdrawn):
        chains.withdraw(link)
        changes.relations_put.pop(key, None)
        return
    changes.relations_put[key] = StoredRelation(
        user_id=event.user_id,
        from_card=payload.from_card,
        to_card=payload.to_card,
        predicate=payload.predicate,
        implied=False,
        reason=payload.reason,
        confidence=as_real(payload.confidence),
        event_id=event.event_id,
        created_at=event.recorded_at,
        actor=event.actor,
        refused=not chains.connect(link),
    )


def _alias(changes: Changes, event: Event, payload: TagAliased) -> None:
    key = (event.user_id, name_key(payload.alias))
    word = (event.occurred_at, event.event_id, name_key(payload.tag))
    changes.aliases[key] = max(changes.aliases.get(key, word), word)


def _timeline(
    user_id: str,
    statements: Mapping[Key, Sequence[Statement]],
    group: Sequence[Key],
    remarks: Mapping[tuple[str, UUID], Sequence[Event]],
    thresholds: Thresholds | None,
) -> Timeline:
    """Returns the timelines of those identities of ``group`` that share an event, side by side in one."""
    own = {key: statements[key] for key in group if key in statements}
    found = [
        _of_identity(user_id, [one for key in keys for one in own[key]], remarks, thresholds)
        for keys in (
            [group] if len(own) == 1 == len(group) else (keys for _, keys in identity_groups(own, {}))
        )
    ]
    return found[0] if len(found) == 1 else side_by_side(found)


def _of_identity(
    user_id: str,
    statements: Sequence[Statement],
    remarks: Mapping[tuple[str, UUID], Sequence[Event]],
    thresholds: Thresholds | None,
) -> Timeline:
    about: Remarks = {}
    if remarks:
        ids = (one.event.event_id for one in statements)
        about = {event_id: remarks[user_id, event_id] for event_id in ids if (user_id, event_id) in remarks}

    def timeline_of(said: Sequence[Statement]) -> Timeline:
        if statements[0].identity.startswith("state"):
            return state_timeline(said, about, thresholds)
        return knowledge_timeline(said, about)

    return within_modes(statements, about, timeline_of)


def _difference(changes: Changes, user_id: str, before: Timeline, after: Timeline) -> None:
    # A card is a function of its valid period. Most periods of a long timeline do not change. Comparing what they are
    # made of is a thousand times cheaper than making two cards and comparing these.
    earlier = {period.first.event.event_id: period for period in before.periods}
    for period in after.periods:
        card_id = period.first.event.event_id
        old = earlier.pop(card_id, None)
        if old is not None and _content(old) == _content(period):
            continue
        card = _card(period)
        key = (user_id, card.kind, card_id)
        changes.cards_put[key] = card
        _count(changes, 1, card)
        if old is not None:
            changes.cards_gone.add(key)
            _count(changes, -1, _card(old))
    for card_id, period in earlier.items():
        card = _card(period)
        changes.cards_gone.add((user_id, card.kind, card_id))
        _count(changes, -1, card)
    _replace(relations(before), relations(after), changes.relations_put, changes.relations_gone)
    _replace(
        arbitrations(user_id, before),
        arbitrations(user_id, after),
        changes.arbitrations_put,
        changes.arbitrations_gone,
    )
    _replace(updates(user_id, before), updates(user_id, after), changes.updates_put, changes.updates_gone)


def _replace(before: dict[_K, _Row], after: dict[_K, _Row], put: dict[_K, _Row], gone: set[_K]) -> None:
    for key, values in after.items():
        held = before.get(key)
        if held != values:
            put[key] = values
            if held is not None:
                gone.add(key)
    gone.update(before.keys() - after.keys())


def _card(period: ValidPeriod) -> StoredCard:
    return state_card(period) if period.first.identity.startswith("state") else knowledge_card(period)


def _content(period: ValidPeriod) -> tuple[object, ...]:
    return (
        period.effective_at, period.superseded_at, period.retracted, period.contested, period.ended,
        period.verified_at, period.mode, period.names, period.pinned,
        [statement.event.event_id for statement in period.agreeing],
        [statement.event.event_id for statement in period.revisions],
    )  # fmt: skip


def _count(changes: Changes, sign: int, card: StoredCard) -> None:
    cards, terms = changes.counts.get(card.user_id, (0, 0))
    changes.counts[card.user_id] = (cards + sign, terms + sign * card.own_terms)
