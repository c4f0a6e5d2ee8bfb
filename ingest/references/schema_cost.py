"""Bounds the time that a declared schema takes: it must not read one part of the data again and again."""

from collections import Counter
from urllib.parse import unquote

import jsonpointer

from events.references.kinds.kind import ReferenceInvalidError

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
