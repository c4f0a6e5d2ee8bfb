"""The JSON Schema of a category, inferred from its values."""

from __future__ import annotations

import orjson

from events.types.json_values import Json

_DEEPEST = 4
_MOST_MEMBERS = 200


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
