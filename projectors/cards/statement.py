"""Statements: one assertion about one identity, as the fold sees it."""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from events.language.chinese_script import has_cjk
from events.language.concepts import canonical_key, name_key, normalise_entity, normalise_value
from events.language.values import two_scripts
from events.types.cards import KnowledgeLearned, StateAsserted
from events.types.envelope import Event
from events.types.naming import KnowledgeMerged
from events.types.turns import natural_order

Key = tuple[str, str]  # user, identity
_T = TypeVar("_T", bound=Hashable)

_SEPARATOR = "\x1f"
_ESCAPE = "\x10"
_ENTITY = 2
"""The place of the entity in the identity of a state."""
_BOTH_NAMES = re.compile(r"(.+?)\s*[(（]([^()（）]+)[)）]")


@dataclass(frozen=True, slots=True)
class Statement:
    """One event about one identity. Two statements with the same ``value_key`` agree.

    A ``single`` identity has one value at a time. ``replaces_key`` is the value key of the value that the statement
    names as replaced. An event about two identities makes a statement for each. ``person`` is the id of the handle that
    the words of a state give to its subject, and None for the user.
    """

    identity: str
    value_key: str
    event: Event
    single: bool = False
    replaces_key: str | None = None
    person: UUID | None = None

    @property
    def said_at(self) -> datetime:
        payload = self.event.payload
        if isinstance(payload, KnowledgeMerged):
            return self.event.occurred_at
        assert isinstance(payload, StateAsserted | KnowledgeLearned)
        said_at: datetime = payload.origin.said_at
        return said_at

    @property
    def mode(self) -> str | None:
        """The first name of the mode in which this was said. None: it holds in every mode."""
        payload = self.event.payload
        if isinstance(payload, KnowledgeMerged):
            return payload.mode_id
        assert isinstance(payload, StateAsserted | KnowledgeLearned)
        return payload.origin.register

    @property
    def state(self) -> StateAsserted:
        payload = self.event.payload
        assert isinstance(payload, StateAsserted)
        return payload


def statements_of(
    event: Event, *, supersede: bool = True, chain: UUID | None = None, person: UUID | None = None
) -> list[Statement]:
    """Returns the statements of an event. Only states and knowledge make statements.

    ``chain`` takes the place of the name of the subject, for a ``person`` whose facts are not those of the name
    (:func:`events.people.judgement.chains_of`).
    Each value of a multi-valued concept is its own identity. The cost of a new value therefore does not grow with the
    number of values. A value that replaces another makes a statement for both identities. Without ``supersede`` a
    single value is treated as one of several.
    """
    payload = event.payload
    if isinstance(payload, StateAsserted):
        key = canonical_key(payload.concept_key)
        value_key = normalise_value(key, payload.value)
        replaces = None if payload.replaces is None else normalise_value(key, payload.replaces)
        entity = normalise_entity(payload.entity) if chain is None else f"{_ESCAPE}{chain.hex}"
        scope = _SEPARATOR.join(("state", _part(payload.origin.project_id), entity, key))
        if supersede and payload.cardinality == "single_value":
            return [Statement(scope, value_key, event, True, replaces, person)]
        values = [value_key]
        if payload.statement in {"corrected", "updated"} and replaces is not None:
            values.append(replaces)
        return [
            Statement(scope + _SEPARATOR + value, value_key, event, False, replaces, person)
            for value in dict.fromkeys(values)
        ]
    if isinstance(payload, KnowledgeLearned):
        title, *others = names_of(payload)
        scope = f"knowledge{_SEPARATOR}{_part(payload.origin.project_id)}{_SEPARATOR}"
        key = name_key(title)
        names = [key, *(other for name in others if (other := name_key(name)))]
        return [Statement(scope + name, key, event) for name in dict.fromkeys(names)]
    if isinstance(payload, KnowledgeMerged):
        scope = f"knowledge{_SEPARATOR}{_part(payload.project_id)}{_SEPARATOR}"
        key = name_key(payload.into_title)
        return [
            Statement(scope + name, key, event) for name in dict.fromkeys((key, name_key(payload.from_title)))
        ]
    return []


