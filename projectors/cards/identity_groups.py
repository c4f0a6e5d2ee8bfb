"""Identities that were told something together, and so can only be folded together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from uuid import UUID

from projectors.cards.statement import Statement

Key = tuple[str, str]  # user, identity


def identity_groups(
    known: Mapping[Key, Sequence[Statement]],
    said: Mapping[Key, Sequence[Statement]],
    others: Iterable[Key] = (),
) -> Iterator[tuple[str, list[Key]]]:
    """Every key given, in families of a user's identities that share an event; most are alone."""
    root: dict[Key, Key] = {key: key for keys in (known, said, others) for key in keys}

    def find(key: Key) -> Key:
        while root[key] != key:
            root[key] = root[root[key]]
            key = root[key]
        return key

    heard: dict[UUID, Key] = {}
    for statements in (known, said):
        for key, told in statements.items():
            for statement in told:
                if not statement.single:
                    root[find(key)] = find(heard.setdefault(statement.event.event_id, key))
    members: dict[Key, list[Key]] = {}
    for key in root:
        members.setdefault(find(key), []).append(key)
    for family in members.values():
        yield family[0][0], family
