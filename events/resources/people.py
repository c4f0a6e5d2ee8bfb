"""The people in the conversations of a user: who there is, by which names, and who may be whom."""

from uuid import UUID

from pydantic import AwareDatetime, Field

from events.resources.cards import Card
from events.resources.resource import Resource


class Person(Resource):
    """A person. Any of ``person_id`` and ``merged`` names the person."""

    person_id: UUID
    name: str
    aliases: list[str] = Field(description="other names that words or commands gave")
    kinship: list[str] = Field(description="what ties the person to the user, such as sister or work")
    addresses: list[str] = Field(description="addresses and accounts")
    merged: list[UUID] = Field(description="ids of people who turned out to be this one")
    since: AwareDatetime = Field(description="the first words that named the person")
    last_mention: AwareDatetime = Field(description="the last words that named the person")
    mentions: int = Field(
        description="statements that name the person; the timeline shows those of one card once"
    )


class WrittenPerson(Person):
    """A person after a command."""

    token: str = Field(description="give the token to wait_for of a recall to find the person there")


class MergeProposal(Resource):
    """Two people who may be one. Nothing is merged until a command says so."""

    person_id: UUID
    into_id: UUID
    score: float = Field(description="0 to 1: how sure it is that they are one person")
    evidence: list[str]


class SharedName(Resource):
    """A name that several people have. The name alone means none of them."""

    name: str
    person_ids: list[UUID]


class PeoplePage(Resource):
    """The people of a user, the last mentioned first, with the proposals that wait."""

    people: list[Person]
    proposals: list[MergeProposal]
    shared_names: list[SharedName]


class KnownPerson(Person):
    """A person, and what is true of the person now."""

    facts: list[Card] = Field(description="current states that name the person, the latest first")


class PersonEntry(Resource):
    """A card that names a person. ``author`` said it, ``subject`` it is about, ``quoted`` told it to the author."""

    card: Card
    author: str | None
    subject: str | None
    quoted: str | None


class PersonTimeline(Resource):
    """The cards that name a person, the last said first."""

    person_id: UUID
    entries: list[PersonEntry]
