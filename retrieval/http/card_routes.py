"""Cards over HTTP: slices and groups of cards, one card with its history and relations, and conflicts."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

import numpy as np
import orjson
from fastapi import APIRouter, Depends, Query

from events.access.principal import Principal
from events.http.access import Reader, owner_of, require_whole
from events.http.answering import routes_of
from events.http.database import Reading
from events.http.errors import missing
from events.http.fields import Uuid, cursor_of, place_at
from events.http.places import Places
from events.language.concepts import name_key
from events.language.terms import analyse, term_keys
from events.resources.cards import (
    Arbitration,
    Arbitrations,
    Card,
    CardHistory,
    CardMap,
    CardsPage,
    CardUse,
    Edge,
    Groups,
    LatestCard,
    MapPoint,
    Neighbourhood,
    Relations,
    UsedCard,
    UsedDay,
)
from retrieval.cards.card import ListedCard
from retrieval.cards.plane import in_plane
from retrieval.cards.query import (
    ALL,
    EVERY_STATUS,
    AggregateIn,
    ArbitrationsIn,
    CardsIn,
    ConceptsIn,
    MapIn,
    NameIn,
    NeighbourhoodIn,
    ReaderIn,
    RelationsIn,
    SliceIn,
    TemporalParams,
    UsedIn,
    asked_of,
    axes_of,
    reader_of,
    slice_of,
    zone_of,
)
from retrieval.cards.reader import CardReader
from retrieval.cards.slice import TIMES, Slice
from retrieval.http.resources import listed

_read = Reading("Cards unavailable")
_MENTIONS = 100
_SHOWN = 80
_MAPS = 2
"""The maps that a process draws at once."""

Fresh = Callable[[str | None, str], Awaitable[CardReader]]
"""Returns the reader to ask, once the turns of a token are in the cards of a user. Raises a problem on timeout."""


def cards_router(fresh: Fresh) -> APIRouter:  # noqa: C901, PLR0915 - its routes count as branches
    """Returns the routes. Every answer is about the named user only. A card of another user gives 404."""
    router = routes_of("cards")
    maps = Places(_MAPS, "maps")

    @router.get("/v1/cards", summary="The cards of a slice, page by page, the latest recorded first")
    async def list_cards(query: Annotated[CardsIn, Query()], caller: Reader) -> CardsPage:
        return await paged(query, caller)

    @router.get(
        "/v1/concepts",
        summary="The concepts of a user, page by page, the latest recorded first",
        tags=["concepts"],
    )
    async def list_concepts(query: Annotated[ConceptsIn, Query()], caller: Reader) -> CardsPage:
        return await paged(CardsIn(kind=["knowledge"], **query.model_dump()), caller)

    async def paged(query: CardsIn, caller: Principal) -> CardsPage:
        before = _card_at(query.cursor)
        reader, cards = await sliced(caller, query)
        found = await _read(reader.page, cards, limit=query.limit, before=before)
        shown = [listed(card, cards.at) for card in found.cards]
        return CardsPage(cards=shown, next_cursor=_cursor(found.next))

    @router.get("/v1/cards/aggregate", summary="The number of cards of a slice, grouped by axes")
    async def count_cards(query: Annotated[AggregateIn, Query()], caller: Reader) -> Groups:
        axes, zone = axes_of(query.group_by), zone_of(query.timezone)
        reader, cards = await sliced(caller, query)
        groups, total = await _read(reader.groups, cards, axes, bucket=query.bucket, timezone=zone)
        bucket = query.bucket if set(axes) & set(TIMES) else None
        return Groups(group_by=axes, bucket=bucket, groups=groups, total=total)

    @router.get(
        "/v1/cards/map",
        summary="The vectors of a slice of cards, in two dimensions",
        dependencies=[Depends(maps)],
    )
    async def card_map(query: Annotated[MapIn, Query()], caller: Reader) -> CardMap:
        reader, cards = await sliced(caller, query)
        page = await _read(reader.page, cards, limit=query.limit)
        embedder, vectors = await _read(reader.vectors, cards, [card.card_id for card in page.cards])
        drawn = [card for card in page.cards if card.card_id in vectors]
        points: list[tuple[int, int]] = []
        shown = 0.0
        if drawn:
            points, shown = await asyncio.to_thread(
                in_plane, np.stack([vectors[each.card_id] for each in drawn])
            )
        return CardMap(
            embedder=embedder,
            points=[
                MapPoint(card_id=card.card_id, kind=card.kind, content=card.content[:_SHOWN], x=x, y=y)
                for card, (x, y) in zip(drawn, points, strict=True)
            ],
            shown=shown,
            missing=len(page.cards) - len(drawn),
            cut=page.next is not None,
        )

    @router.get("/v1/cards/use", summary="The cards that answers held most often, and how many on each day")
    async def card_use(query: Annotated[UsedIn, Query()], caller: Reader) -> CardUse:
        require_whole(caller)
        asked = asked_of(TemporalParams(user_id=query.user_id), datetime.now(UTC))
        owner = owner_of(caller, asked.user_id)
        reader = await fresh(query.wait_for, owner)
        asked = await _read(reader.prepared, replace(asked, user_id=owner))
        found, days = await _read(reader.uses, asked, limit=query.limit, days=query.days)
        return CardUse(
            cards=[
                UsedCard(card=listed(card, asked.at), uses=uses, last_day=day) for card, uses, day in found
            ],
            days=[UsedDay(**each) for each in days],
        )

    @router.get("/v1/cards/{card_id}", summary="One card")
    async def card(card_id: Uuid, query: Annotated[TemporalParams, Query()], caller: Reader) -> Card:
        _, asked, found = await named(caller, query, card_id)
        return listed(found, asked.at)

    @router.get("/v1/cards/{card_id}/history", summary="Every card about the same fact, in order of time")
    async def card_history(
        card_id: Uuid, query: Annotated[TemporalParams, Query()], caller: Reader
    ) -> CardHistory:
        reader, asked, found = await named(caller, query, card_id)
        cards, updates, relations = await _read(reader.history, asked, found.card_id)
        return CardHistory(
            cards=[listed(card, asked.at) for card in cards],
            updates=updates,
            relations=[Edge.made_from(each) for each in relations],
        )

    @router.get(
        "/v1/cards/{card_id}/relations",
        summary="The relations of the card, with reason and actor",
        operation_id="card_relations",
    )
    async def relations(card_id: Uuid, query: Annotated[RelationsIn, Query()], caller: Reader) -> Relations:
        reader, asked, found = await named(caller, query, card_id)
        asked = replace(asked, conditions={"predicate": query.predicate})
        relations = await _read(reader.relations, asked, found.card_id)
        links = await _read(reader.links, asked, found.card_id)
        return Relations(relations=relations, **links)

    @router.get("/v1/cards/{card_id}/neighbourhood", summary="The cards around a card, two relations far")
    async def card_neighbourhood(
        card_id: Uuid, query: Annotated[NeighbourhoodIn, Query()], caller: Reader
    ) -> Neighbourhood:
        reader, asked, found = await named(caller, query, card_id)
        return await _read(reader.neighbourhood, asked, {found.card_id: 0}, most=query.limit)

    @router.get("/v1/neighbourhood", summary="The cards that mention a name, and those one relation away")
    async def name_neighbourhood(query: Annotated[NameIn, Query()], caller: Reader) -> Neighbourhood:
        given = query.model_dump(exclude={"limit"})
        reader, cards = await sliced(caller, CardsIn(**given, project_id=[ALL]))
        page = await _read(reader.page, cards, limit=min(query.limit, _MENTIONS))
        around = await _read(
            reader.neighbourhood, cards, {card.card_id: 1 for card in page.cards}, most=query.limit
        )
        return around.model_copy(update={"cut": around.cut or page.next is not None})

    @router.get("/v1/cards/{card_id}/latest", summary="The latest card of the card's chain of changes")
    async def card_latest(
        card_id: Uuid, query: Annotated[TemporalParams, Query()], caller: Reader
    ) -> LatestCard:
        reader, asked, found = await named(caller, query, card_id)
        way = await _read(reader.latest, asked, found.card_id)
        return LatestCard(card=listed(way[-1], asked.at), chain=[step.card_id for step in way])

    @router.get("/v1/arbitrations", summary="Conflicts that wait for a verdict", tags=["arbitrations"])
    async def list_arbitrations(query: Annotated[ArbitrationsIn, Query()], caller: Reader) -> Arbitrations:
        before, user_id = _card_at(query.cursor), owner_of(caller, reader_of(query))
        asked = asked_of(query, datetime.now(UTC))
        reader = await fresh(query.wait_for, user_id)
        found = await _read(
            reader.arbitrations,
            user_id,
            statuses=None if EVERY_STATUS.intersection(query.status) else query.status,
            projects=None if ALL in query.project_id else query.project_id,
            before=before,
            limit=query.limit + 1,
            reach=caller.reach,
            as_of=asked.as_of,
            known_at=asked.known_at,
        )
        rows = found[: query.limit]
        following = rows[-1].arbitration_id if len(found) > query.limit else None
        return Arbitrations(arbitrations=rows, next_cursor=_cursor(following))

    @router.get("/v1/arbitrations/{arbitration_id}", summary="One conflict", tags=["arbitrations"])
    async def arbitration(
        arbitration_id: Uuid, query: Annotated[ReaderIn, Query()], caller: Reader
    ) -> Arbitration:
        user_id = owner_of(caller, reader_of(query), thing="arbitration", field="arbitration_id")
        reader = await fresh(query.wait_for, user_id)
        found = await _read(reader.arbitrations, user_id, arbitration=arbitration_id, reach=caller.reach)
        if not found:
            raise missing("arbitration", "arbitration_id")
        return found[0]

    async def named(
        caller: Principal, query: TemporalParams, card_id: UUID
    ) -> tuple[CardReader, Slice, ListedCard]:
        """Returns the reader, the slice and the card. Raises a 404 problem when the user has no such card."""
        asked = asked_of(query, datetime.now(UTC))
        owner = owner_of(caller, asked.user_id, thing="card", field="card_id")
        asked = replace(asked, user_id=owner, reach=caller.reach)
        reader = await fresh(query.wait_for, owner)
        asked = await _read(reader.prepared, asked)
        found = await _read(reader.card, asked, card_id)
        if found is None:
            raise missing("card", "card_id")
        return reader, asked, found

    async def sliced(caller: Principal, query: SliceIn) -> tuple[CardReader, Slice]:
        """Returns the reader and the slice, completed from the tables: names, meanings of tags, duplicates."""
        found = slice_of(query, datetime.now(UTC))
        found = replace(found, user_id=owner_of(caller, found.user_id), reach=caller.reach)
        reader = await fresh(query.wait_for, found.user_id)
        found = await _read(reader.prepared, found)
        if query.about is not None or query.knowledge is not None:
            key = None if query.about is None else name_key(query.about)
            names = await _read(reader.names, found, key, query.knowledge)
            if query.knowledge is not None and not names:
                raise missing("knowledge card", "knowledge")
            wanted = [*names, *([query.about] if query.about is not None else [])]
            keys = {tuple(sorted(set(term_keys(found.user_id, analyse(name))))) for name in wanted}
            found = replace(found, about=sorted(filter(None, keys)))
        if query.tag:
            meant = orjson.dumps(await _read(reader.tags_meant, found.user_id, query.tag)).decode()
            found = replace(found, conditions={**found.conditions, "tag": meant})
        if query.collapse:
            found = replace(found, duplicates=await _read(reader.duplicates, found))
        return reader, found

    return router


def _cursor(card: UUID | None) -> str | None:
    return None if card is None else cursor_of(card.bytes)


def _card_at(cursor: str | None) -> UUID | None:
    return place_at(cursor, lambda place: UUID(bytes=place))
