"""The events of the people in a user's conversations: who there is, by which names, and who is whom.

Cards name people, and the fold (:mod:`events.people.person`) finds the people there. These events say what a person or
an agent says about them. ``person_id`` is the id that :func:`events.people.judgement.person_id` makes of owner, name
and tie. The id of a person never changes. No event destroys: a split takes a merge back, and ``PersonsDistinct`` holds
for ever.
"""

from typing import Literal
from uuid import UUID

from events.types.cards import CardOrigin
from events.types.codec import event_type


@event_type(version=1)
class PersonNoted:
    """There is a person ``name``. ``kinship`` tells the person from others of that name: sister, colleague, 姊姊."""

    name: str
    origin: CardOrigin
    kinship: str | None = None


@event_type(version=1)
class PersonAliased:
    """The person has another name, or a handle such as an address or an account."""

    person_id: UUID
    alias: str
    origin: CardOrigin
    kind: Literal["name", "handle"] = "name"


@event_type(version=1)
class PersonsMerged:
    """``person_id`` and ``into_id`` are one person, whom ``into_id`` names. ``evidence`` is what the merge rests on."""

    person_id: UUID
    into_id: UUID
    origin: CardOrigin
    reason: str | None = None
    evidence: tuple[str, ...] = ()


@event_type(version=1)
class PersonsSplit:
    """``person_id`` is not the person ``from_id``, with whom it was merged. A later merge of the two holds again."""

    person_id: UUID
    from_id: UUID
    origin: CardOrigin
    reason: str | None = None


@event_type(version=1)
class PersonsDistinct:
    """``person_id`` and ``other_id`` are two people. No later merge makes them one."""

    person_id: UUID
    other_id: UUID
    origin: CardOrigin
    reason: str | None = None


@event_type(version=1)
class PersonMergeProposed:
    """The curator found that ``person_id`` and ``into_id`` may be one person. Nothing is merged.

    The undoing of a run takes back the proposals with one of its digests. ``digest`` is that of the words.
    """

    person_id: UUID
    into_id: UUID
    reason: str
    digest: str
    confidence: float
    evidence: tuple[str, ...] = ()


PersonEvent = PersonNoted | PersonAliased | PersonsMerged | PersonsSplit | PersonsDistinct
PERSON_EVENTS = (PersonNoted, PersonAliased, PersonsMerged, PersonsSplit, PersonsDistinct)
