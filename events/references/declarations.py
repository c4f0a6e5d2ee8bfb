"""The kinds that a tenant declared, and the members of teams, as the log has them."""

from events.http.errors import ProblemError, missing
from events.platform.database import Connection
from events.references.kinds.custom import declared
from events.references.kinds.kind import Kind
from events.references.kinds.registry import BUILT_IN
from events.references.owners import KINDS_STREAM, MEMBERS_STREAM, team_owner, tenant_owner
from events.references.reference_log import last_events, streams_between
from events.store.asking import latest_events
from events.types.references import ReferenceKindDeclared, TeamMemberAdded
from events.types.turn_contract import part_of_key


def kind_of(connection: Connection, tenant: str, name: str) -> Kind:
    """Returns a built-in kind or a kind of the tenant.

    Raises a 404 problem for an unknown kind. The problem holds the allowed values.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    found = latest_events(connection, tenant_owner(tenant), kind_stream(name), 1)
    if found and isinstance(found[0].payload, ReferenceKindDeclared):
        return declared(name, found[0].payload.schema, found[0].payload.initial)
    allowed = sorted({*BUILT_IN, *declared_names(connection, tenant)})
    raise ProblemError(
        404,
        "Unknown kind",
        f"kind: {name[:100]!r} is not a kind; use one of {', '.join(allowed)}",
        field="kind",
        allowed=allowed,
    )


def declared_names(connection: Connection, tenant: str) -> list[str]:
    """Returns the names of the kinds that the tenant declared, in alphabetical order."""
    return [
        each.removeprefix(f"{KINDS_STREAM}/")
        for each in streams_between(connection, tenant_owner(tenant), KINDS_STREAM)
    ]


def is_member(connection: Connection, tenant: str, team_id: str, user_id: str) -> bool:
    found = latest_events(connection, team_owner(tenant, team_id), member_stream(user_id), 1)
    return bool(found) and isinstance(found[0].payload, TeamMemberAdded)


def members(connection: Connection, tenant: str, team_id: str) -> list[str]:
    """Returns the members of a team, in alphabetical order. A team without events has no members."""
    last = (event.payload for event in last_events(connection, team_owner(tenant, team_id), MEMBERS_STREAM))
    return sorted(each.member for each in last if isinstance(each, TeamMemberAdded))


def team_not_found() -> ProblemError:
    """Returns the 404 problem of a team that is not there, or is not the caller's."""
    return missing("team", "team_id")


def kind_stream(name: str) -> str:
    """Returns the stream of a declared kind, within the owner of its tenant."""
    return f"{KINDS_STREAM}/{part_of_key(name)}"


def member_stream(member: str) -> str:
    """Returns the stream of a member, within the owner of the team."""
    return f"{MEMBERS_STREAM}/{part_of_key(member)}"
