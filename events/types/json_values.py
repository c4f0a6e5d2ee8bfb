"""JSON values: the one type for a value of any form, its canonical text, and its depth."""

from collections.abc import Mapping
from typing import Any

import orjson

Json = Any
"""A value as JSON holds it: an object, a list, text, a number, true, false or null."""
JsonObject = Mapping[str, Any]
"""A JSON object that its reader does not change."""


def json_text(value: object) -> str:
    """Returns JSON with sorted names, so equal values have equal texts."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def is_deeper(value: Json, levels: int) -> bool:
    """True when objects and lists are nested in ``value`` on more than ``levels`` levels."""
    level = [value]
    for _ in range(levels):
        level = [
            child
            for each in level
            if isinstance(each, dict | list)
            for child in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return False
    return True
