"""The plan of a promotion: the new category of a document, and the operations that make it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from events.core.evolution.migration import migration
from events.core.evolution.mining import Candidate, places
from events.core.patches import Op, applied
from events.core.pointers import MISSING, join, value_at
from events.core.schema import META, promoted_schemas, schema
from events.types.json_values import Json

_NAME = re.compile(r"[^\W\d_]\w{0,63}")
_DEEPEST = 4
_MOST_MEMBERS = 200


class PlanError(ValueError):
    """A promotion is not possible. ``field`` names what to change; the message gives reason and remedy."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Plan:
    """A promotion: the name, the JSON Schema, the new pointer of each old one, and the operations that move values."""

    name: str
    schema: Mapping[str, object]
    moved: Mapping[str, str]
    ops: Sequence[Op]


def taken_names() -> frozenset[str]:
    """Returns the names that no new category can have."""
    return frozenset((*schema()["properties"], META))


def planned(
    document: Json, candidate: Candidate, name: str, members: Mapping[str, str] | None = None
) -> Plan:
    """Returns the promotion of a candidate to the category ``name``.

    ``members`` names the member of a value by the pointer of its instance. Raises :class:`PlanError`.
    """
    _check_name(name)
    if name in document and name not in promoted_schemas(document):
        raise PlanError("proposed_name", f"{name!r} is in the document already; choose another name")
    moved = _named(document, candidate, name, members or {})
    entry = {"change": "promoted", "newCategory": name, "moved": moved}
    # The last operation is the entry of the log, and the one before may make the log.
    ops = [op for op in migration(document, entry) if not op["path"].startswith(f"/{META}")]
    return Plan(name, inferred(name, applied(document, ops)[name]), moved, ops)


def _check_name(name: str) -> None:
    """Raises :class:`PlanError` for a name that no promoted category can have."""
    if _NAME.fullmatch(name) is None:
        raise PlanError("proposed_name", "must begin with a letter and hold up to 64 letters, digits and _")
    if name in taken_names():
        raise PlanError("proposed_name", f"{name!r} is a category of every document; choose another name")


def _named(document: Json, candidate: Candidate, name: str, members: Mapping[str, str]) -> dict[str, str]:
    for instance in members:
        if instance not in candidate.instances:
            raise PlanError("members", f"{instance[:200]!r} is no instance of this candidate")
    found: dict[str, str] = {}
    for old, new in places(document, candidate, name).items():
        instance = next(each for each in candidate.instances if f"{old}/".startswith(f"{each}/"))
        wanted = members.get(instance)
        if wanted is not None and _NAME.fullmatch(wanted) is None:
            raise PlanError(
                "members", f"{wanted[:64]!r} is no name: use a letter, then letters, digits and _"
            )
        found[old] = new if wanted is None else join((name, wanted))
        if wanted is not None and value_at(document, (name, wanted)) is not MISSING:
            raise PlanError("members", f"{name} has a {wanted!r} already; choose another name")
    if len(set(found.values())) != len(found):
        raise PlanError("members", "gives two values one name; choose another one")
    return found


def inferred(name: str, value: Json) -> dict[str, object]:
    """Returns a JSON Schema (2020-12) that ``value`` fits. Known members keep their type; others may be added.

    A text may become a list of texts later, as the cards of one concept do. The result depends on the value alone.
    """
    return {"title": name, **_schema_of(value, _DEEPEST)}


def _schema_of(value: Json, depth: int) -> dict[str, object]:
    if isinstance(value, bool):
        return {"type": "boolean"}
    if isinstance(value, str):
        return {"type": ["string", "array"], "items": {"type": "string"}}
    if isinstance(value, int | float):
        return {"type": "number"}
    if isinstance(value, list):
        kinds = {orjson.dumps(_schema_of(each, 0), option=orjson.OPT_SORT_KEYS): None for each in value}
        if len(kinds) == 1 and depth > 0:
            return {"type": "array", "items": _item_of(value[0])}
        return {"type": "array"}
    if isinstance(value, dict):
        if depth == 0 or len(value) > _MOST_MEMBERS:
            return {"type": "object"}
        members = {each: _schema_of(inner, depth - 1) for each, inner in sorted(value.items())}
        return {"type": "object", "properties": members}
    return {}


def _item_of(value: Json) -> dict[str, object]:
    return {"type": "string"} if isinstance(value, str) else _schema_of(value, 0)
