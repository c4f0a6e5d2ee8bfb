"""Declares kinds whose cost is bounded, and adds and removes members of teams. Each is an event of the log."""

import re
from collections import Counter
from urllib.parse import unquote

import jsonpointer

from events.http.errors import invalid
from events.platform.database import Connection
from events.references.declarations import is_member, kind_stream, member_stream, members, team_not_found
from events.references.kinds.custom import declared
from events.references.kinds.kind import ReferenceInvalidError, check_size
from events.references.kinds.registry import BUILT_IN
from events.store import log
from events.store.asking import latest_events
from events.types.json_values import Json
from events.types.references import ReferenceKindDeclared, TeamMemberAdded, TeamMemberRemoved
from events.types.tenancy import tenant_of
from ingest.decider import Command

_KIND_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")


def declare(
    connection: Connection, name: str, schema: Json, initial: Json, description: str, command: Command
) -> bool:
    """Declares a kind of a tenant, or a new version of it. Returns False when it is declared like this already.

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
    stream = kind_stream(name)
    before = latest_events(connection, command.owner, stream, 1)
    if before and before[0].payload == payload:
        return False
    log.append(connection, [command.event(stream, payload)])
    return True


def change_member(
    connection: Connection, change: TeamMemberAdded | TeamMemberRemoved, command: Command
) -> bool:
    """Adds or removes a member. The first member of a team adds oneself. Members change it after that.

    Returns False when the team is like this already. Raises a 404 problem for somebody outside the team.
    """
    tenant, team_id = tenant_of(command.owner), change.team_id
    adds = isinstance(change, TeamMemberAdded)
    _admit(connection, tenant, team_id, change.by, first=change.member if adds else None)
    if is_member(connection, tenant, team_id, change.member) == adds:
        return False
    log.append(connection, [command.event(member_stream(change.member), change)])
    return True


def _admit(connection: Connection, tenant: str, team_id: str, by: str, first: str | None) -> None:
    if is_member(connection, tenant, team_id, by):
        return
    if first != by or members(connection, tenant, team_id):
        raise team_not_found()


MAX_STEPS = 10_000
"""The parts of a schema that one value may meet, when each reference is replaced by its target."""

_SAME_VALUE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies")
_MEMBERS = ("properties", "prefixItems")
_ANY_MEMBER = ("patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames")
_ANY_ITEM = ("items", "additionalItems", "contains", "unevaluatedItems")
_MAPS = ("dependentSchemas", "dependencies", "patternProperties")
_REFERENCES = ("$ref", "$dynamicRef")
_ANCHORS = ("$anchor", "$dynamicAnchor")


def check_cost(schema: object) -> None:
    """Raises :class:`ReferenceInvalidError` for a schema whose time would double with each reference.

    A schema may refer to itself, once for each member or item. Two such references for one member would read the data
    of that member twice, the data below it four times, and so on.
    """
    try:
        _Walk(schema).follow("#", ())
    except RecursionError:
        raise ReferenceInvalidError("schema", "refers to its own parts through too many others") from None


class _Walk:
    def __init__(self, schema: object) -> None:
        self._schema = schema
        self._steps = 0
        self._anchors: dict[str, object] = {}
        waiting = [schema]
        while waiting:
            each = waiting.pop()
            if isinstance(each, dict):
                self._anchors.update(
                    {each[name]: each for name in _ANCHORS if isinstance(each.get(name), str)}
                )
            if isinstance(each, dict | list):
                waiting += each.values() if isinstance(each, dict) else each

    def follow(self, reference: str, path: tuple[str, ...]) -> Counter[str]:
        """Returns, by member, how often what is below ``reference`` refers to a reference on ``path``."""
        found = self._part(self._target(reference), (*path, reference))
        if _most(found) > 1:
            raise ReferenceInvalidError(
                "schema", f"refers from one member more than once to {reference[:100]!r}, which it is part of"
            )
        return found

    def _target(self, reference: str) -> object:
        fragment = unquote(reference.removeprefix("#"))
        if fragment in self._anchors:
            return self._anchors[fragment]
        try:
            return jsonpointer.JsonPointer(fragment).resolve(self._schema, None)
        except (jsonpointer.JsonPointerException, ValueError):  # the validator says what is wrong
            return None

    def _part(self, part: object, path: tuple[str, ...]) -> Counter[str]:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise ReferenceInvalidError(
                "schema", f"refers to its own parts too often; a value may meet {MAX_STEPS} parts"
            )
        found: Counter[str] = Counter()
        if not isinstance(part, dict):
            return found
        for name in _REFERENCES:
            if isinstance(part.get(name), str):
                # The engine itself stops where a reference leads back to the same value.
                found += Counter({"": 1}) if part[name] in path else self.follow(part[name], path)
        for name in _SAME_VALUE:
            for each in _parts(part, name):
                found += self._part(each, path)
        for name in _MEMBERS:
            members = part.get(name)
            if isinstance(members, dict | list):
                named = members.items() if isinstance(members, dict) else enumerate(members)
                found += Counter({f"{name}/{key}": self._below(each, path) for key, each in named})
        for kind in (_ANY_MEMBER, _ANY_ITEM):
            below = sum(self._below(each, path) for name in kind for each in _parts(part, name))
            found += Counter({"properties/*" if kind is _ANY_MEMBER else "prefixItems/*": below})
        return found

    def _below(self, part: object, path: tuple[str, ...]) -> int:
        found = self._part(part, path)
        return _most(found) + found[""]


def _parts(part: dict[str, object], name: str) -> list[object]:
    """Returns the schemas of a keyword: those of a map or a list, or the one schema."""
    value = part.get(name)
    if name in _MAPS and isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else [value]


def _most(found: Counter[str]) -> int:
    return max(
        (
            count + (found[f"{name.partition('/')[0]}/*"] if not name.endswith("/*") else 0)
            for name, count in found.items()
            if name
        ),
        default=0,
    )
