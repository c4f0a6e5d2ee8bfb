"""What the log says of pairs of ids of people, and the sets of ids that follow. A pure fold."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable
from functools import lru_cache
from typing import Generic, Literal, TypeVar
from uuid import NAMESPACE_URL, UUID, uuid5

from events.people.mentions import handle_of, handles_of_alias, name_in, read_card, tie_in
from events.people.ties import general, tie_of
from events.types.curation import CuratorUndone
from events.types.envelope import Event, Payload
from events.types.people import (
    PERSON_EVENTS,
    PersonAliased,
    PersonEvent,
    PersonMergeProposed,
    PersonNoted,
    PersonsDistinct,
    PersonsMerged,
    PersonsSplit,
)

Verdict = Literal["merged", "split", "distinct"]
TYPES = frozenset(each.__name__ for each in PERSON_EVENTS)
"""The types of the events that say something about people."""
PROPOSING = frozenset((PersonMergeProposed.__name__, CuratorUndone.__name__))
"""The types of the events that propose merges, and take proposals back."""
_T = TypeVar("_T", bound=Hashable)


@lru_cache(maxsize=65_536)
def person_id(owner: str, handle: str) -> UUID:
    """Returns the id of the person with ``handle``. It is the same before and after every merge."""
    return uuid5(NAMESPACE_URL, f"person/{owner}/{handle}")


def noted_handle(noted: PersonNoted) -> str:
    return handle_of(noted.name, tie_of(noted.kinship) if noted.kinship else "")


def handles_in(payload: Payload) -> set[str]:
    """Returns the handles of the people whom an event names. Later events say the ids of these people."""
    match payload:
        case PersonNoted():
            return {noted_handle(payload)}
        case PersonAliased():
            return {handles_of_alias(payload.alias, payload.kind)}
        case _:
            return {each.handle for each in read_card(payload).mentions}


TieIds = tuple[UUID, UUID, UUID]
"""The ids of a name alone, of the name with its tie, and of the name with the tie without its age."""


def tie_of_ids(owner: str, handle: str) -> TieIds | None:
    """Returns the ids of a name and its tie. A handle without a name or a tie has none."""
    name, tie = name_in(handle), tie_in(handle)
    if not name or not tie:
        return None
    return person_id(owner, f"{name}|"), person_id(owner, handle), person_id(owner, f"{name}|{general(tie)}")


def judged_by(owner: str, payload: PersonEvent) -> tuple[UUID, UUID, Verdict] | None:
    """Returns the pair that an event is about, and its verdict. The second one is the name that stays."""
    match payload:
        case PersonAliased():
            alias = person_id(owner, handles_of_alias(payload.alias, payload.kind))
            return alias, payload.person_id, "merged"
        case PersonsMerged():
            return payload.person_id, payload.into_id, "merged"
        case PersonsSplit():
            return payload.person_id, payload.from_id, "split"
        case PersonsDistinct():
            return payload.person_id, payload.other_id, "distinct"
        case _:
            return None


def pair_of(owner: str, payload: PersonEvent) -> tuple[UUID, UUID] | None:
    """Returns the two ids that an event relates. A noted person with a tie is related to the name alone."""
    if isinstance(payload, PersonNoted):
        tie = tie_of_ids(owner, noted_handle(payload))
        return None if tie is None else tie[:2]
    judged = judged_by(owner, payload)
    return None if judged is None or judged[0] == judged[1] else judged[:2]


def verdicts_of(
    owner: str, told: Iterable[Event], known: Collection[UUID] | None = None
) -> tuple[dict[frozenset[UUID], Verdict], list[tuple[UUID, UUID]]]:
    """Returns the verdict on each pair, and the merges that hold, in the order of ``told``.

    With ``known`` a pair with another id has no verdict.
    """
    verdicts: dict[frozenset[UUID], Verdict] = {}
    merges: dict[frozenset[UUID], tuple[UUID, UUID]] = {}
    for event in told:
        judged = judged_by(owner, event.payload)
        if judged is None:
            continue
        one, other, verdict = judged
        pair = frozenset((one, other))
        if (
            len(pair) < 2
            or (known is not None and not (one in known and other in known))
            or verdicts.get(pair) == "distinct"
        ):
            continue
        verdicts[pair] = verdict
        merges.pop(pair, None)
        if verdict == "merged":
            merges[pair] = (one, other)
    return verdicts, list(merges.values())


class Groups(Generic[_T]):
    """Sets of members. :meth:`join` keeps two members of a pair in ``apart`` in two sets."""

    def __init__(self, members: Iterable[_T], apart: Iterable[Collection[_T]]) -> None:
        self._members = {each: {each} for each in members}
        self._apart: dict[_T, set[_T]] = defaultdict(set)
        for one, other in map(tuple, apart):
            self._apart[one].add(other)
            self._apart[other].add(one)

    def of(self, member: _T) -> set[_T]:
        return self._members[member]

    def join(self, one: _T, other: _T) -> None:
        first, second = self._members[one], self._members[other]
        if first is second or self.are_apart(one, other):
            return
        joined = first | second
        for each in joined:
            self._members[each] = joined

    def are_apart(self, one: _T, other: _T) -> bool:
        """True when the two may never be one person as things stand."""
        others = self._members[other]
        return any(self._apart[each] & others for each in self._members[one] if each in self._apart)

    def all(self) -> list[frozenset[_T]]:
        """Returns the sets, in the order of their first members."""
        return [frozenset(group) for group in {id(group): group for group in self._members.values()}.values()]


def join_alone(groups: Groups[_T], tied: dict[_T, list[_T]]) -> None:
    """Joins each name alone with the person whom all handles of that name mean. With two the name means neither."""
    for alone, handles in sorted(tied.items(), key=str):
        if all(groups.of(each) is groups.of(handles[0]) for each in handles):
            groups.join(alone, handles[0])


def chains_of(owner: str, ties: Iterable[TieIds], told: Iterable[Event]) -> dict[UUID, UUID]:
    """Returns the id of the chain of facts for each id whose facts are no longer those of its name.

    ``ties`` are the ids of :func:`tie_of_ids` that cards give. ``told`` are the standing events about people, in the
    order of the log. Both hold everything that is connected with an id. Only what is certain counts: ties in the same
    words, the only tie of a name, and commands.
    """
    told = list(told)
    tied: dict[UUID, list[UUID]] = defaultdict(list)
    noted = (
        tie_of_ids(owner, noted_handle(each.payload))
        for each in told
        if isinstance(each.payload, PersonNoted)
    )
    kin: dict[UUID, list[UUID]] = defaultdict(list)
    for alone, handle, kinship in sorted({*ties, *filter(None, noted)}):
        tied[alone].append(handle)
        kin[kinship].append(handle)
    name = {handle: alone for alone, handles in tied.items() for handle in handles}
    verdicts, merges = verdicts_of(owner, told)
    members = dict.fromkeys(sorted({*tied, *name, *(one for pair in verdicts for one in pair)}))
    groups = Groups(members, [pair for pair, verdict in verdicts.items() if verdict != "merged"])
    for one, other in merges:
        groups.join(one, other)
    for kinship, handles in sorted(kin.items()):
        # "My sister" may be the elder sister. With an elder and a younger one of the name it means neither.
        if kinship in handles and len(handles) == 2:
            groups.join(*handles)
    join_alone(groups, tied)
    chains: dict[UUID, UUID] = {}
    for group in groups.all():
        names = {name.get(each, each) for each in group}
        if len(names) > 1 or not names <= group:
            chains |= dict.fromkeys(group, min(group))
    return chains
