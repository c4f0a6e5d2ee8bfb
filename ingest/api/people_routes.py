"""The commands of people over HTTP."""

from collections.abc import Callable
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field

from events.http.access import require_whole
from events.http.answering import routes_of
from events.http.fields import Uuid, storable
from events.resources.people import WrittenPerson
from events.types.people import (
    PersonAliased,
    PersonEvent,
    PersonNoted,
    PersonsDistinct,
    PersonsMerged,
    PersonsSplit,
)
from ingest import people
from ingest.api.transactions import FromTurns, OfUser, Sender, Sent, Transactions

Short = Annotated[str, *storable(200)]
Long = Annotated[str, *storable(4000)]


class _Sent(FromTurns, OfUser):
    """Who sends a command."""


class _Judged(_Sent):
    """A judgement about two people."""

    reason: Annotated[Long | None, Field(description="why, for whoever asks later")] = None


class PersonIn(
    _Sent,
    json_schema_extra={"examples": [{"user_id": "u", "name": "Alex", "kinship": "sister"}]},
):
    """A person whom the user knows."""

    name: Short
    kinship: Annotated[
        Short | None,
        Field(description="what ties the person to the user: sister, 姊姊, work; it tells two Alexes apart"),
    ] = None


class AliasIn(_Sent):
    """Another name of a person."""

    alias: Short = Field(description="the name, or the address or account")
    kind: Annotated[Literal["name", "handle"], Field(description="handle: an address or an account")] = "name"


class MergeIn(_Judged):
    """Two people are one."""

    into_id: Uuid = Field(description="the person that stays")


class SplitIn(_Judged):
    """A merge was wrong."""

    from_id: Uuid = Field(description="the person with whom it was merged")


class DistinctIn(_Judged):
    """Two people are two, for ever."""

    other_id: Uuid


def people_router(transactions: Transactions) -> APIRouter:
    """Returns the routes of people."""
    router = routes_of("people")

    @router.post("/v1/people", status_code=201, summary="Note a person")
    def note_person(body: PersonIn, sender: Sent) -> WrittenPerson:
        return answer(sender, body, PersonNoted)

    @router.post("/v1/people/{person_id}/alias", summary="Give a person another name")
    def alias_person(person_id: Uuid, body: AliasIn, sender: Sent) -> WrittenPerson:
        return answer(sender, body, PersonAliased, person_id)

    @router.post("/v1/people/{person_id}/merge", summary="Say that two people are one")
    def merge_person(person_id: Uuid, body: MergeIn, sender: Sent) -> WrittenPerson:
        return answer(sender, body, PersonsMerged, person_id)

    @router.post("/v1/people/{person_id}/split", summary="Take back a merge")
    def split_person(person_id: Uuid, body: SplitIn, sender: Sent) -> WrittenPerson:
        return answer(sender, body, PersonsSplit, person_id)

    @router.post("/v1/people/{person_id}/distinct", summary="Say that two people are two, for ever")
    def distinguish_person(person_id: Uuid, body: DistinctIn, sender: Sent) -> WrittenPerson:
        return answer(sender, body, PersonsDistinct, person_id)

    def answer(
        sender: Sender, body: _Sent, kind: Callable[..., PersonEvent], person_id: UUID | None = None
    ) -> WrittenPerson:
        """Appends the event that ``body`` has the fields of."""
        of_person = {} if person_id is None else {"person_id": person_id}
        command = sender.command_of(body, body.user_id, "person" if of_person else "user")
        require_whole(sender.caller)  # people are of every project and mode
        fields = body.model_dump(exclude=set(_Sent.model_fields)) | of_person
        wanted = kind(**fields, origin=command.origin())
        return transactions.written(WrittenPerson, command, lambda c: people.run(c, command, wanted))

    return router
