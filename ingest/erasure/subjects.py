"""The four things that can be erased: a user, a person, a turn, and old turns."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from events.people.people_log import told_of
from events.people.person import Person
from events.platform.database import Connection, statement
from events.references.declarations import member_stream
from events.references.owners import is_team, team_owner
from events.types.envelope import Event
from events.types.references import REFERENCE_TYPES, ReferenceMoved, TeamMemberAdded, TeamMemberRemoved
from events.types.tenancy import storage_id, tenant_of, user_of
from events.types.tombstones import digest_of
from events.types.turns import TurnRecorded
from ingest.erasure.erasure import Eraser, Request, Selects, Terms, UserErasure, users_of
from ingest.erasure.names import Names, folded
from ingest.erasure.restating import NOBODY, Restating
from ingest.erasure.selection import (
    Selection,
    events_of,
    is_readable,
    of_person,
    of_turn,
    of_turns,
    said_before,
)
from ingest.erasure.tombstones import Tombstone, in_database
from ingest.recording.forgotten_entries import Fields


def teams_of(connection: Connection, user: str) -> list[str]:
    """Returns the storage ids of the teams that a user is or was in."""
    first = team_owner(tenant_of(user), "")
    rows = connection.execute(
        statement("ingest.erasure", "teams_of"),
        {"first": first, "last": f"{first[:-1]} ", "stream": member_stream(user_of(user))},
    )
    return [row[0] for row in rows]


def of_member(connection: Connection, team: str, user: str, until: datetime | None = None) -> Selection:
    """Selects the membership of a user and what the user said in a team's references, recorded up to ``until``.

    The ops of others are said again without it. A reference in which nobody else wrote goes as a whole.
    """
    selection = Selection()
    restating = Restating(connection, lambda _: False)
    others: set[str] = set()
    for event in events_of(connection, team):
        selection.read_up_to = event.position
        if not is_readable(event):
            continue
        own = (until is None or event.recorded_at <= until) and _is_of(event, user_of(user))
        if not own and event.type in REFERENCE_TYPES:
            others.add(event.stream)
        if restating.takes(event, own, own):
            selection.events.append(event)
    selection.said_again = [
        replace(each, actor=NOBODY) if _by(each.actor, user_of(user)) else each
        for each in restating.said_again()
        if each.stream in others
    ]
    return selection


def member_of_digest(connection: Connection, team: str, subject: str) -> str | None:
    """Returns the member, at any time, of a team whose storage id has the digest ``subject``. None: there is none."""
    for event in events_of(connection, team):
        if isinstance(event.payload, TeamMemberAdded):
            user = storage_id(tenant_of(team), event.payload.member)
            if digest_of("user", user) == subject:
                return user
    return None


def _is_of(event: Event, user_id: str) -> bool:
    payload = event.payload
    if isinstance(payload, TeamMemberAdded | TeamMemberRemoved):
        return payload.member == user_id
    # Where a reference went holds no words, and without it the reference would be back.
    return _by(event.actor, user_id) and not isinstance(payload, ReferenceMoved)


def _by(actor: str, user_id: str) -> bool:
    return actor == f"user/{user_id}" or actor.endswith(f" for user/{user_id}")


@dataclass(slots=True)
class Outcome:
    """What was erased, or would be. ``names`` are the names of a person that were looked for.

    ``shared`` are those of them that several people have, with the people by their ids. Only a dry run tells them.
    """

    erasure_id: UUID
    users: list[UserErasure] = field(default_factory=list)
    names: tuple[str, ...] = ()
    shared: dict[str, dict[UUID, Person]] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        """The sums over all users, by name. Names without a number are left out."""
        return dict(sum((one.counts for one in self.users), Counter()))

    def document(self) -> dict[str, Any]:
        """Returns the outcome as a JSON object, for a dry run."""
        found: dict[str, object] = {"dry_run": True, "users": len(self.users), "counts": self.counts}
        shared = [
            {"name": name, "person_ids": list(map(str, ids))} for name, ids in sorted(self.shared.items())
        ]
        found |= {"shared_names": shared} if shared else {}
        return found | ({"names": sorted(self.names)} if self.names else {})


def erase_user(eraser: Eraser, connection: Connection, storage_id: str, terms: Terms) -> Outcome:
    """Erases everything that is known of a user, also in the references of teams. Who pushes again begins anew."""
    request = Request(kind="user", subject=storage_id, terms=terms, waiting=lambda _: True)
    # The teams come first: without the membership nobody writes there for the user any more.
    teams, in_teams = teams_of(connection, storage_id), replace(request, waiting=None)
    outcome = _erased(eraser, connection, teams, in_teams, lambda c, team: of_member(c, team, storage_id))
    outcome.users += eraser.erase(connection, [storage_id], request, None)
    return outcome


def erase_turn(
    eraser: Eraser, connection: Connection, storage_id: str, turn_id: str, terms: Terms
) -> Outcome:
    """Erases one turn of a user, and what was made of it. A turn that is pushed again with this id is dropped."""

    def waiting(fields: Fields) -> bool:
        return fields.get("turn_id", "").strip() == turn_id

    request = Request(kind="turn", subject=turn_id, terms=terms, waiting=waiting)
    return _erased(eraser, connection, [storage_id], request, lambda c, i: of_turns(c, i, of_turn(turn_id)))


def erase_person(
    eraser: Eraser,
    connection: Connection,
    names: Sequence[str],
    storage_ids: Collection[str],
    terms: Terms,
) -> Outcome:
    """Erases every turn of these users that names a person, and what was made of the turns.

    ``names`` are names of one person. The first one may be the id of a person. Names that a memory tells besides count
    too. Each user is a transaction of its own, so a repeated call continues. Raises
    :class:`ingest.erasure.names.NameInvalidError`.
    """
    storage_ids, person = _person(connection, names, storage_ids)
    found = set(person.all)
    shared: dict[str, dict[UUID, Person]] = defaultdict(dict)

    def waiting(fields: Fields) -> bool:
        return person.said_in(*map(fields.get, ("text", "speaker", "contact", "metadata")))

    def selects(connection: Connection, storage_id: str) -> Selection:
        selection, known = of_person(connection, storage_id, person)
        found.update(known.all)
        if terms.dry_run and selection.events:
            for name, people in told_of(connection, storage_id).people().shared.items():
                if folded(name) in known.all:
                    shared[name] |= {each.person_id: each for each in people}
        return selection

    subject = min(person.all, default=names[0])
    request = Request(kind="person", subject=subject, terms=terms, waiting=waiting)
    outcome = _erased(eraser, connection, storage_ids, request, selects)
    outcome.names, outcome.shared = tuple(sorted(found)), shared
    return outcome


def _person(
    connection: Connection, names: Sequence[str], storage_ids: Collection[str]
) -> tuple[Collection[str], Names]:
    """Returns the users whose memory may name a person, and the names. The id of a person is of one user."""
    try:
        person_id = UUID(names[0])
    except ValueError:
        return storage_ids, Names(names)
    for owner in storage_ids:
        people = told_of(connection, owner).people()
        if (person := people.of_id.get(person_id)) is not None:
            return [owner], Names.of(person, people, names[1:])
    return storage_ids, Names(names)


def erase_before(
    eraser: Eraser,
    connection: Connection,
    instant: datetime,
    storage_ids: Collection[str],
    terms: Terms,
    *,
    mode: str | None = None,
    without: frozenset[str] = frozenset(),
) -> Outcome:
    """Erases the turns that were said before ``instant``: of one mode, or of every mode but ``without``."""
    chosen = said_before(instant, mode, without)
    request = Request(kind="before", subject=instant.isoformat(), terms=terms)
    return _erased(eraser, connection, storage_ids, request, lambda c, i: of_turns(c, i, chosen))


def _erased(
    eraser: Eraser,
    connection: Connection,
    storage_ids: Collection[str],
    request: Request,
    selects: Selects | None,
) -> Outcome:
    return Outcome(request.erasure_id, eraser.erase(connection, storage_ids, request, selects))


def replay(eraser: Eraser, connection: Connection, listed: Iterable[Tombstone]) -> list[Outcome]:
    """Erases again what ``listed`` tombstones name and the database does not know: an older backup was restored.

    Only events up to the time of the first erasure are erased.
    """
    known = {(one.erasure_id, one.user) for one in in_database(connection)}
    missing = [one for one in listed if (one.erasure_id, one.user) not in known]
    if not missing:
        return []
    users = {digest_of("user", storage_id): storage_id for storage_id in users_of(connection, None)}
    return [_again(eraser, connection, one, users[one.user]) for one in missing if one.user in users]


def _again(eraser: Eraser, connection: Connection, one: Tombstone, storage_id: str) -> Outcome:
    outcome = Outcome(one.erasure_id)

    subject = storage_id
    if one.kind == "user" and is_team(storage_id):
        member = member_of_digest(connection, storage_id, one.subject or "")
        if member is None:
            return outcome
        subject = member

    def selects(connection: Connection, storage_id: str) -> Selection:
        if subject != storage_id:
            return of_member(connection, storage_id, subject, one.erased_at)
        return listed_events(connection, storage_id, one)

    request = Request(
        kind=one.kind, subject=subject, terms=Terms(by="cardlog erase --replay", reason="restored_backup"),
        erasure_id=one.erasure_id, digest=one.subject,
        # A restored queue holds the turns and letters of its time.
        waiting=(lambda _: True) if one.events is None else None, until=one.erased_at,
    )  # fmt: skip
    outcome.users = eraser.erase(connection, [storage_id], request, selects)
    return outcome


def listed_events(connection: Connection, storage_id: str, one: Tombstone) -> Selection:
    """Selects the events that a tombstone names: a list, or every event up to the time of the erasure.

    Of turns it also selects what was made of them since the restore, and says the words of other turns again. The names
    of a person are not known any more, so nothing is said again in their place.
    """
    events = None if one.events is None else set(one.events)
    selection, listed = Selection(), dict[UUID, Event]()
    for event in events_of(connection, storage_id):
        selection.read_up_to = event.position
        named = event.recorded_at <= one.erased_at if events is None else event.event_id in events
        if named and is_readable(event):
            listed[event.event_id] = event
    if one.kind in ("turn", "before"):
        turns = {each.payload.turn_id for each in listed.values() if isinstance(each.payload, TurnRecorded)}
        selection = of_turns(connection, storage_id, lambda turn: turn.turn_id in turns)
        listed |= {event.event_id: event for event in selection.events}
    selection.events = sorted(listed.values(), key=lambda event: event.position)
    return selection
