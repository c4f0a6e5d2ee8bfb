"""Reads the people of a user from the live tables and from the tail of the log."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import psycopg
from cachetools import LRUCache
from psycopg import AsyncCursor
from psycopg.rows import class_row

from events.people.mentions import tie_in
from events.people.people_log import READ_TYPES, telling
from events.people.person import Named, People, Person
from events.platform.database import statement
from events.store.asking import of_user
from events.types.tombstones import SubjectErased
from retrieval.pool import Pool, answered_on, rows_if_folded

_PACKAGE = "retrieval"
_CHANGES = sorted(READ_TYPES | {SubjectErased.__name__})
_DEPTH = 5_000
_REMEMBERED = 50_000
"""Most handles of all users whose people a reader remembers. A handle takes about a kilobyte."""


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
        known = self._remembered.get(owner)
        async with self._pool.listing(owner, planned=True) as connection:
            # The place is read before the tables. People may know more than their place, and never less.
            try:
                async with connection.cursor(row_factory=class_row(_Place)) as looking:
                    place = await _place(looking, owner, known)
            except psycopg.errors.UndefinedTable:
                return (await answered_on(connection, telling(owner))).people()
            if known is not None and known.holds(place):
                if self._remembered.get(owner) is known:
                    self._remembered[owner] = replace(known, place=place)
                return known.people
            people = (await answered_on(connection, telling(owner))).people()
        self._remembered.pop(owner, None)
        if not place.unfolded and len(people.handle_ids) < _REMEMBERED:
            self._remembered[owner] = _Remembered(people, place)
        return people

    async def mentions(self, people: People, cards: Sequence[UUID]) -> list[Named]:
        """Returns the names that some cards of ``people``'s user hold."""
        wanted, values = set(cards), {"user_id": people.owner, "cards": list(cards)}
        rows = await rows_if_folded(self._pool, people.owner, statement(_PACKAGE, "mentions_of"), values)
        told = {
            (named.event_id, named.handle): named for named in people.unfolded if named.event_id in wanted
        }
        told |= {
            (row["event_id"], row["handle"]): Named(**{**row, "roles": tuple(row["roles"])}) for row in rows
        }
        return list(told.values())


def naming(people: People, person: Person, limit: int) -> dict[str, object]:
    """Returns the parameters of the statement ``named_in``."""
    handles = set(person.handles)
    shared = {f"{name}|" for name, sharing in people.shared.items() if person in sharing} - handles
    tied = {each for each in handles if tie_in(each)}
    tied_turns = {named.turn_id for named in people.unfolded if named.handle in tied}
    unfolded = [
        named
        for named in people.unfolded
        if named.handle in handles or (named.handle in shared and named.turn_id in tied_turns)
    ]
    return {
        "handles": list(handles),
        "shared": list(shared),
        "tied": list(tied),
        "unfolded": [named.event_id for named in unfolded],
        "unfolded_at": [named.said_at for named in unfolded],
        "limit": limit,
    }


async def _place(cursor: AsyncCursor[_Place], owner: str, known: _Remembered | None) -> _Place:
    values = {
        **of_user(owner),
        "types": _CHANGES,
        "since": None if known is None else known.place.head,
        "depth": _DEPTH,
    }
    [place] = await (await cursor.execute(statement(_PACKAGE, "place_of_people"), values)).fetchall()
    return place


def quoted_in(named: Iterable[Named]) -> dict[UUID, str]:
    """Returns who told what a card says, by card."""
    return {each.event_id: each.name or tie_in(each.handle) for each in named if "quoted" in each.roles}
