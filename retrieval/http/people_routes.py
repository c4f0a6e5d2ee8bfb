"""People over HTTP, to read: the list, one person with current facts, and the cards that name a person."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from events.access.principal import Principal
from events.http.access import Reader, owner_of, require_whole
from events.http.answering import routes_of
from events.http.database import Reading
from events.http.errors import missing
from events.http.fields import Uuid
from events.people.person import People
from events.people.person import Person as Known
from events.people.ties import folded
from events.resources.people import (
    KnownPerson,
    MergeProposal,
    PeoplePage,
    Person,
    PersonEntry,
    PersonTimeline,
    SharedName,
)
from retrieval.cards.card import ListedCard
from retrieval.cards.query import ReaderIn
from retrieval.cards.slice import KINDS, Slice
from retrieval.http.card_routes import Fresh
from retrieval.http.resources import listed
from retrieval.people import PeopleReader, naming, quoted_in

_read = Reading("People unavailable")
_FACTS = 50
_READ = 200
"""The last cards about a person among which current facts are looked for."""


class PeopleParams(ReaderIn):
    """Which people."""

    name: Annotated[str | None, Field(max_length=200, description="only people with this name or tie")] = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


class TimelineParams(ReaderIn):
    """How much of a timeline."""

    limit: Annotated[int, Field(ge=1, le=500)] = 50


def people_router(reader: PeopleReader, fresh: Fresh) -> APIRouter:
    """Returns the routes. A person of another user gives the same 404 as none."""
    router = routes_of("people")

    @router.get("/v1/people", summary="The people of a user, and who may be whom")
    async def list_people(query: Annotated[PeopleParams, Query()], caller: Reader) -> PeoplePage:
        owner = _owner(caller, query.user_id)
        await fresh(query.wait_for, owner)
        people = await _read(reader.present, owner)
        name = folded(query.name or "")
        found = [
            each
            for each in people.people
            if not name or name in map(folded, (each.name, *each.aliases, *each.kinship, *each.addresses))
        ]
        return PeoplePage(
            people=[Person.made_from(each) for each in found[: query.limit]],
            proposals=[MergeProposal.made_from(each) for each in people.proposals[: query.limit]],
            shared_names=[
                SharedName(name=shared, person_ids=[each.person_id for each in sharing])
                for shared, sharing in sorted(people.shared.items())
            ],
        )

    @router.get("/v1/people/{person_id}", summary="One person: who, since when, and what is true now")
    async def person(person_id: Uuid, query: Annotated[ReaderIn, Query()], caller: Reader) -> KnownPerson:
        now = datetime.now(UTC)
        _, found, states = await cards_of(caller, query, person_id, now, _READ, ("state",))
        current = [card for card in states if card.status == "current"]
        return KnownPerson.made_from(found, facts=[listed(card, now) for card in current[:_FACTS]])

    @router.get(
        "/v1/people/{person_id}/timeline", summary="The cards that name a person, the last said first"
    )
    async def person_timeline(
        person_id: Uuid, query: Annotated[TimelineParams, Query()], caller: Reader
    ) -> PersonTimeline:
        now = datetime.now(UTC)
        people, found, cards = await cards_of(caller, query, person_id, now, query.limit)
        quoted = quoted_in(await _read(reader.mentions, people, [card.card_id for card in cards]))
        entries = [
            PersonEntry(
                card=listed(card, now),
                author=card.speaker,
                subject=card.entity,
                quoted=quoted.get(card.card_id),
            )
            for card in cards
        ]
        return PersonTimeline(person_id=found.person_id, entries=entries)

    async def cards_of(
        caller: Principal,
        query: ReaderIn,
        person_id: UUID,
        now: datetime,
        limit: int,
        kinds: Sequence[str] = KINDS,
    ) -> tuple[People, Known, list[ListedCard]]:
        """Returns a person, and those of ``kinds`` among the last cards that name the person, without repetitions.

        The person and the modes of the user are read at the same time, so two round trips follow each other.
        """
        owner = _owner(caller, query.user_id, "person", "person_id")
        cards = await fresh(query.wait_for, owner)
        people, asked = await asyncio.gather(
            _read(reader.present, owner), _read(cards.prepared, Slice(user_id=owner, now=now))
        )
        found = people.of_id.get(person_id)
        if found is None:
            raise missing("person", "person_id")
        return people, found, await _read(cards.naming, asked, naming(people, found, limit), kinds)

    return router


def _owner(caller: Principal, user_id: str, thing: str = "user", field: str = "user_id") -> str:
    """Returns the storage id. People are of every project and mode, so a key must be too."""
    owner = owner_of(caller, user_id, thing=thing, field=field)
    require_whole(caller)
    return owner
