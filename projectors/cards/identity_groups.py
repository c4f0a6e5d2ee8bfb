"""Identities that share an event. Such identities are folded together."""

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
    """Yields every key once: a user with the identities that share an event. Most groups have one identity."""
    root: dict[Key, Key] = {key: key for keys in (known, said, others) for key in keys}

    def find(key: Key) -> Key:
        while root[key] != key:
            root[key] = root[root[key]]
            key = root[key]
        return key

    seen: dict[UUID, Key] = {}
    for statements in (known, said):
        for key, of_key in statements.items():
            for statement in of_key:
                if not statement.single:
                    root[find(key)] = find(seen.setdefault(statement.event.event_id, key))
    members: dict[Key, list[Key]] = {}
    for key in root:
        members.setdefault(find(key), []).append(key)
    for group in members.values():
        yield group[0][0], group
