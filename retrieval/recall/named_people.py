"""The people whom a question names: their other names, and the cards about somebody else of the same name."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import psycopg

from events.language.chinese_script import has_cjk
from events.people.mentions import Mention, name_in, read, tie_in
from events.people.person import Named, People, Person
from events.people.ties import folded, general
from events.platform.failures import retry_on_lost_connection
from projectors.cards.card import Card
from retrieval.people import PeopleReader

_READ = 2_000
_MORE_NAMES = 3
_FEMALE = re.compile(r"\b(?:she|her|hers|herself)\b|她")
_MALE = re.compile(r"\b(?:he|him|his|himself)\b|他(?!们)")
MISSING = (
    "the people of the question cannot be read; cards about others of the same name may be among the answer"
)


@dataclass(frozen=True, slots=True)
class NamedPeople:
    """The people that a question means, and ``rivals``: others who share a name with them."""

    people: People
    meant: tuple[Person, ...]
    rivals: frozenset[UUID]

    def other_names(self, question: str) -> list[str]:
        """Returns names of the only person meant that the question does not say, at most three."""
        if len(self.meant) != 1:
            return []
        [person] = self.meant
        if not any(map(name_in, person.handles)):
            return []  # "my mother" is a label of a person without a name
        said = folded(question)
        return [each for each in (person.name, *person.aliases) if folded(each) not in said][:_MORE_NAMES]

    def about_others(self, cards: Iterable[Card], named: Iterable[Named]) -> set[UUID]:
        """Returns the ids of the ``cards`` that name a rival and nobody meant. ``named`` are the names in the cards.

        A name alone means who has a tie to this name in another card of its turn.
        """
        of_card: dict[UUID, list[tuple[str, str]]] = {}
        of_turn: dict[tuple[str, str], set[str]] = {}
        for each in named:
            of_card.setdefault(each.event_id, []).append((each.handle, each.turn_id))
            if tie_in(each.handle):
                of_turn.setdefault((each.turn_id, name_in(each.handle)), set()).add(each.handle)
        found: set[UUID] = set()
        meant = {each.person_id for each in self.meant}
        for card in cards:
            said = of_card.get(card.card_id)
            if said is None:  # no table has it yet
                said = [(each.handle, "") for each in read(card.content).mentions]
            people = {
                person.person_id
                for handle, turn_id in said
                for one in ({handle} if tie_in(handle) else of_turn.get((turn_id, name_in(handle)), {handle}))
                if (person := self.people.of_handle.get(one)) is not None
            }
            if people & self.rivals and not people & meant:
                found.add(card.card_id)
        return found


def named_people(people: People, question: str, mentions: Sequence[Mention]) -> NamedPeople | None:
    """Returns the people that a question means, of whom it has these ``mentions``.

    None: it means nobody who is known by another name or shares one.
    """
    question = question[:_READ]
    handles = {each.handle for each in mentions}
    handles |= _known_names(people, folded(question), {name_in(each) for each in handles})
    meant: dict[UUID, Person] = {}
    rivals: set[UUID] = set()
    for handle in sorted(handles):
        found = _meant(people, handle, question)
        meant |= {each.person_id: each for each in found}
        names = {name_in(one) for each in found for one in each.handles}
        rivals |= {other.person_id for name in names for other in people.shared.get(name, ())}
    if not meant:
        return None
    return NamedPeople(people, tuple(meant.values()), frozenset(rivals - meant.keys()))


def _known_names(people: People, question: str, said: set[str]) -> set[str]:
    """Returns the handles of names in a question that its grammar does not show: 小美 in 小美喜歡什麼."""
    names = {name_in(handle) for handle in people.of_handle} | people.shared.keys()
    return {
        f"{name}|"
        for name in names - said
        if len(name) > 1 and has_cjk(name) and name in question and not any(name in other for other in said)
    }


def _meant(people: People, handle: str, question: str) -> list[Person]:
    exact = people.of_handle.get(handle)
    name, tie = name_in(handle), tie_in(handle)
    if exact is not None and name not in people.shared:
        return [exact]
    if tie:
        if exact is not None:
            return [exact]
        return [
            each
            for each in people.people
            if any(general(one) == general(tie) for one in each.kinship)
            and (not name or any(name_in(one) == name for one in each.handles))
        ]
    sharing = people.shared.get(name)
    if sharing is None:
        return [each for each in people.people if any(name_in(one) == name for one in each.handles)]
    wanted = (
        "f" if _FEMALE.search(question.casefold()) else "m" if _MALE.search(question.casefold()) else None
    )
    fitting = [each for each in sharing if wanted is None or each.gender in (wanted, None)]
    return fitting or list(sharing)


async def people_asked(reader: PeopleReader, owner: str, question: str) -> NamedPeople | None:
    """Returns the people that a question of ``owner`` means. Raises psycopg.Error and TimeoutError."""
    mentions = read(question[:_READ]).mentions
    if not mentions and not has_cjk(question[:_READ]):
        return None
    return named_people(await retry_on_lost_connection(reader.present, owner), question, mentions)


async def without_others(
    reader: PeopleReader, asked: NamedPeople, cards: Mapping[UUID, Card]
) -> dict[UUID, Card]:
    """Returns ``cards`` without those that are about somebody else of the same name."""
    if not asked.rivals:
        return dict(cards)
    named = await retry_on_lost_connection(reader.mentions, asked.people, list(cards))
    gone = asked.about_others(cards.values(), named)
    return {card_id: card for card_id, card in cards.items() if card_id not in gone}


FAULTS = (psycopg.Error, TimeoutError)
"""The errors of a read of people, which never fail a recall."""
