"""Reads cards from the live tables: pages and groups of a slice, and one card with its relations and history."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from heapq import merge
from itertools import islice
from typing import TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray
from pgvector import Vector
from psycopg import AsyncConnection
from psycopg.errors import InvalidSchemaName, UndefinedTable
from psycopg.rows import AsyncRowFactory, class_row, dict_row
from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

from events.access.principal import EVERYTHING, Reach
from events.language.concepts import name_key
from events.modes.mode_log import REGISTRY, registries_in, registry_parameters
from events.modes.registry import NOTHING, Modes
from events.platform.database import Row, statement
from events.references.reference_log import THEN, parameters_of
from events.resources.cards import (
    Arbitration,
    CardSummary,
    CardUpdate,
    Neighbour,
    NeighbourEdge,
    Neighbourhood,
    Relation,
)
from events.store.log import events_of
from projectors.cards.card import CARD_FIELDS
from projectors.cards.connections import SUPERSEDING
from retrieval.cards.card import ListedCard, by_id, card_row, seen_from
from retrieval.cards.chain import Chains, RelationEdge, duplicates
from retrieval.cards.past import Fold, cards_then, past
from retrieval.cards.slice import KINDS, LISTS, TENTHS, TIMES, Slice
from retrieval.pool import Pool

_PACKAGE = "retrieval.cards"
MAX_GROUPS = 10_000
_MAX_EDGES = 10_000
_MAX_LINKS = 200
MOST_NEIGHBOURS = 300
"""The most cards of a neighbourhood. It has twice as many edges at most."""
_MAX_AROUND = 60
_MAX_NEIGHBOURS = 2_000
_MAX_NODE_BYTES = 110_000  # 600 edges take 80,000 bytes more
_SHOWN = 120
_EdgeKey = tuple[UUID, UUID, str]
_PATIENCE_S = 2.0
_CHAINED = (*SUPERSEDING, "expands", "qualifies", "retracts", "same_as")

_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Page:
    """Cards of a slice, the last recorded first. ``next`` is the cursor of the next page, None after the last page."""

    cards: list[ListedCard]
    next: UUID | None


_CARD = card_row(ListedCard)
_EDGE = class_row(RelationEdge)


class CardReader:
    """Reads cards of one user at a time from the live tables. Methods raise psycopg.Error: when Postgres is away.

    ``everybody`` are the modes of the installation.
    """

    def __init__(self, pool: Pool, fold: Fold, everybody: Mapping[str, str] | None = None) -> None:
        self._pool = pool
        self._fold = fold
        self._everybody = everybody

    async def prepared(self, asked: Slice) -> Slice:
        """Returns ``asked`` with the modes of its user, and with its past.

        Every other method needs the past of a slice with ``known_at``.
        """
        async with self._pool.listing(asked.user_id, _PATIENCE_S) as connection:
            registries = await _rows(connection, dict_row, REGISTRY, registry_parameters([asked.user_id]))
            modes = Modes(dict(registries_in(registries)).get(asked.user_id, NOTHING), self._everybody)
            if asked.known_at is None:
                return replace(asked, modes=modes)
            known = await past(connection, self._fold, user_id=asked.user_id, known_at=asked.known_at)
            named = parameters_of([asked.user_id], asked.as_of, asked.known_at)
            references = cards_then(await _rows(connection, dict_row, THEN, named))
        return replace(asked, modes=modes, past=known.having(references))

    async def page(self, cards: Slice, *, limit: int, before: UUID | None = None) -> Page:
        """Returns up to ``limit`` cards of a slice that were recorded before the card ``before``.

        New cards come before the first page, so no page repeats or misses a card.
        """
        async with self._pool.listing(cards.user_id, _PATIENCE_S) as connection:
            found = [
                await _rows(
                    connection,
                    _CARD,
                    filled("page", cards),
                    {**cards.parameters(), "kind": kind, "before": before, "limit": limit + 1},
                )
                for kind in cards.kinds
            ]
        rows = list(islice(merge(*found, key=lambda card: card.card_id, reverse=True), limit + 1))
        return Page(rows[:limit], rows[limit - 1].card_id if len(rows) > limit else None)

    async def groups(
        self, cards: Slice, axes: Sequence[str], *, bucket: str = "day", timezone: str = "UTC"
    ) -> tuple[list[dict[str, object]], int]:
        """Returns the groups of a slice by the values of ``axes`` with their counts, and the sum of the counts.

        The largest group is first. Groups of an axis of time are in order of time. A card counts once for each of its
        tags, topics or predicates.
        """
        lists = SQL("").join(
            statement(_PACKAGE, "items").format(axis=Identifier(axis), items=Identifier(f"each {axis}"))
            for axis in axes
            if axis in LISTS
        )
        times = [Identifier(axis) for axis in axes if axis in TIMES]
        query = filled(
            "aggregate",
            cards,
            held=SQL(", ").join(map(Identifier, axes)),
            made=SQL(", ").join(map(_made, axes)),
            lists=lists,
            places=SQL(", ").join(Literal(place) for place, _ in enumerate(axes, 1)),
            order=SQL(", ").join([*times, SQL("count DESC"), *map(Identifier, axes)]),
            predicates=filled("predicates", cards),
        )
        values = {**cards.parameters(), "bucket": bucket, "timezone": timezone, "limit": MAX_GROUPS}
        async with (
            self._pool.listing(cards.user_id, _PATIENCE_S) as connection,
            connection.transaction(),
        ):
            await connection.execute(statement(_PACKAGE, "aggregate_settings"))
            rows = await _rows(connection, dict_row, query, values)
        total = int(rows[0]["total"]) if rows else 0
        return [
            {
                **{axis: _plain(row[axis], ZoneInfo(timezone)) for axis in axes},
                "count": row["count"],
                "share": round(row["count"] / total, 6),
            }
            for row in rows
        ], total

    async def cards(
        self, asked: Slice, ids: Sequence[UUID], kinds: Sequence[str] = KINDS
    ) -> dict[UUID, ListedCard]:
        """Returns some cards of a user by id, whatever their status. An unknown card is absent."""
        # Cards are looked up by their key, so one plan is good for everybody. Planning takes ten times as long.
        once = asked.past is None
        async with self._pool.listing(asked.user_id, _PATIENCE_S, planned=once) as connection:
            return await self._cards(connection, asked, ids, kinds, once=once)

    async def naming(
        self, asked: Slice, named: Mapping[str, object], kinds: Sequence[str] = KINDS
    ) -> list[ListedCard]:
        """Returns the cards of ``kinds`` among the last ones that name a person, without repetitions (same_as).

        ``named`` are the parameters of the statement ``named_in`` of people. It takes one round trip.
        """
        values = {**asked.parameters(), **named, "kinds": list(kinds)}
        part = statement("retrieval", "named_in")
        cards, edges = (filled(name, asked, named=part) for name in ("cards_named", "same_as_named"))
        async with self._pool.listing(asked.user_id, _PATIENCE_S, planned=True) as connection:
            found, same_as = connection.cursor(row_factory=_CARD), connection.cursor(row_factory=_EDGE)
            try:
                async with connection.pipeline():
                    await found.execute(cards, values, prepare=True)
                    await same_as.execute(edges, values, prepare=True)
            except UndefinedTable:  # nothing is folded yet
                return []
            repeated = set(duplicates(await same_as.fetchall()))
            return [card for card in await found.fetchall() if card.card_id not in repeated]

    async def card(self, asked: Slice, card: UUID) -> ListedCard | None:
        """Returns a card, or the card that its statement is part of now. None when the user has neither."""
        found = (await self.cards(asked, [card])).get(card)
        if found is not None:
            return found
        async with self._pool.listing(asked.user_id, _PATIENCE_S) as connection:
            own = {"user_id": asked.user_id, "card": card}
            events = events_of(await _rows(connection, dict_row, statement(_PACKAGE, "own_statement"), own))
            if not events:
                return None
            said = events[0].payload
            values = {**own, "turn_ids": list(said.origin.turn_ids), "value": getattr(said, "value", None)}
            rows = await _rows(connection, dict_row, statement(_PACKAGE, "part_of"), values)
        ids = [row["card_id"] for row in rows]
        return next(iter((await self.cards(asked, ids)).values()), None)

    async def links(self, asked: Slice, card: UUID) -> dict[str, list[CardSummary]]:
        """Returns the cards that belong to a card without an edge.

        ``related`` are the concepts related to a knowledge card, in both directions. ``episode`` is the episode of its
        turn. ``gave_rise_to`` are the other cards of the turn of an episode.
        """
        values = {**asked.parameters(), "card": card, "limit": _MAX_LINKS}
        async with self._pool.listing(asked.user_id, _PATIENCE_S) as connection:
            rows = await _rows(connection, dict_row, filled("links", asked), values)
            known = await self._cards(connection, asked, [row["card_id"] for row in rows])
        found: dict[str, list[CardSummary]] = {"related": [], "episode": [], "gave_rise_to": []}
        for row in rows:
            found[row["mark"]].append(CardSummary.made_from(known[row["card_id"]]))
        return found

    async def neighbourhood(self, asked: Slice, middle: Mapping[UUID, int], *, most: int) -> Neighbourhood:
        """Returns the cards around those in the ``middle``, which have their rings, as far as ring 2.

        The answer has at most ``most`` cards, and the bounds of :class:`Neighbourhood`. Of a ring with more than 60
        cards, the neighbours of the first 60 are looked for.
        """
        rings, edges, cut = dict(islice(middle.items(), most)), dict[_EdgeKey, None](), len(middle) > most
        async with self._pool.listing(asked.user_id, _PATIENCE_S) as connection:
            for ring in range(min(rings.values(), default=2) + 1, 3):
                around = [card for card, at in rings.items() if at == ring - 1]
                cut = cut or len(around) > _MAX_AROUND
                values = {**asked.parameters(), "kinds": list(KINDS), "cards": around[:_MAX_AROUND]}
                values["limit"] = _MAX_NEIGHBOURS + 1
                rows = await _rows(connection, dict_row, filled("neighbours", asked), values)
                cut = cut or len(rows) > _MAX_NEIGHBOURS
                for row in rows:
                    ends = row["from_card"], row["to_card"]
                    for end in ends:
                        if end not in rings and len(rings) < most:
                            rings[end] = ring
                    if rings.keys() >= set(ends):
                        edges[*ends, row["predicate"]] = None
                    else:
                        cut = True
            known = await self._cards(connection, asked, list(rings))
        nodes: list[Neighbour] = []
        room = _MAX_NODE_BYTES
        for card, ring in rings.items():
            if (found := known.get(card)) is None:
                continue
            words = found.content[:_SHOWN]
            node = Neighbour.made_from(found, content=words, ring=ring)
            room -= len(node.model_dump_json())
            if room < 0:
                cut = True
                break
            nodes.append(node)
        shown = {node.card_id for node in nodes}
        kept = [edge for edge in edges if shown.issuperset(edge[:2])]
        return Neighbourhood(
            nodes=nodes,
            edges=[
                NeighbourEdge(from_card=one, to_card=other, predicate=predicate)
                for one, other, predicate in kept[: 2 * MOST_NEIGHBOURS]
            ],
            cut=cut or len(kept) > 2 * MOST_NEIGHBOURS,
        )

    async def vectors(
        self, asked: Slice, ids: Sequence[UUID]
    ) -> tuple[str | None, dict[UUID, NDArray[np.float32]]]:
        """Returns the vectors of some cards by one embedder, the one that has most of them, and its fingerprint."""
        values = {"user_id": asked.user_id, "cards": list(ids)}
        try:
            async with self._pool.listing(asked.user_id, _PATIENCE_S) as connection:
                rows = await _rows(connection, dict_row, statement(_PACKAGE, "vectors_of"), values)
        except (UndefinedTable, InvalidSchemaName):  # no worker folded anything yet
            rows = []
        return (rows[0]["model"] if rows else None), {
            row["card_id"]: Vector.from_binary(row["embedding"]).to_numpy() for row in rows
        }

    async def uses(
        self, asked: Slice, *, limit: int, days: int
    ) -> tuple[list[tuple[ListedCard, int, date]], list[Row]]:
        """Returns the cards that answers held most often, with counts and last days, and the counts by day."""
        values = {"user_id": asked.user_id, "limit": limit, "days": days}
        async with self._pool.listing(asked.user_id, _PATIENCE_S) as connection:
            used = await _rows(connection, dict_row, statement(_PACKAGE, "most_used"), values)
            by_day = await _rows(connection, dict_row, statement(_PACKAGE, "used_by_day"), values)
            known = await self._cards(connection, asked, [row["card_id"] for row in used])
        cards = [
            (known[row["card_id"]], row["uses"], row["last_day"]) for row in used if row["card_id"] in known
        ]
        return cards, by_day

    async def duplicates(self, asked: Slice) -> list[UUID]:
        """Returns the cards that repeat an earlier card, according to the ``same_as`` edges."""
        async with self._pool.listing(asked.user_id, _PATIENCE_S) as connection:
            edges = await _rows(connection, _EDGE, filled("same_as", asked), asked.parameters())
        return duplicates(edges)

    async def names(self, asked: Slice, key: str | None, card: UUID | None) -> list[str]:
        """Returns every name of the concepts with the normalised name ``key``, or of the knowledge card ``card``.

        Names that became known after ``known_at`` count too.
        """
        async with self._pool.listing(asked.user_id, _PATIENCE_S) as connection:
            rows = await _rows(
                connection,
                dict_row,
                filled("names", replace(asked, known_at=None, past=None)),
                {**asked.parameters(), "key": key, "card": card},
            )
        return sorted(row["name"] for row in rows)

    async def tags_meant(self, user_id: str, tags: Sequence[str]) -> list[list[str]]:
        """Returns for each tag the sorted tags that mean the same.

        These are the tag, the tag that it is an alias of, and all aliases of the latter.
        """
        async with self._pool.listing(user_id, _PATIENCE_S) as connection:
            rows = await _rows(connection, dict_row, statement(_PACKAGE, "tag_aliases"), {"user_id": user_id})
        meant = {row["alias"]: row["tag"] for row in rows}
        names = [(tag.lower(), meant.get(name_key(tag), name_key(tag))) for tag in tags]
        return [
            sorted({tag, name, *(alias for alias, other in meant.items() if other == name)})
            for tag, name in names
        ]

    async def relations(self, asked: Slice, card: UUID) -> list[Relation]:
        """Returns the edges of a card, each with the card at its other end, in order of creation."""
        async with self._pool.listing(asked.user_id, _PATIENCE_S) as connection:
            values = {**asked.parameters(), "card": card}
            edges = await _rows(connection, _EDGE, filled("relations", asked), values)
            known = await self._cards(connection, asked, sorted({_other(edge, card) for edge in edges}))
        return [
            seen_from(card, edge, known.get(_other(edge, card)))
            for edge in edges
            if not asked.reach.limited or _other(edge, card) in known
        ]

    async def latest(self, asked: Slice, card: UUID) -> list[ListedCard]:
        """Returns the chain from a card to the card that is true now. The card itself is first."""
        async with self._pool.listing(asked.user_id, _PATIENCE_S) as connection:
            edges = await self._edges(connection, asked, card, (*SUPERSEDING, "same_as"))
            ids = {end for edge in edges for end in (edge.from_card, edge.to_card)} | {card}
            known = await self._cards(connection, asked, sorted(ids))

        replacing = {
            edge.from_card
            for edge in edges
            if edge.implied and edge.to_card in known and known[edge.to_card].kind == "event"
        }

        def begun(card_id: UUID) -> datetime | None:
            found = known.get(card_id)
            if found is None:
                return None
            if card_id in replacing:
                # The event that was said last took the place, whenever it happened.
                return found.said_at if found.said_at <= asked.at else None
            return None if found.status in ("future", "contested", "retracted") else found.begun

        return [known[step] for step in Chains(edges).latest(card, begun) if step in known]

    async def history(
        self, asked: Slice, card: UUID
    ) -> tuple[list[ListedCard], list[CardUpdate], list[RelationEdge]]:
        """Returns the history of a card: the cards of its identity and mode and its chains, their updates and edges.

        The cards are in order of time.
        """
        async with self._pool.listing(asked.user_id, _PATIENCE_S) as connection:
            said = await _rows(
                connection,
                dict_row,
                statement(_PACKAGE, "identity"),
                {"user_id": asked.user_id, "card": card},
            )
            edges = await self._edges(connection, asked, card, _CHAINED)
            ids = {end for edge in edges for end in (edge.from_card, edge.to_card)}
            known = await self._cards(
                connection, asked, sorted({card, *ids, *(row["event_id"] for row in said)})
            )
            mode = known[card].mode if card in known else None
            known = {each: found for each, found in known.items() if each in ids or found.mode == mode}
            updates = await _rows(
                connection,
                class_row(CardUpdate),
                filled("updates", asked),
                {**asked.parameters(), "cards": list(known)},
            )
        return (
            sorted(known.values(), key=lambda found: (found.begun or found.created_at, found.card_id)),
            updates,
            [edge for edge in edges if edge.from_card in known and edge.to_card in known],
        )

    async def arbitrations(
        self,
        user_id: str,
        *,
        arbitration: UUID | None = None,
        statuses: Sequence[str] | None = None,
        projects: Sequence[str] | None = None,
        before: UUID | None = None,
        limit: int = 100,
        reach: Reach = EVERYTHING,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> list[Arbitration]:
        """Returns arbitrations of a user within ``reach``, the last opened first, as they were known at ``known_at``.

        ``as_of`` leaves out those whose new value was said later.
        """
        values = {
            "as_of": as_of,
            "known_position": None,
            "hidden": [],
            "known_arbitrations": "[]",
            "user_id": user_id,
            "arbitration": arbitration,
            "status": statuses,
            "projects": projects,
            "before": before,
            "limit": limit,
            "reached_projects": reach.parameters()["projects"],
            "reached_modes": reach.parameters()["modes"],
        }
        async with self._pool.listing(user_id, _PATIENCE_S) as connection:
            if known_at is not None:
                then = await past(connection, self._fold, user_id=user_id, known_at=known_at)
                values |= then.within(reach).parameters()
            return await _rows(
                connection, class_row(Arbitration), statement(_PACKAGE, "arbitrations"), values
            )

    async def _cards(
        self,
        connection: AsyncConnection,
        asked: Slice,
        ids: Sequence[UUID],
        kinds: Sequence[str] = KINDS,
        *,
        once: bool = False,
    ) -> dict[UUID, ListedCard]:
        """Returns cards by id. ``once``: the statement is planned once for a connection."""
        values = {**asked.parameters(), "kinds": list(kinds), "cards": list(ids)}
        return by_id(await _rows(connection, _CARD, filled("cards", asked), values, once=once))

    async def _edges(
        self, connection: AsyncConnection, asked: Slice, card: UUID, predicates: Sequence[str]
    ) -> list[RelationEdge]:
        return await _rows(
            connection,
            _EDGE,
            filled("reachable_relations", asked),
            {
                **asked.parameters(),
                "cards": [card],
                "predicates": list(predicates),
                "implied": [True, False],
                "older": True,
                "chains": list(SUPERSEDING),
                "visited": _MAX_EDGES,
                "followed": _MAX_EDGES,
                "limit": _MAX_EDGES,
            },
        )


async def _rows(
    connection: AsyncConnection,
    row_factory: AsyncRowFactory[_R],
    query: SQL | Composed,
    values: Mapping[str, object],
    *,
    once: bool = False,
) -> list[_R]:
    cursor = connection.cursor(row_factory=row_factory)
    # The query is planned each time. Most conditions are NULL, and a custom plan leaves these conditions out.
    await cursor.execute(query, values, prepare=once)
    return await cursor.fetchall()


def filled(name: str, asked: Slice, **parts: Composable) -> Composed:
    """Returns the statement ``name`` over the live tables, or over the tables of the slice's past.

    For a limited reach the statement sees only the cards within it.
    """
    assert (asked.known_at is None) == (asked.past is None), (
        "call prepared() first: the slice has known_at and no past"
    )
    tables: dict[str, Composable] = {
        name: Identifier("cards", table) if asked.past is None else statement(_PACKAGE, f"known_{name}")
        for name, table in (("cards", "cards"), ("relations", "relations"), ("updates", "card_update_log"))
    }
    if asked.reach.limited:
        tables["cards"] = statement(_PACKAGE, "reached_cards").format(cards=tables["cards"])
    status = statement(_PACKAGE, "status").format(relations=tables["relations"])
    mode = statement(_PACKAGE, "mode")
    columns = (
        mode + SQL(" AS mode") if column == "mode" else Identifier("c", column) for column in CARD_FIELDS
    )
    return statement(_PACKAGE, name).format(
        **tables,
        columns=SQL(", ").join(columns),
        status=status,
        mode=mode,
        slice=statement(_PACKAGE, "slice").format(mode=mode, relations=tables["relations"]),
        **parts,
    )


def _made(axis: str) -> Composable:
    """Returns the SQL of an axis: buckets of instants, tenths of numbers, items of lists, otherwise the column."""
    if axis in TIMES:
        return statement(_PACKAGE, "made_of_time").format(axis=Identifier(axis))
    if axis in TENTHS:
        return statement(_PACKAGE, "made_of_tenths").format(axis=Identifier(axis))
    if axis in LISTS:
        return statement(_PACKAGE, "made_of_list").format(
            axis=Identifier(axis), items=Identifier(f"each {axis}")
        )
    return Identifier(axis)


def _other(edge: RelationEdge, card: UUID) -> UUID:
    return edge.to_card if edge.from_card == card else edge.from_card


def _plain(value: object, zone: ZoneInfo) -> object:
    """Returns the value of a group: buckets in the time zone of the request, tenths as floats."""
    if isinstance(value, datetime):
        return value.astimezone(zone)
    return float(value) if isinstance(value, Decimal) else value
