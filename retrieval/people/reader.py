"""Reads the people of a user from the live tables and from the tail of the log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

from events.people.mentions import tie_in
from events.people.people_log import HANDLES, LINKS, TOLD, UNFOLDED, parameters, told_in
from events.people.person import People, Person
from events.platform.sql import statement
from retrieval.pool.connections import Pool, listing

_PACKAGE = "retrieval.people"
_PATIENCE_S = 2.0


@dataclass(frozen=True, slots=True)
class Named:
    """A person's name in a card. ``roles`` are author, subject, quoted and named."""

    event_id: UUID
    handle: str
    name: str
    roles: tuple[str, ...]
    turn_id: str


class PeopleReader:
    """Reads people of one user at a time. A command is seen at once, whatever the projector's lag is.

    ``pool`` must be of the primary. Methods raise psycopg.Error when Postgres is away.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def present(self, owner: str) -> People:
        """Returns the people of a user."""
        named = parameters(owner)
        async with (
            listing(self._pool, owner, _PATIENCE_S) as connection,
            connection.cursor(row_factory=dict_row) as cursor,
        ):
            try:
                told = await (await cursor.execute(TOLD, named)).fetchall()
                handles = await (await cursor.execute(HANDLES, named)).fetchall()
                links = await (await cursor.execute(LINKS, named)).fetchall()
            except psycopg.errors.UndefinedTable:
                return told_in(owner, await (await cursor.execute(UNFOLDED, named)).fetchall()).people()
        return told_in(owner, told, handles, links).people()

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


def quoted_in(named: Iterable[Named]) -> dict[UUID, str]:
    """Returns who told what a card says, by card."""
    return {each.event_id: each.name or tie_in(each.handle) for each in named if "quoted" in each.roles}
