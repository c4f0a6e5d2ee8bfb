"""The people of a user as cards and commands tell them: a pure fold.

A person is a set of handles (:mod:`events.people.mentions`). The fold joins handles by commands, and by proposals whose
score is high enough. The result is a function of the set of what was told, so no order of arrival changes it. A pair
that is split or distinct is never in one set, and each set has one canonical handle: the graph has no cycle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from events.people.evidence import APPLIED, PROPOSED, Pair, pairs, words_in
from events.people.judgement import Groups, Verdict, join_alone, noted_handle, person_id, verdicts_of
from events.people.mentions import Link, handles_of_alias, name_in, tie_in
from events.people.ties import HANDLE, is_animal, known_tie
from events.types.curation import CuratorUndone
from events.types.envelope import Event
from events.types.extraction import standing
from events.types.people import PERSON_EVENTS, PersonAliased, PersonMergeProposed, PersonNoted


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A person's name in a card. ``roles`` are author, subject, quoted and named."""

    event_id: UUID
    handle: str
    name: str
    roles: tuple[str, ...]
    certain: bool
    said_at: datetime
    turn_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Handle:
    """A handle as cards name it. ``certain`` is False when it only looks like a name everywhere.

    ``tied`` is False when the tie was taken back. The handle still tells whom cards mean.
    """

    handle: str
    name: str
    certain: bool
    since: datetime
    until: datetime
    mentions: int = 1
    tied: bool = True

    @classmethod
    def named(cls, each: Named) -> Handle:
        """Returns the handle of one naming."""
        return cls(
            handle=each.handle, name=each.name, certain=each.certain, since=each.said_at, until=each.said_at
        )

    def with_more(self, other: Handle) -> Handle:
        """Returns the sum of two. The earliest naming gives the name. The order of the two changes nothing."""
        return Handle(
            handle=self.handle,
            name=min(self, other, key=lambda each: (each.since, each.name)).name,
            certain=self.certain or other.certain,
            since=min(self.since, other.since),
            until=max(self.until, other.until),
            mentions=self.mentions + other.mentions,
            tied=self.tied or other.tied,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One person. ``person_id`` is that of the canonical handle, ``merged`` are the ids of the others.

    ``since`` and ``last_mention`` are times at which words named the person.
    """

    person_id: UUID
    name: str
    aliases: tuple[str, ...]
    kinship: tuple[str, ...]
    addresses: tuple[str, ...]
    merged: tuple[UUID, ...]
    handles: tuple[str, ...]
    since: datetime
    last_mention: datetime
    mentions: int

    @property
    def ids(self) -> frozenset[UUID]:
        return frozenset((self.person_id, *self.merged))

    @property
    def is_animal(self) -> bool:
        return any(map(is_animal, self.kinship))

    @property
    def gender(self) -> str | None:
        """f or m, when a kinship tells it."""
        known = {tie.gender for code in self.kinship if (tie := known_tie(code)) is not None} - {"-"}
        return known.pop() if len(known) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Two people who may be one, with the score and the evidence. The log has no verdict on them."""

    person_id: UUID
    into_id: UUID
    score: float
    evidence: tuple[str, ...]


@dataclass(slots=True)
class People:
    """The people of one user. ``of_handle`` is the person of a handle, and ``shared`` the people of a shared name.

    ``unfolded`` are the names in the latest cards, which no table has yet.
    """

    owner: str
    people: list[Person] = field(default_factory=list)
    proposals: list[Proposal] = field(default_factory=list)
    of_handle: dict[str, Person] = field(default_factory=dict)
    of_id: dict[UUID, Person] = field(default_factory=dict)
    handle_ids: dict[UUID, str] = field(default_factory=dict)
    shared: dict[str, list[Person]] = field(default_factory=dict)
    verdicts: dict[frozenset[UUID], Verdict] = field(default_factory=dict)
    unfolded: list[Named] = field(default_factory=list)

    def are_distinct(self, one: Person, other: Person) -> bool:
        """True when the log says of any names of the two that they are two people."""
        return any(
            verdict == "distinct"
            and pair & one.ids
            and pair & other.ids
            and len(pair & (one.ids | other.ids)) == 2
            for pair, verdict in self.verdicts.items()
        )


def fold(
    owner: str,
    handles: Iterable[Handle],
    links: Iterable[Link],
    events: Iterable[Event],
    applied: float = APPLIED,
) -> People:
    """Returns the people of ``owner``. ``handles`` and ``links`` are what the cards tell, ``events`` what was decided.

    A proposal with a score of at least ``applied`` is applied.
    """
    events = list(events)
    told = sorted(standing(events, PERSON_EVENTS), key=lambda event: event.position)
    links = list(links)
    known = _known(handles, links, told)
    ids = {person_id(owner, handle): handle for handle in known}
    verdicts, merged = verdicts_of(owner, told, ids)
    merges = [(ids[one], ids[other]) for one, other in merged]
    found = pairs((handle for handle, each in known.items() if each.tied), links)
    apart = [[ids[each] for each in pair] for pair, verdict in verdicts.items() if verdict != "merged"]
    groups = Groups(known, apart)
    for one, other in merges:
        groups.join(one, other)
    for each in found:
        if each.score >= applied:
            groups.join(each.one, each.other)
    join_alone(groups, _tied(known))
    people = People(owner=owner, verdicts=verdicts, handle_ids=ids)
    for members in groups.all():
        _add(people, members, known, merges)
    people.people.sort(key=lambda each: (-each.last_mention.timestamp(), str(each.person_id)))
    _add_shared(people)
    # An animal keeps its handles, because it may share its name with a person.
    people.people = [each for each in people.people if not each.is_animal]
    offered = _offered(events, ids)
    people.proposals = _proposals(people, sorted([*found, *offered], key=lambda each: -each.score), groups)
    return people


def _known(handles: Iterable[Handle], links: list[Link], told: list[Event]) -> dict[str, Handle]:
    """Returns the handles that name people: certain ones, noted ones, and names that a certain one explains."""
    all_of: dict[str, Handle] = {}
    for each in handles:
        before = all_of.get(each.handle)
        all_of[each.handle] = each if before is None else before.with_more(each)
    for event in told:
        added = _added(event)
        if added is not None:
            before = all_of.get(added.handle)
            all_of[added.handle] = added if before is None else before.with_more(added)
    sure = {handle for handle, each in all_of.items() if each.certain or tie_in(handle)}
    grown = True
    while grown:
        more = {
            end
            for each in links
            if each.kind != "apart" and {each.one, each.other} & sure
            for end in (each.one, each.other)
            if end in all_of
        }
        grown = not more <= sure
        sure |= more
    names = {name_in(handle) for handle in sure}
    parts = {word for handle in sure for word in words_in(handle)} - {""}
    for handle in all_of:
        name = name_in(handle)
        if name in names or name in parts or (" " in name and name.split(" ")[0] in names):
            sure.add(handle)
    return {handle: all_of[handle] for handle in sorted(sure)}


def _tied(known: Iterable[str]) -> dict[str, list[str]]:
    """Returns the handles with a tie of each name that is known alone."""
    known = list(known)
    tied: dict[str, list[str]] = defaultdict(list)
    for each in known:
        if tie_in(each) not in ("", HANDLE) and name_in(each):
            tied[f"{name_in(each)}|"].append(each)
    return {each: tied[each] for each in known if each in tied}


def _added(event: Event) -> Handle | None:
    payload = event.payload
    if isinstance(payload, PersonNoted):
        handle, name = noted_handle(payload), payload.name
    elif isinstance(payload, PersonAliased):
        handle, name = handles_of_alias(payload.alias, payload.kind), payload.alias
    else:
        return None
    at = event.occurred_at
    return Handle(handle=handle, name=name, certain=True, since=at, until=at, mentions=0)


def _add(
    people: People, members: frozenset[str], known: Mapping[str, Handle], merges: list[tuple[str, str]]
) -> None:
    own = tuple(each for each in merges if each[0] in members and each[1] in members)
    person = _person(people.owner, tuple(known[each] for each in sorted(members)), own)
    people.people.append(person)
    people.of_handle.update(dict.fromkeys(person.handles, person))
    people.of_id.update(dict.fromkeys((person.person_id, *person.merged), person))


@lru_cache(maxsize=16_384)
def _person(owner: str, members: tuple[Handle, ...], merges: tuple[tuple[str, str], ...]) -> Person:
    # A new card changes one person of many, so most people of the last fold are those of the next one.
    by_handle = {each.handle: each for each in members}
    canonical = _canonical(by_handle.keys(), merges)
    named = sorted(
        {each.name for each in members if name_in(each.handle) and tie_in(each.handle) != HANDLE} - {""},
        key=lambda name: (-len(name), name),
    )
    name = by_handle[canonical].name or (named[0] if named else "")
    ties = tuple(sorted({tie_in(each.handle) for each in members if each.tied} - {"", HANDLE}))
    return Person(
        person_id=person_id(owner, canonical),
        name=name or f"my {ties[0].replace('_', ' ')}",
        aliases=tuple(each for each in _one_each(named) if each != name),
        kinship=ties,
        addresses=tuple(sorted(each.name for each in members if tie_in(each.handle) == HANDLE)),
        merged=tuple(sorted(person_id(owner, each) for each in by_handle if each != canonical)),
        handles=tuple(by_handle),
        since=min(each.since for each in members),
        last_mention=max(each.until for each in members),
        mentions=sum(each.mentions for each in members),
    )


def _one_each(names: list[str]) -> list[str]:
    return list({name.casefold(): name for name in reversed(names)}.values())[::-1]


def _canonical(members: Collection[str], merges: tuple[tuple[str, str], ...]) -> str:
    """Returns the handle that the last merge keeps, else the fullest name, else the first of the alphabet."""
    if merges:
        return _kept(merges[-1][1], merges)
    return min(
        members,
        key=lambda each: (
            not name_in(each),
            tie_in(each) == HANDLE,
            -len(name_in(each).split(" ")),
            not tie_in(each),
            each,
        ),
    )


def _kept(handle: str, merges: tuple[tuple[str, str], ...]) -> str:
    """Follows the merges from ``handle`` as far as they go on. A handle that was passed ends the way."""
    passed = {handle}
    while True:
        onward = [kept for gone, kept in merges if gone == handle and kept not in passed]
        if not onward:
            return handle
        handle = onward[-1]
        passed.add(handle)


def _add_shared(people: People) -> None:
    """Finds the names that several people have. Such a name alone is nobody's: it is no person of its own."""
    of_name: dict[str, dict[UUID, Person]] = defaultdict(dict)
    for handle, person in people.of_handle.items():
        if name_in(handle):
            of_name[name_in(handle)][person.person_id] = person
    for name, sharing in of_name.items():
        alone = people.of_handle.get(f"{name}|")
        if alone is not None and len(alone.handles) == 1 and len(sharing) > 2:
            del sharing[alone.person_id], people.of_handle[f"{name}|"], people.of_id[alone.person_id]
            people.people.remove(alone)
        if len(sharing) > 1:
            people.shared[name] = sorted(sharing.values(), key=lambda each: str(each.person_id))


def _offered(events: Iterable[Event], ids: Mapping[UUID, str]) -> list[Pair]:
    """Returns the pairs that the curator proposed below :data:`APPLIED`, and whose run was not undone."""
    events = list(events)
    undone = {
        digest
        for each in events
        if isinstance(each.payload, CuratorUndone)
        for digest in each.payload.digests
    }
    return [
        Pair(ids[told.person_id], ids[told.into_id], told.confidence, (told.reason, *told.evidence))
        for told in (each.payload for each in sorted(events, key=lambda each: each.position))
        if isinstance(told, PersonMergeProposed)
        and told.person_id in ids
        and told.into_id in ids
        and told.digest not in undone
        and told.confidence < APPLIED
    ]


def _proposals(people: People, found: list[Pair], groups: Groups[str]) -> list[Proposal]:
    """Returns the proposals that wait: between two people, about whom the log has no verdict."""
    waiting: dict[frozenset[UUID], Proposal] = {}
    for each in found:
        one, other = people.of_handle.get(each.one), people.of_handle.get(each.other)
        if one is None or other is None or one is other or one.is_animal or other.is_animal:
            continue
        if groups.are_apart(each.one, each.other):
            continue
        if each.score < PROPOSED:
            break
        if (len(one.name.split(" ")), not one.kinship) > (len(other.name.split(" ")), not other.kinship):
            one, other = other, one
        proposal = Proposal(
            person_id=one.person_id, into_id=other.person_id, score=each.score, evidence=each.evidence
        )
        waiting.setdefault(frozenset((one.person_id, other.person_id)), proposal)
    return list(waiting.values())
