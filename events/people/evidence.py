"""Proposes that two handles are one person, with the evidence and a score, and never for likeness alone.

The scores are ranks set by hand, and the threshold was chosen on a curve (``cardlog eval people``, docs/people.md).
Names with other numbers, and two people whom one sentence names side by side, are never proposed.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from events.language.chinese_script import has_cjk
from events.people.mentions import SHORTEST, Link, name_in, tie_in
from events.people.ties import HANDLE, general, has_surname, is_animal, known_tie, without_title

Basis = Literal[
    "stated", "identity", "answered", "only_tie", "only_kin", "full_name", "titled", "other_tie", "likeness"
]
APPLIED = 0.95
"""A proposal with at least this score is applied. Below it waits for a person or an agent."""
PROPOSED = 0.5
"""The least score of a proposal."""
SCORES: Mapping[Basis, float] = {
    "stated": 0.99,
    "only_tie": 0.98,
    "only_kin": 0.97,
    "full_name": 0.96,
    "identity": 0.9,
    "answered": 0.9,
    "titled": 0.8,
    "other_tie": 0.6,
    "likeness": 0.6,
}
_REASONS: Mapping[Basis, str] = {
    "stated": "the words give the person both names",
    "identity": "the words say that one is the other",
    "answered": "who was called so answered",
    "only_tie": "it is the only person of that name",
    "only_kin": "it is the only person with that kinship",
    "full_name": "it is the only full name with that part",
    "titled": "it is the only full name with that part, and a title may be of another of the family",
    "other_tie": "it is the only full name with that part, and the words tie the two to the user in other ways",
    "likeness": "one name begins like the other",
}
_TWO = 2
_WHOLE = 3  # characters of a Chinese name with its surname
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two handles that may be one person. ``evidence`` says why, the strongest first."""

    one: str
    other: str
    score: float
    evidence: tuple[str, ...]


def pairs(handles: Iterable[str], links: Iterable[Link]) -> list[Pair]:
    """Returns the pairs of ``handles`` that may be one person, the most probable first. The order is of the set."""
    return _pairs(frozenset(handles), frozenset(links))


@lru_cache(maxsize=256)
def _pairs(handles: frozenset[str], links: frozenset[Link]) -> list[Pair]:
    # New cards of a user seldom name somebody new, so the pairs of the last fold are mostly those of the next one.
    known = sorted(handles)
    apart = {frozenset((each.one, each.other)) for each in links if each.kind == "apart"}
    apart_names = {frozenset(map(name_in, pair)) for pair in apart if len(set(map(name_in, pair))) == 2}
    found: dict[tuple[str, str], dict[Basis, str]] = defaultdict(dict)
    for one, other, basis, quote in (*_said(known, links), *_alone(known), *_kin(known), *_parts(known)):
        if one == other or contrary(one, other):
            continue
        if frozenset((one, other)) in apart or frozenset((name_in(one), name_in(other))) in apart_names:
            continue
        found[min(one, other), max(one, other)].setdefault(basis, quote)
    return sorted(
        (_pair(one, other, bases) for (one, other), bases in found.items()),
        key=lambda each: (-each.score, each.one, each.other),
    )


def contrary(one: str, other: str) -> bool:
    """True for handles that cannot be one person: other numbers in the names, or kinships that exclude each other."""
    if _DIGITS.findall(name_in(one)) != _DIGITS.findall(name_in(other)):
        return True
    ties = [tie for handle in (one, other) if (tie := known_tie(tie_in(handle))) is not None and tie.kin]
    genders = {tie.gender for tie in ties} | {without_title(name_in(each))[1] for each in (one, other)}
    if {"f", "m"} <= genders:
        return True
    if len(ties) < 2:
        return False
    first, second = ties
    if general(first.code) == general(second.code):  # "my sister" may be the elder sister
        return first.code != second.code and general(first.code) not in (first.code, second.code)
    return first.one or second.one


def _pair(one: str, other: str, bases: Mapping[Basis, str]) -> Pair:
    miss = 1.0
    for basis in bases:
        miss *= 1 - SCORES[basis]
    ordered = sorted(bases, key=lambda basis: -SCORES[basis])
    evidence = tuple(_REASONS[basis] + (f": {bases[basis]}" if bases[basis] else "") for basis in ordered)
    return Pair(one, other, round(1 - miss, 4), evidence)


_Candidates = Iterator[tuple[str, str, Basis, str]]