def chain_in(identity: str) -> UUID | None:
    """Returns the chain that an identity names in the place of an entity."""
    parts = identity.split(_SEPARATOR)
    return UUID(parts[_ENTITY][1:]) if parts[0] == "state" and parts[_ENTITY].startswith(_ESCAPE) else None


def moved(statement: Statement, chain: UUID | None) -> Statement:
    """Returns ``statement`` in a chain, or in the timeline of its name."""
    parts = statement.identity.split(_SEPARATOR)
    parts[_ENTITY] = normalise_entity(statement.state.entity) if chain is None else f"{_ESCAPE}{chain.hex}"
    return replace(statement, identity=_SEPARATOR.join(parts))


def perhaps_one_value(one: Statement, other: Statement) -> bool:
    """True when two different values may be one value in two scripts. Such values contradict nothing."""
    return two_scripts(
        canonical_key(one.state.concept_key),
        one.value_key,
        other.value_key,
        languages=has_cjk(one.state.content) != has_cjk(other.state.content),
    )


def _part(project_id: str) -> str:
    """Escapes the separator in a project name. Two project names never have the same result.

    Entities, keys and values are normalised and hold no control characters, so they need no escaping.
    """
    return project_id.replace(_ESCAPE, _ESCAPE * 2).replace(_SEPARATOR, f"{_ESCAPE}u")


def names_of(payload: KnowledgeLearned) -> list[str]:
    """Returns the names of a concept, its title first. "JSON Web Token (JWT)" is a title and its acronym."""
    names = [payload.title]
    both = _BOTH_NAMES.fullmatch(payload.title)
    if both is not None and _is_acronym(both[2], both[1]) | _is_acronym(both[1], both[2]):
        names = [both[1], both[2]]
    return list(dict.fromkeys((*names, *payload.aliases)))


def _is_acronym(short: str, name: str) -> bool:
    return len(short) > 1 and short.casefold() == "".join(word[0] for word in name.casefold().split())


def in_order(statements: Sequence[Statement]) -> list[Statement]:
    """Returns states in the order of saying: by time, turn and place in the turn. Each event is there once.

    The order of arrival does not count. The event id decides between statements with equal content.
    """
    return sorted({one.event.event_id: one for one in statements}.values(), key=_order)


def _order(statement: Statement) -> tuple[object, ...]:
    payload = statement.state
    origin = payload.origin
    return (
        origin.said_at,
        natural_order(min(origin.turn_ids, default="")),
        payload.statement != "ended",  # in a change from one value to another, the end comes first
        0 if origin.source_span is None else origin.source_span.start,
        statement.value_key,
        payload.content,
        statement.event.event_id,
    )


def identity_groups(
    known: Mapping[Key, Sequence[Statement]],
    said: Mapping[Key, Sequence[Statement]],
) -> Iterator[tuple[str, list[Key]]]:
    """Yields every key once: a user with the identities that share an event. Most groups have one identity."""
    seen: dict[UUID, Key] = {}
    shared = (
        (key, seen.setdefault(statement.event.event_id, key))
        for statements in (known, said)
        for key, of_key in statements.items()
        for statement in of_key
        if not statement.single or statement.person is not None
    )
    for group in connected((*known, *said), shared):
        yield group[0][0], group


def connected(members: Iterable[_T], pairs: Iterable[tuple[_T, _T]]) -> list[list[_T]]:
    """Returns the members in groups, which ``pairs`` connect. Members and groups keep their order."""
    root = {each: each for each in members}

    def find(each: _T) -> _T:
        while root[each] != each:
            root[each] = root[root[each]]
            each = root[each]
        return each

    for one, other in pairs:
        root[find(one)] = find(other)
    groups: dict[_T, list[_T]] = {}
    for each in root:
        groups.setdefault(find(each), []).append(each)
    return list(groups.values())
