"""Declares kinds, and adds and removes members of teams. Each is an event of the log."""

import re

from events.http.errors import invalid
from events.platform.database import Connection
from events.references.declarations import is_member, kind_stream, member_stream, members, team_not_found
from events.references.kinds.custom import declared
from events.references.kinds.kind import ReferenceInvalidError, check_size
from events.references.kinds.registry import BUILT_IN
from events.references.owners import team_owner, tenant_owner
from events.store import log
from events.store.asking import events_below
from events.types.json_values import Json
from events.types.references import ReferenceKindDeclared, TeamMemberAdded, TeamMemberRemoved
from ingest.decider import Command
from ingest.references.schema_cost import check_cost

_KIND_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")


def declare(
    connection: Connection,
    tenant: str,
    name: str,
    schema: Json,
    initial: Json,
    description: str,
    command: Command,
) -> bool:
    """Declares a kind, or a new version of it. Returns False when it is declared like this already.

    Raises a 422 problem for a name or a schema that cannot be used.
    """
    if not _KIND_NAME.fullmatch(name):
        raise invalid("kind", "must be 1 to 63 lower-case letters, digits and _, a letter first")
    if name in BUILT_IN:
        raise invalid("kind", f"{name} is built in; use another name")
    try:
        check_size(schema, "schema")
        check_cost(schema)
        kind = declared(name, schema, initial)
    except ReferenceInvalidError as error:
        raise invalid(error.field, error.reason) from None
    payload = ReferenceKindDeclared(kind=name, description=description, schema=schema, initial=kind.start)
    owner, stream = tenant_owner(tenant), kind_stream(name)
    before = events_below(connection, owner, stream, None, 1)
    if before and before[0].payload == payload:
        return False
    log.append(connection, [command.event(owner, stream, payload)])
    return True


def change_member(
    connection: Connection,
    tenant: str,
    team_id: str,
    change: TeamMemberAdded | TeamMemberRemoved,
    command: Command,
) -> bool:
    """Adds or removes a member. The first member of a team adds oneself. Members change it after that.

    Returns False when the team is like this already. Raises a 404 problem for somebody outside the team.
    """
    adds = isinstance(change, TeamMemberAdded)
    _admit(connection, tenant, team_id, change.by, first=change.member if adds else None)
    if is_member(connection, tenant, team_id, change.member) == adds:
        return False
    stream = member_stream(change.member)
    log.append(connection, [command.event(team_owner(tenant, team_id), stream, change)])
    return True


def _admit(connection: Connection, tenant: str, team_id: str, by: str, first: str | None) -> None:
    if is_member(connection, tenant, team_id, by):
        return
    if first != by or members(connection, tenant, team_id):
        raise team_not_found()
