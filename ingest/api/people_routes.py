"""The commands of people, and their routes: note, alias, merge, split, distinct.

Every command is decided under a lock of the user's people (:mod:`ingest.decider`), on the events of the log. No command
destroys: a split takes a merge back, and a merge takes a split back. Only distinct holds for ever.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field

from events.http.access import require_whole
from events.http.answering import routes_of
from events.http.errors import conflict, invalid, missing
from events.http.fields import Uuid, storable
from events.people.judgement import judged_by, noted_handle, person_id
from events.people.people_log import Told, told_of
from events.people.person import People, Person
from events.platform.database import Connection
from events.resources import people as resources
from events.resources.people import WrittenPerson
from events.resources.resource import plain
from events.types.envelope import Event, Payload, uuid7
from events.types.people import (
    PersonAliased,
    PersonEvent,
    PersonNoted,
    PersonsDistinct,
    PersonsMerged,
    PersonsSplit,
)
from ingest.api.transactions import FromTurns, OfUser, Sender, Sent, Transactions
from ingest.decider import Command, Outcome, UserStream, decide

STREAM = "people"
MAX_EVENTS = 10_000
"""The most events about the people of one user."""


class UserPeople(UserStream[Told, Person]):
    """What is told of a user's people. ``wanted`` is the event that the command asks for."""

    name = STREAM
    keyed = "people"

    def __init__(self, connection: Connection, command: Command, wanted: PersonEvent) -> None:
        super().__init__(connection, command)
        self.wanted = wanted

    def load(self) -> Told:
        return told_of(self.connection, self.owner)

    def present(self, state: Told, event: Event | None = None) -> Person:
        of_id = state.people().of_id
        if isinstance(self.wanted, PersonNoted):
            return of_id[person_id(self.owner, noted_handle(self.wanted))]
        return of_id[self.wanted.into_id if isinstance(self.wanted, PersonsMerged) else self.wanted.person_id]

    def position(self, state: Told) -> int:
        return max((each.position for each in state.events), default=0)


def run(connection: Connection, command: Command, wanted: PersonEvent) -> Outcome[Person]:
    """Appends ``wanted`` when it changes something, and returns the person after it.

    Raises a 404 problem that names the person the user does not have, 422 for one person where two are needed, and 409
    when the log says otherwise: the person exists, the two are distinct, are no one person, or are one already.
    """
    people = UserPeople(connection, command, wanted)

    def rule(told: Told) -> Payload | None:
        if len(told.events) >= MAX_EVENTS:
            raise invalid(
                "user_id", f"has {MAX_EVENTS} events about people, which is the most a user can have"
            )
        return _RULES[type(wanted)](told.people(), told, wanted)

    return decide(people, rule, lambda first: _intent(first) == _intent(wanted))


def _intent(payload: Payload) -> object:
    """Returns a payload without what the command found by itself."""
    same = replace(payload, origin=None)
    return replace(same, evidence=()) if isinstance(same, PersonsMerged) else same


def _known(people: People, person: UUID, field: str) -> Person:
    found = people.of_id.get(person)
    if found is None:
        raise missing("person", field)
    return found


def _note(people: People, told: Told, wanted: PersonNoted) -> Payload | None:
    present = people.of_id.get(person_id(told.owner, noted_handle(wanted)))
    if present is not None:
        raise conflict(
            "Exists",
            "name",
            "this person is known; add an alias, or name the kinship that tells another one apart",
            current=plain(resources.Person.made_from(present)),
        )
    if not wanted.kinship and (sharing := people.shared.get(noted_handle(wanted)[:-1])):
        raise invalid(
            "kinship", f"is required: {len(sharing)} people have this name; say which kinship or circle"
        )
    return wanted


def _alias(people: People, told: Told, wanted: PersonAliased) -> Payload | None:
    person = _known(people, wanted.person_id, "person_id")
    judged = judged_by(told.owner, wanted)
    assert judged is not None
    alias = people.of_id.get(judged[0])
    if alias is not None and alias.person_id == person.person_id:
        return None
    if alias is not None:
        _refuse_distinct(people, alias, person, "alias")
    return _holding(told, wanted, *judged[:2], "alias")


def _merge(people: People, told: Told, wanted: PersonsMerged) -> Payload | None:
    if wanted.person_id == wanted.into_id:
        raise invalid("into_id", "is the same person as person_id; merge two different ones")
    person = _known(people, wanted.person_id, "person_id")
    into = _known(people, wanted.into_id, "into_id")
    if person.person_id == into.person_id:
        if into.person_id == wanted.person_id:
            raise conflict(
                "Cycle",
                "into_id",
                "it is merged into person_id already; split the two first to merge them the other way",
            )
        return None
    _refuse_distinct(people, person, into, "into_id")
    pair = {person.person_id, into.person_id}
    found = [each.evidence for each in people.proposals if {each.person_id, each.into_id} == pair]
    merged = replace(wanted, evidence=found[0] if found else ())
    return _holding(told, merged, wanted.person_id, wanted.into_id, "into_id")


def _split(people: People, told: Told, wanted: PersonsSplit) -> Payload | None:
    person = _known(people, wanted.person_id, "person_id")
    other = _known(people, wanted.from_id, "from_id")
    if wanted.person_id == wanted.from_id:
        raise invalid(
            "from_id", "is the same id as person_id; name the id that was merged, as `merged` lists it"
        )
    if person.person_id != other.person_id:
        if people.verdicts.get(frozenset((wanted.person_id, wanted.from_id))) == "split":
            return None
        raise conflict(
            "Not merged",
            "from_id",
            "the two are no one person, so there is nothing to split; use distinct to keep them apart",
        )
    return wanted


def _distinct(people: People, told: Told, wanted: PersonsDistinct) -> Payload | None:
    _known(people, wanted.person_id, "person_id")
    _known(people, wanted.other_id, "other_id")
    if wanted.person_id == wanted.other_id:
        raise invalid("other_id", "is the same person as person_id; name two different ones")
    pair = frozenset((wanted.person_id, wanted.other_id))
    return None if people.verdicts.get(pair) == "distinct" else wanted


_RULES: dict[type, Callable[..., Payload | None]] = {
    PersonNoted: _note,
    PersonAliased: _alias,
    PersonsMerged: _merge,
    PersonsSplit: _split,
    PersonsDistinct: _distinct,
}


def _refuse_distinct(people: People, one: Person, other: Person, field: str) -> None:
    if people.are_distinct(one, other):
        raise conflict("Distinct", field, "the two were declared to be two people, which holds for ever")


def _holding(told: Told, wanted: PersonEvent, one: UUID, other: UUID, field: str) -> Payload:
    """Returns ``wanted``. Raises 409 when an earlier split keeps the two apart even after it."""
    after = told.people(_supposed(told, wanted))
    if after.of_id[one] is not after.of_id[other]:
        raise conflict("Kept apart", field, "other ids of the two were split; merge those two ids first")
    return wanted


def _supposed(told: Told, wanted: PersonEvent) -> Event:
    return Event(
        partition=0, position=max((each.position for each in told.events), default=0) + 1, event_id=uuid7(),
        user_id=told.owner, stream=STREAM, version=0, type=type(wanted).__name__, schema_version=1, dedupe_key=None,
        occurred_at=wanted.origin.said_at, recorded_at=wanted.origin.said_at, actor="", causation_id=None,
        correlation_id=None, payload=wanted,
    )  # fmt: skip


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
        return transactions.written(WrittenPerson, command, lambda c: run(c, command, wanted))

    return router
