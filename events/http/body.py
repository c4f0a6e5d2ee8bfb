"""JSON bodies: parsed within bounds, and the base of their models."""

import json
import re
from collections import Counter

import orjson
from pydantic import BaseModel

from events.http.errors import invalid

MAX_VALUES = 50_000
"""Values of one document. A thousand turns with every field have 13,000. An empty object takes 25 times the memory of
its text."""
MAX_DEPTH = 32
"""Levels of nested arrays and objects. No request needs more than 5. Much deeper documents cannot even be printed."""


_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_BRACKETS = re.compile(rb"[\[{\]}]")


class Body(BaseModel, extra="forbid", strict=True, use_attribute_docstrings=True):
    """A body or a part of one. A field takes only the JSON type that it documents: "5" is no number."""


def parsed(body: bytes) -> object:
    """Returns the JSON document in ``body``.

    Guarantees at most ``MAX_VALUES`` values, at most ``MAX_DEPTH`` levels, only finite numbers, only strings that
    PostgreSQL can store, and each name once in its object. Raises a 422 problem with the field at fault.
    """
    structure = _STRINGS.sub(b"", body)
    brackets = _BRACKETS.findall(structure)
    if structure.count(b",") + len(brackets) > MAX_VALUES:
        raise invalid("(body)", f"holds more than {MAX_VALUES} values; send less at a time")
    depth = deepest = 0
    for bracket in brackets:
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise invalid("(body)", f"is nested {deepest} levels deep; at most {MAX_DEPTH} are allowed")
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise invalid("(body)", f"is not valid JSON in UTF-8: {error}") from None
    if b"\\u0000" in body:
        _refuse_nul(document, "(body)", {})
    if structure.count(b":") != _names_in(document):  # two readers would read such a document differently
        _refuse_twice(json.loads(body, object_pairs_hook=tuple), "(body)")
    return document


def items_of(body: object) -> list[dict[str, object]]:
    """Returns the objects of a parsed body: those of a list, the questions of a batch, or the body itself."""
    several = body.get("questions", body) if isinstance(body, dict) else body
    return [each for each in (several if isinstance(several, list) else [body]) if isinstance(each, dict)]


def _refuse_nul(value: object, field: str, where: dict[str, int]) -> None:
    if isinstance(value, str):
        if "\0" in value:
            raise invalid(
                field, f"holds a NUL character (character {value.index(chr(0))}); leave it out", **where
            )
    elif isinstance(value, dict):
        for name, each in value.items():
            _refuse_nul(name, field, where)
            _refuse_nul(each, name, where)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            _refuse_nul(each, field, where or {"index": index} if field == "(body)" else where)


def _names_in(value: object) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_names_in, value.values()))
    return sum(map(_names_in, value)) if isinstance(value, list) else 0


def _refuse_twice(value: object, field: str) -> None:
    """Raises a 422 problem for an object with a name twice. Objects are tuples of pairs here."""
    if isinstance(value, list):
        for each in value:
            _refuse_twice(each, field)
    elif isinstance(value, tuple):
        found = dict(value)
        if len(found) != len(value):
            [(twice, _)] = Counter(name for name, _ in value).most_common(1)
            path = found.get("path")  # names an operation of a JSON Patch
            where = {"path": path} if isinstance(path, str) else {}
            at = f" in the operation at {path[:200]!r}" if isinstance(path, str) else ""
            raise invalid(field, f"has the name {twice[:100]!r} twice in one object{at}; keep one", **where)
        for name, each in value:
            _refuse_twice(each, name)