def _said(known: list[str], links: Iterable[Link]) -> _Candidates:
    """Yields what the words say. "Alex from work is Alexandra Kim" names both."""
    there = set(known)
    for each in sorted(links, key=lambda link: (link.one, link.other, link.kind, link.quote)):
        if each.kind == "apart":
            continue
        if each.one in there and each.other in there:
            yield each.one, each.other, each.kind, each.quote


def _alone(known: list[str]) -> _Candidates:
    """Yields a name alone and the only tied person of this name. With two of them the name means neither.

    Also yields "my sister Alex" and "my elder sister Alex", unless there is a younger sister Alex.
    """
    tied: dict[str, list[str]] = defaultdict(list)
    for handle in known:
        if tie_in(handle) not in ("", HANDLE) and name_in(handle):
            tied[name_in(handle)].append(handle)
    for name, handles in tied.items():
        if len(handles) == 1 and f"{name}|" in known:
            yield f"{name}|", handles[0], "only_tie", ""
        kin: dict[str, list[str]] = defaultdict(list)
        for handle in handles:
            kin[general(tie_in(handle))].append(handle)
        for kinship, same in kin.items():
            if len(same) == _TWO and f"{name}|{kinship}" in same:
                yield same[0], same[1], "only_kin", ""


def _kin(known: list[str]) -> _Candidates:
    """Yields "my sister" and the only named sister. A brother-in-law is no brother."""
    named: dict[str, list[str]] = defaultdict(list)
    for handle in known:
        tie = known_tie(tie_in(handle))
        if tie is not None and tie.kin and name_in(handle):
            named[tie.code].append(handle)
    for handle in known:
        tie = known_tie(tie_in(handle))
        if name_in(handle) or tie is None or not tie.kin:
            continue
        same = named[tie.code]
        if tie.code == general(tie.code):
            same = [one for code, ones in named.items() if general(code) == tie.code for one in ones]
        if len({name_in(one) for one in same}) == 1:
            yield handle, same[0], "only_kin", ""


def _parts(known: list[str]) -> _Candidates:
    """Yields a name that is the first or the last word of only one full name, and a short form of a first name.

    A title is no part of a name: "Dr. Haddad" is the only Haddad.
    """
    whole: dict[str, set[str]] = defaultdict(set)
    firsts: dict[str, set[str]] = defaultdict(set)
    for handle in known:
        words = words_in(handle)
        if len(words) > 1:
            for word in (words[0], words[-1]):
                whole[word].add(handle)
        elif without_title(name_in(handle))[1] is not None:
            whole[words[0]].add(handle)
        if words[0] and tie_in(handle) != HANDLE:
            firsts[words[0]].add(handle)
    starts = sorted(firsts)
    ties: dict[str, set[str]] = defaultdict(set)
    for handle in known:
        ties[name_in(handle)].add(general(tie_in(handle)))
    for handle in known:
        words = words_in(handle)
        if len(words) != 1 or not words[0] or tie_in(handle) == HANDLE:
            continue
        full = {one for one in whole.get(words[0], set()) - {handle} if not contrary(handle, one)}
        longest = {one for one in full if len(words_in(one)) > 1} or full
        if len({name_in(one) for one in longest}) == 1:
            for one in sorted(longest):
                yield handle, one, _basis(handle, one, ties), ""
        name = words[0]
        if len(name) >= SHORTEST and not has_cjk(name) and len(firsts[name]) == 1:
            longer = [first for first in starts if first.startswith(name) and first != name]
            if len(longer) == 1:
                for one in sorted(firsts[longer[0]]):
                    yield handle, one, "likeness", ""


def _basis(part: str, full: str, ties: Mapping[str, set[str]]) -> Basis:
    """Returns what a part of a full name is worth. "Helen from the club" may be another than the boss Helen Marsh."""
    own = {general(tie_in(part))} if tie_in(part) else ties[name_in(part)]
    others = own - {"", HANDLE, general(tie_in(full))}
    if others and (tie_in(full) not in ("", HANDLE) or any(map(is_animal, others))):
        return "other_tie"
    titled = any(without_title(name_in(each))[1] is not None for each in (part, full))
    return "titled" if titled else "full_name"


@lru_cache(maxsize=65_536)
def words_in(handle: str) -> tuple[str, ...]:
    """Returns the words of a name without its title. 大明 is a word of 王大明. Dots divide foreign names in Chinese."""
    name = without_title(name_in(handle))[0]
    if len(name) == _WHOLE and has_cjk(name) and has_surname(name):
        return name[0], name[1:]
    return tuple(re.split(r"[ ·・•‧]+", name))
