"""Whose facts a state is about: what events tell of the people of their users, and the chains that follow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from events.language.concepts import normalise_entity
from events.people.judgement import chains_of, pair_of, person_id, tie_of_ids
from events.people.mentions import subject_of, ties_in
from events.types.cards import StateAsserted
from events.types.envelope import Event
from events.types.people import PERSON_EVENTS
from projectors.cards.statement import Statement, chain_in, moved, statements_of

PersonKey = tuple[str, UUID]  # user, person
Tie = tuple[str, UUID, UUID, UUID]  # user, and the ids of :data:`events.people.judgement.TieIds`
Chains = Mapping[PersonKey, UUID]


@dataclass(slots=True)
class Told:
    """What events tell of people. ``subjects`` are the persons whom states are about, by the event of the state.

    ``ties`` counts the cards that give a tie to a name. ``events`` are the events about people with the ids that they
    relate. ``recalled`` are the events that are taken back.
    """

    subjects: dict[UUID, PersonKey] = field(default_factory=dict)
    ties: Counter[Tie] = field(default_factory=Counter)
    events: dict[UUID, tuple[Event, UUID, UUID]] = field(default_factory=dict)
    recalled: set[UUID] = field(default_factory=set)

    def add(self, events: Iterable[Event], sign: int = 1) -> None:
        """Adds what ``events`` tell, or takes it back with the sign -1."""
        for event in events:
            user, payload = event.user_id, event.payload
            if isinstance(payload, PERSON_EVENTS):
                if sign < 0:
                    self.recalled.add(event.event_id)
                    self.events.pop(event.event_id, None)
                elif (pair := pair_of(user, payload)) is not None:
                    self.events[event.event_id] = (event, *pair)
            if isinstance(payload, StateAsserted) and normalise_entity(payload.entity) != "user":
                self.subjects[event.event_id] = (user, person_id(user, subject_of(payload)))
            for handle in ties_in(payload):
                tie = tie_of_ids(user, handle)
                assert tie is not None
                self.ties[user, *tie] += sign

    def with_more(self, other: Told) -> Told:
        """Returns the sum of both. What ``other`` takes back is gone."""
        ties = Counter(self.ties)
        ties.update(other.ties)
        kept = {event_id: each for event_id, each in self.events.items() if event_id not in other.recalled}
        return Told({}, ties, kept | other.events, other.recalled)

    def people(self) -> set[PersonKey]:
        """Returns the people whom the events tell of."""
        tied = {(user, one) for user, alone, handle, _ in self.ties for one in (alone, handle)}
        judged = {(event.user_id, one) for event, *pair in self.events.values() for one in pair}
        return {*self.subjects.values(), *tied, *judged}

    def chains(self) -> dict[PersonKey, UUID]:
        """Returns the chains of people, where they are not those of their names. All connected people must be here."""
        users = {tie[0] for tie, number in self.ties.items() if number > 0}
        users |= {event.user_id for event, _, _ in self.events.values()}
        found: dict[PersonKey, UUID] = {}
        for user in users:
            ties = [tie[1:] for tie, number in self.ties.items() if number > 0 and tie[0] == user]
            told = [event for event, _, _ in self.events.values() if event.user_id == user]
            told.sort(key=lambda event: event.position)
            found |= {(user, one): chain for one, chain in chains_of(user, ties, told).items()}
        return found


@dataclass(frozen=True, slots=True)
class Subjects:
    """Whose facts states are about. ``persons`` are the subjects by the events of states, ``chains`` their chains.

    ``moved`` are the people whose chains are others than before the batch.
    """

    persons: Mapping[UUID, PersonKey] = field(default_factory=dict)
    chains: Chains = field(default_factory=dict)
    moved: frozenset[PersonKey] = frozenset()

    def statements(self, event: Event, supersede: bool) -> list[Statement]:
        """Returns the statements of a new event."""
        person = self.persons.get(event.event_id)
        if person is None:
            return statements_of(event, supersede=supersede)
        return statements_of(event, supersede=supersede, chain=self.chains.get(person), person=person[1])

    def now(self, known: Statement) -> Statement:
        """Returns a known statement with its present identity."""
        if known.person is None or (person := (known.event.user_id, known.person)) not in self.moved:
            return known
        return moved(known, self.chains.get(person))


def subjects_in(events: Iterable[Event], identities: Mapping[UUID, str]) -> Subjects:
    """Returns the subjects of the states among ``events``, as the identities of their statements name them."""
    persons = {
        event.event_id: (event.user_id, chain)
        for event in events
        if (chain := chain_in(identities.get(event.event_id, ""))) is not None
    }
    return Subjects(persons, {person: person[1] for person in persons.values()})
