"""Reads the people of a user from the live tables and from the tail of the log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import psycopg
from cachetools import LRUCache
from psycopg import AsyncCursor
from psycopg.rows import class_row, dict_row

from events.people.mentions import tie_in
from events.people.people_log import HANDLES, LINKS, READ_TYPES, TOLD, UNFOLDED, parameters, told_in
from events.people.person import People, Person
from events.platform.sql import statement
from events.types.tombstones import SubjectErased
from retrieval.pool.connections import Pool, listing

_PACKAGE = "retrieval.people"
_PATIENCE_S = 2.0
_CHANGES = sorted(READ_TYPES | {SubjectErased.__name__})
_DEPTH = 5_000
_REMEMBERED = 50_000
"""Most handles of all users whose people a reader remembers. A handle takes about a kilobyte."""


@dataclass(frozen=True, slots=True)
class Named:
    """A person's name in a card. ``roles`` are author, subject, quoted and named."""

    event_id: UUID
    handle: str
    name: str
    roles: tuple[str, ...]
    turn_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where the log and the tables of one user stand. ``head`` is the last position of the user's partition.

    ``changed`` and ``unfolded``: the log holds events about the user's people above the last look, and above the
    checkpoint. ``tables`` changes with every row that a projector or an erasure writes.
    """

    head: int
    tables: str
    changed: bool
    unfolded: bool


@dataclass(frozen=True, slots=True)
class _Remembered:
    """The people of a user, which hold for every log up to ``place``."""

    people: People
    place: _Place

    def holds(self, place: _Place) -> bool:
        return not place.changed and place.tables == self.place.tables


class PeopleReader:
    """Reads people of one user at a time. A command is seen at once, whatever the projector's lag is.

    People are remembered, and read again after the log or the tables told more. ``pool`` must be of the primary.
    Methods raise psycopg.Error when Postgres is away.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._remembered: LRUCache[str, _Remembered] = LRUCache(
            _REMEMBERED, getsizeof=lambda each: 1 + len(each.people.handle_ids)
        )

    async def present(self, owner: str) -> People:
        """Returns the people of a user. The caller does not change them."""
        named = parameters(owner)
        known = self._remembered.get(owner)
        async with listing(self._pool, owner, _PATIENCE_S, many=False) as connection:
            try:
                # The place is read before the tables. People may know more than their place, and never less.
                async with connection.cursor(row_factory=class_row(_Place)) as looking:
                    place = await _place(looking, owner, known)
                if known is not None and known.holds(place):
                    if self._remembered.get(owner) is known:
                        self._remembered[owner] = replace(known, place=place)
                    return known.people
                async with connection.cursor(row_factory=dict_row) as cursor:
                    told = await (await cursor.execute(TOLD, named)).fetchall()
                    handles = await (await cursor.execute(HANDLES, named)).fetchall()
                    links = await (await cursor.execute(LINKS, named)).fetchall()
            except psycopg.errors.UndefinedTable:
                async with connection.cursor(row_factory=dict_row) as cursor:
                    return told_in(owner, await (await cursor.execute(UNFOLDED, named)).fetchall()).people()
        people = told_in(owner, told, handles, links).people()
        self._remembered.pop(owner, None)
        if not place.unfolded and len(people.handle_ids) < _REMEMBERED:
            self._remembered[owner] = _Remembered(people, place)
        return people

    async def named_in(self, people: People, person: Person, limit: int) -> list[UUID]:
        """Returns the ids of the cards that name a person, the last said first."""
        handles = list(person.handles)
        shared = [f"{name}|" for name, sharing in people.shared.items() if person in sharing]
        values = {
            "user_id": people.owner,
            "handles": handles,
            "shared": [each for each in shared if each not in handles],
            "tied": [each for each in handles if tie_in(each)],
            "limit": limit,
        }
        return [row["event_id"] for row in await self._rows(people.owner, "named_in", values)]

    async def mentions(self, owner: str, cards: Sequence[UUID]) -> list[Named]:
        """Returns the names that some cards hold."""
        rows = await self._rows(owner, "mentions_of", {"user_id": owner, "cards": list(cards)})
        return [Named(**{**row, "roles": tuple(row["roles"])}) for row in rows]

    async def _rows(self, owner: str, name: str, values: dict[str, object]) -> list[dict[str, Any]]:
        async with (
            listing(self._pool, owner, _PATIENCE_S) as connection,
            connection.cursor(row_factory=dict_row) as cursor,
        ):
            try:
                return await (await cursor.execute(statement(_PACKAGE, name), values)).fetchall()
            except psycopg.errors.UndefinedTable:
                return []


async def _place(cursor: AsyncCursor[_Place], owner: str, known: _Remembered | None) -> _Place:
    values = {
        **parameters(owner),
        "types": _CHANGES,
        "since": None if known is None else known.place.head,
        "depth": _DEPTH,
    }
    [place] = await (await cursor.execute(statement(_PACKAGE, "place_of"), values)).fetchall()
    return place


def quoted_in(named: Iterable[Named]) -> dict[UUID, str]:
    """Returns who told what a card says, by card."""
    return {each.event_id: each.name or tie_in(each.handle) for each in named if "quoted" in each.roles}
