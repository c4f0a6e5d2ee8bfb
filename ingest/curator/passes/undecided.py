"""The pairs of cards that the words alone do not decide, and about which a model may be asked."""

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from events.curator import asked_entry
from events.language.terms import analyse
from events.people.person import Person
from events.types.relations import CardsConnected
from ingest.curator.memory import Memory, MemoryCard
from ingest.curator.passes.connect import is_open, speaking
from ingest.curator.proposals import Proposal, digest_of, merge_digest

MOST_PAIRS = 24
"""The most pairs of one run, the most alike first."""
MOST_PEOPLE = 8
"""The most pairs of people of one run."""
MODEL_CONFIDENCE = 0.8
"""The confidence of what a model says. It is below the threshold of a merge of people."""
_NEAREST = 16  # earlier cards with a word in common that are looked at, for each word
_ALIKE = 0.2  # the least share of common terms
_LONGEST = 400  # characters of a card that a model sees


@dataclass(frozen=True, slots=True)
class Pair:
    """Two cards of one project and mode. ``alike`` is the share of their common terms, 0 to 1."""

    later: MemoryCard
    earlier: MemoryCard
    alike: float

    @property
    def ends(self) -> tuple[UUID, UUID]:
        return self.later.card_id, self.earlier.card_id

    @property
    def digest(self) -> str:
        """The digest of the words of both cards in either order. New ids of the same words give the same digest."""
        return digest_of("asked", *sorted((self.later.content, self.earlier.content)))

    @property
    def entry(self) -> str:
        """What a run keeps of the pair."""
        return asked_entry(*self.ends, self.digest)


@dataclass(frozen=True, slots=True)
class PersonPair:
    """Two people who may be one, by ``evidence`` that alone is weak."""

    one: Person
    other: Person
    evidence: tuple[str, ...]
    digest: str

    @property
    def ends(self) -> tuple[UUID, UUID]:
        return self.one.person_id, self.other.person_id

    @property
    def entry(self) -> str:
        """What a run keeps of the pair."""
        return asked_entry(*self.ends, self.digest)


def unsure_people(memory: Memory) -> list[PersonPair]:
    """Returns at most :data:`MOST_PEOPLE` pairs of people that a model was not asked about, the most probable first."""
    weak = [
        PersonPair(
            memory.people.of_id[each.person_id],
            memory.people.of_id[each.into_id],
            each.evidence,
            merge_digest(memory, each.person_id, each.into_id),
        )
        for each in memory.people.proposals
        if each.score < MODEL_CONFIDENCE
    ]
    return [each for each in weak if each.digest not in memory.asked | memory.tombstones][:MOST_PEOPLE]


def undecided(memory: Memory, proposals: Iterable[Proposal]) -> list[Pair]:
    """Returns at most :data:`MOST_PAIRS` pairs that neither ``proposals`` nor a relation nor an answer decides.

    Cards that name one of two people of one name are in no pair. The order is fixed.
    """
    decided = {frozenset(each.evidence) for each in proposals if isinstance(each.payload, CardsConnected)}
    found: list[Pair] = []
    near: dict[tuple[str, str, str], deque[tuple[MemoryCard, frozenset[str]]]]
    near = defaultdict(lambda: deque(maxlen=_NEAREST))
    for card in _told_once(memory):
        terms = frozenset(analyse(card.content))
        before = {one.card_id: (one, others) for term in terms for one, others in near[*card.wall, term]}
        for one, others in before.values():
            alike = len(terms & others) / len(terms | others)
            if alike < _ALIKE or frozenset((one.card_id, card.card_id)) in decided:
                continue
            if one.content.casefold() == card.content.casefold():
                continue  # the same words need no model
            if one.speaker == card.speaker and is_open(memory, one, card) and not memory.ordered(one, card):
                found.append(Pair(card, one, alike))
        for term in terms:
            near[*card.wall, term].append((card, terms))
    found.sort(key=lambda each: (-each.alike, each.later.position, each.entry))
    unique = {each.digest: each for each in reversed(found) if each.digest not in memory.asked}
    return [each for each in found if unique.get(each.digest) is each][:MOST_PAIRS]


def _told_once(memory: Memory) -> Iterable[MemoryCard]:
    """Yields the cards that are compared. Of a card and its own turn, only the card."""
    told: set[str] = set()
    for card in speaking(memory):
        words = card.content.casefold()
        if len(words) > _LONGEST or any(name in words for name in memory.people.shared):
            continue
        if not (card.episode and told.issuperset(card.turn_ids)):
            told.update(card.turn_ids)
            yield card
