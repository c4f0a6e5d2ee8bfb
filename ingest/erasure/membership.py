"""What a user said in the references of teams, and that the user was a member. What others said there stays."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from events.platform.database import Connection
from events.platform.sql import statement
from events.references.declarations import member_stream
from events.references.owners import team_owner
from events.types.envelope import Event
from events.types.references import REFERENCE_TYPES, ReferenceMoved, TeamMemberAdded, TeamMemberRemoved
from events.types.tenancy import storage_id, tenant_of, user_of
from events.types.tombstones import digest_of
from ingest.erasure.restating import NOBODY, Restating
from ingest.erasure.selection import Selection, events_of, is_readable


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
