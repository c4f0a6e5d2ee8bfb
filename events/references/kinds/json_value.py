"""Changes of any JSON value: at a pointer (RFC 6901), by a merge patch (RFC 7396) or by a JSON Patch (RFC 6902)."""

import copy
from collections.abc import Callable, Sequence

import jsonpatch
import jsonpointer
import orjson

from events.references.kinds.arguments import Arguments, anything, checked, pointer
from events.references.kinds.kind import (
    MAX_DATA_BYTES,
    SEPARATOR,
    Op,
    ReferenceInvalidError,
    one_line,
    schema_of,
)
from events.types.json_values import Json, json_text

MAX_PATCH_OPS = 1000
_MOST_COPIED_BYTES = 4 * MAX_DATA_BYTES


def patch_ops(name: str, value: Json) -> list[Json]:
    """Checks the form of a JSON Patch."""
    if not isinstance(value, list) or not value:
        raise ReferenceInvalidError(name, "must be a list of JSON Patch operations (RFC 6902)")
    if len(value) > MAX_PATCH_OPS:
        raise ReferenceInvalidError(
            name, f"holds {len(value)} operations; at most {MAX_PATCH_OPS} are allowed"
        )
    for index, each in enumerate(value):
        if not isinstance(each, dict):
            raise ReferenceInvalidError(f"{name}/{index}", "must be an object with op and path")
    return value


_ARGUMENTS = {
    "set": Arguments({"value": anything}, {"path": pointer}),
    "unset": Arguments({"path": pointer}),
    "merge": Arguments({"value": anything}, {"path": pointer}),
    "patch": Arguments({"patch": patch_ops}),
}
OPS = tuple(_ARGUMENTS)
"""The ops that change any JSON value."""


class JsonChanges:
    """The part of a kind that any JSON value shares: how ops change the value, and the value as text."""

    def prepare(self, data: Json, *, at: str, new_id: Callable[[], str]) -> Json:
        return data

    def complete(self, op: Op, *, at: str, new_id: str) -> Op:
        given = {**op, "at": at}
        if op.get("op") in ("set", "merge") and "value" in op and op["value"] is None:
            # Null is a value here, and no missing argument.
            checked(_ARGUMENTS, {**given, "value": False})
            return given
        return checked(_ARGUMENTS, given)

    def apply(self, data: Json, op: Op) -> Json:
        if op["op"] == "patch":
            return patched(data, op["patch"])
        path = op.get("path") or ""
        if op["op"] == "unset":
            return patched(data, [{"op": "remove", "path": path}], field="path") if path else None
        value = op.get("value")
        if op["op"] == "merge":
            value = merged(_at(data, path), value)
        return value if not path else _set(data, path, value)

    def targets(self, op: Op) -> frozenset[str]:
        if op["op"] == "patch":
            return frozenset(str(each.get("path", "")) for each in op["patch"])
        return frozenset((op.get("path") or "",))

    def render(self, data: Json) -> str:
        """Returns any JSON as one line. The members of an object are named, in the order of their names."""
        if isinstance(data, dict):
            members = (f"{one_line(name)} = {_inner(data[name])}" for name in sorted(data))
            return SEPARATOR.join(members) or "(empty)"
        if isinstance(data, list):
            return SEPARATOR.join(map(_inner, data)) or "(empty)"
        return _inner(data)


class Variable(JsonChanges):
    """A value of any form, for instance the stack of a project. Ops change the value or a part of it."""

    name = "variable"
    ops = OPS
    schema = schema_of("variable")

    def initial(self) -> Json:
        return {}


def patched(data: Json, patch: Sequence[Json], field: str = "patch") -> Json:
    """Returns a copy of ``data`` after a JSON Patch. All operations are applied, or none."""
    value = copy.deepcopy(data)
    for index, each in enumerate(patch):
        where = field if field == "path" else f"{field}/{index}"
        try:
            # The operation is copied, because later ones may change the value that it adds.
            value = jsonpatch.JsonPatch([copy.deepcopy(each)]).apply(value, in_place=True)
            # A copy of a copy doubles with each operation.
            size = len(orjson.dumps(value)) if each.get("op") == "copy" else 0
        except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException) as error:
            path = each.get("path")
            raise ReferenceInvalidError(
                where, f"{str(each.get('op'))[:20]} at {str(path)[:200]!r} does not fit: {str(error)[:200]}"
            ) from None
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, RecursionError) as error:
            raise ReferenceInvalidError(where, f"is no JSON Patch operation: {str(error)[:200]}") from None
        if size > _MOST_COPIED_BYTES:
            raise ReferenceInvalidError(where, f"would make a value of {size} bytes; copy less")
    return value


def merged(value: Json, patch: Json) -> Json:
    """Returns ``value`` after a merge patch: null removes a member, an object merges, anything else replaces."""
    if not isinstance(patch, dict):
        return patch
    result = dict(value) if isinstance(value, dict) else {}
    for name, each in patch.items():
        if each is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), each)
    return result


def _at(data: Json, path: str) -> Json:
    try:
        return jsonpointer.JsonPointer(path).resolve(data, None)
    except jsonpointer.JsonPointerException as error:
        raise ReferenceInvalidError("path", f"{path[:200]!r} does not fit: {error}") from None


def _set(data: Json, path: str, value: Json) -> Json:
    """Sets a member, also one whose parents do not exist yet. The parents become objects.

    ``data`` is not changed. The result shares what is not on the path.
    """
    parts = jsonpointer.JsonPointer(path).parts
    root = _opened(data) if isinstance(data, dict | list) else {}
    place: Json = root
    for depth, part in enumerate(parts):
        last = depth == len(parts) - 1
        if isinstance(place, dict):
            if last:
                place[part] = value
            else:
                place[part] = place = _opened(place.get(part, {}))
        elif isinstance(place, list):
            index = len(place) if part == "-" else int(part) if part.isdecimal() else -1
            if not 0 <= index <= len(place) - (not last):
                raise ReferenceInvalidError("path", f"{path[:200]!r}: {part[:40]!r} is no place in that list")
            if not last:
                place[index] = place = _opened(place[index])
            elif index == len(place):
                place.append(value)
            else:
                place[index] = value
        else:
            parent = jsonpointer.JsonPointer.from_parts(parts[:depth]).path
            raise ReferenceInvalidError(
                "path", f"{path[:200]!r}: the value at {parent[:200]!r} has no members"
            )
    return root


def _opened(value: Json) -> Json:
    """Returns a value whose own members may be changed."""
    return value.copy() if isinstance(value, dict | list) else value


def _inner(value: Json) -> str:
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(map(one_line, value))
    return json_text(value)
