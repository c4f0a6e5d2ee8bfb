"""JSON Patch (RFC 6902) on documents that never change in place: every patch gives a new document or an error.

Two documents share the parts that a patch did not touch.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import orjson

from events.core.pointers import MISSING, PointerError, Tokens, index_of, join, split, value_at
from events.types.core import Fault, PatchQueued
from events.types.json_values import Json, JsonObject

Op = JsonObject

OWN_CATEGORY = "a category of your own goes to /dynamicCategories/<name>"
"""The remedy for a patch that names a category which the document does not have."""
MAX_OPS = 1000
MAX_PATCH_BYTES = 128 * 1024
MAX_POINTER_BYTES = 2048
MAX_COPIED_BYTES = 1024 * 1024
"""The most bytes of the copies of one patch, and of its guards. A copy of a copy doubles with each operation."""
_MEMBERS = {
    "add": ("value",),
    "replace": ("value",),
    "test": ("value",),
    "remove": (),
    "move": ("from",),
    "copy": ("from",),
}
_FORBIDDEN = "__proto__"
_NAMES = ("id", "name", "title", "key")
"""The members that tell one item of an array from the others, the best one first."""
_SHOWN = 2000
"""Bytes of a value that an error shows."""


class PatchMalformedError(ValueError):
    """The patch is malformed. ``op`` is the number of the operation at fault."""

    def __init__(self, op: int | None, path: str | None, reason: str) -> None:
        super().__init__(reason)
        self.op = op
        self.path = path
        self.reason = reason


@dataclass
class PatchConflictError(Exception):
    """A well-formed patch does not fit the document. The document is as before."""

    fault: Fault
    op: int
    path: str
    reason: str
    expected: Json = None
    actual: Json = None

    def __str__(self) -> str:
        return f"operation {self.op} at {self.path!r}: {self.reason}"


def conflict_of(queued: PatchQueued) -> PatchConflictError:
    """Returns the conflict because of which a patch waits."""
    return PatchConflictError(
        queued.fault, queued.op, queued.path, queued.reason, queued.expected, queued.actual
    )


def checked(patch: Json) -> list[Op]:
    """Returns the operations of ``patch`` with their own members only. Raises :class:`PatchMalformedError`."""
    if not isinstance(patch, list):
        raise PatchMalformedError(None, None, "must be a list of JSON Patch operations (RFC 6902)")
    if len(patch) > MAX_OPS:
        raise PatchMalformedError(None, None, f"holds {len(patch)} operations; at most {MAX_OPS} are allowed")
    found = [_checked_op(index, each) for index, each in enumerate(patch)]
    try:
        size = len(orjson.dumps(found))
    except TypeError as error:
        raise PatchMalformedError(None, None, f"is not JSON that can be kept ({error})") from None
    if size > MAX_PATCH_BYTES:
        raise PatchMalformedError(
            None, None, f"is {size} bytes long; at most {MAX_PATCH_BYTES} are allowed: send several patches"
        )
    return found


def _checked_op(index: int, op: object) -> Op:
    if not isinstance(op, dict):
        raise PatchMalformedError(index, None, "must be an object with op and path")
    name, path = op.get("op"), op.get("path")
    if not isinstance(path, str):
        raise PatchMalformedError(index, None, "needs a path, a JSON Pointer as text")
    members = _MEMBERS.get(name) if isinstance(name, str) else None
    if members is None:
        raise PatchMalformedError(
            index, path, f"{str(name)[:40]!r} is no operation; use one of {', '.join(_MEMBERS)}"
        )
    for pointer in (path, op.get("from") if "from" in members else ""):
        if not isinstance(pointer, str):
            raise PatchMalformedError(index, path, "needs a from, a JSON Pointer as text")
        _check_pointer(index, path, pointer)
    found = {"op": name, "path": path}
    for member in members:
        if member not in op:
            raise PatchMalformedError(index, path, f"needs a {member}")
        found[member] = op[member]
    if _holds_forbidden(found.get("value")):
        raise PatchMalformedError(index, path, f"holds a member {_FORBIDDEN!r}; use another name")
    return found


def _check_pointer(index: int, path: str, pointer: str) -> None:
    try:
        size = len(pointer.encode())
    except UnicodeEncodeError:
        raise PatchMalformedError(index, None, "holds a lone surrogate; leave it out") from None
    if size > MAX_POINTER_BYTES:
        raise PatchMalformedError(index, path[:100], f"has a pointer longer than {MAX_POINTER_BYTES} bytes")
    try:
        tokens = split(pointer)
    except PointerError as error:
        raise PatchMalformedError(index, path, f"{pointer[:200]!r} is no JSON Pointer: {error}") from None
    if _FORBIDDEN in tokens:
        raise PatchMalformedError(index, path, f"names a member {_FORBIDDEN!r}; use another name")


def _holds_forbidden(value: Json) -> bool:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            if _FORBIDDEN in each:
                return True
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return False


def texts_in(value: Json) -> Iterator[str]:
    """Yields every text and every name of JSON. It goes as deep as a document may."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield name
            yield from texts_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from texts_in(each)


def applied(document: Json, patch: Sequence[Op], guards: Collection[int] = ()) -> Json:
    """Returns the document of :func:`followed` alone."""
    return followed(document, patch, guards)[0]


def followed(document: Json, patch: Sequence[Op], guards: Collection[int]) -> tuple[Json, list[Op]]:
    """Returns the document after ``patch``, and the operations as they were applied: all of them or none.

    ``document`` is not changed. A guard whose item moved within its array moves with it, when exactly one item fits.
    Raises :class:`PatchConflictError` for the first operation that does not fit.
    """
    ops = list(patch)
    copied = 0
    for index in range(len(ops)):
        if index in guards:
            _follow_item(document, ops, index, guards)
        copied += _copied_bytes(document, ops[index], index, MAX_COPIED_BYTES - copied)
        document = applied_one(document, ops[index], index)
    return document, ops


def names_items(patch: Iterable[Op]) -> bool:
    """True when an operation may name an item of an array by its index."""
    pointers = [op[member] for op in patch for member in ("path", "from") if member in op]
    return any(index_of(token) is not None for pointer in pointers for token in split(pointer))


def guarded(document: Json, patch: Sequence[Op]) -> tuple[Json, list[Op], tuple[int, ...]]:
    """Returns the document after ``patch``, the operations with their guards, and the numbers of the guards.

    A ``test`` that identifies the item precedes each operation on an existing item of an array.
    Raises :class:`PatchConflictError` with the number that the operation has in ``patch``.
    """
    ops: list[Op] = []
    guards: list[int] = []
    copied = tested = 0
    for index, op in enumerate(patch):
        copied += _copied_bytes(document, op, index, MAX_COPIED_BYTES - copied)
        for test in _guards_of(document, op):
            tested += _bytes_of(test["value"], op, index, MAX_COPIED_BYTES - tested)
            guards.append(len(ops))
            ops.append(test)
        document = applied_one(document, op, index)
        ops.append(op)
    return document, ops, tuple(guards)


def _copied_bytes(document: Json, op: Op, index: int, most: int) -> int:
    if op["op"] != "copy":
        return 0
    value = value_at(document, split(op["from"]))
    return 0 if value is MISSING else _bytes_of(value, op, index, most)


def _bytes_of(value: Json, op: Op, index: int, most: int) -> int:
    """Returns the bytes of a value. Raises :class:`PatchConflictError` for more than ``most``."""
    try:
        size = len(orjson.dumps(value))
    except TypeError:
        raise PatchConflictError("size", index, op["path"], "a value is nested too deep") from None
    if size > most:
        raise PatchConflictError(
            "size",
            index,
            op["path"],
            f"the patch copies or tests more than {MAX_COPIED_BYTES} bytes of the document: send several patches",
        )
    return size


def applied_one(document: Json, op: Op, index: int = 0) -> Json:
    """Returns the document after one operation."""
    name, path = op["op"], op["path"]
    if name == "test":
        actual = value_at(document, split(path))
        if actual is MISSING or not same(actual, op["value"]):
            raise PatchConflictError(
                "test", index, path,
                "there is no value to test" if actual is MISSING else "the value is another one",
                expected=shown(op["value"]), actual=shown(actual),
            )  # fmt: skip
        return document
    if name in ("move", "copy"):
        origin = split(op["from"])
        value = value_at(document, origin)
        if value is MISSING:
            raise PatchConflictError("path", index, op["from"], f"{name} does not fit: there is no value")
        if name == "move":
            if path == op["from"]:
                return document
            if split(path)[: len(origin)] == origin:
                raise PatchConflictError(
                    "path", index, path, "move does not fit: the target is inside the value"
                )
            document = _changed(document, {"op": "remove", "path": op["from"]}, index)
        op = {"op": "add", "path": path, "value": value}
    return _changed(document, op, index)


def _changed(document: Json, op: Op, index: int) -> Json:
    """Returns the document after an add, a replace or a remove. It copies the containers along the path only."""
    name, tokens = op["op"], split(op["path"])
    if not tokens:
        return None if name == "remove" else op["value"]
    root = place = _copied(document, op, index)
    for token in tokens[:-1]:
        key = _key(place, token)
        if key is MISSING:
            raise _absent(op, index, token, top=place is root)
        place[key] = place = _copied(place[key], op, index)
    last = tokens[-1]
    if name == "add" and isinstance(place, list):
        at = len(place) if last == "-" else index_of(last)
        if at is None or at > len(place):
            raise _misfit(op, index, f"{last[:100]!r} is no place in a list of {len(place)}")
        place.insert(at, op["value"])
    elif name == "add":
        place[last] = op["value"]
    else:
        key = _key(place, last)
        if key is MISSING:
            raise _absent(op, index, last, top=place is root)
        if name == "remove":
            del place[key]
        else:
            place[key] = op["value"]
    return root


def _copied(container: Json, op: Op, index: int) -> Json:
    if not isinstance(container, dict | list):
        raise _misfit(op, index, "a value on the way has no members")
    return container.copy()


def _key(container: dict[str, Json] | list[Json], token: str) -> object:
    """Returns the key of an existing member, or :data:`MISSING`."""
    if isinstance(container, dict):
        return token if token in container else MISSING
    at = index_of(token)
    return at if at is not None and at < len(container) else MISSING


def _absent(op: Op, index: int, token: str, *, top: bool) -> PatchConflictError:
    remedy = f"; {OWN_CATEGORY}" if top else ""
    return _misfit(op, index, f"there is no {token[:100]!r}{remedy}")


def _misfit(op: Op, index: int, reason: str) -> PatchConflictError:
    return PatchConflictError("path", index, op["path"], f"{op['op']} does not fit: {reason}")


def same(one: Json, other: Json) -> bool:
    """True when two JSON values are equal. True is not 1, and 1 equals 1.0."""
    if one is other:
        return True
    if isinstance(one, bool) or isinstance(other, bool):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return (type(one) in (int, float) and type(other) in (int, float) and one == other) or (
        type(one) is type(other) and bool(one == other)
    )


def shown(value: Json) -> Json:
    """Returns a value as an error shows it. A long one is cut. A missing one is None."""
    if value is MISSING:
        return None
    text = orjson.dumps(value)
    return value if len(text) <= _SHOWN else text[:_SHOWN].decode(errors="ignore") + " …"


def _guards_of(document: Json, op: Op) -> Iterable[Op]:
    """The tests of the items that an operation means by their index."""
    if op["op"] == "test":
        return
    pointers = [split(op["path"])]
    if op["op"] in ("move", "copy"):
        pointers.insert(0, split(op["from"]))
    seen: set[Tokens] = set()
    for number, tokens in enumerate(pointers):
        last = number == len(pointers) - 1
        # `add`, and the target of move and copy, name a place between items and no item.
        inserts = last and op["op"] in ("add", "move", "copy")
        place = document
        for depth, token in enumerate(tokens):
            if isinstance(place, list):
                index = index_of(token)
                if index is None or index >= len(place) or (inserts and depth == len(tokens) - 1):
                    break
                place = place[index]
                if (item := tokens[: depth + 1]) not in seen:
                    seen.add(item)
                    yield _test_of(item, place)
            elif isinstance(place, dict) and token in place:
                place = place[token]
            else:
                break


def _test_of(item: Tokens, value: Json) -> Op:
    if isinstance(value, dict):
        for name in _NAMES:
            if isinstance(value.get(name), str | int) and value[name] != "":
                return {"op": "test", "path": join((*item, name)), "value": value[name]}
    return {"op": "test", "path": join(item), "value": value}


def _follow_item(document: Json, ops: list[Op], index: int, guards: Collection[int]) -> None:
    """Rewrites a guard, and the operation that it guards, when its item is at another index now."""
    guard = ops[index]
    tokens = split(guard["path"])
    actual = value_at(document, tokens)
    if actual is not MISSING and same(actual, guard["value"]):
        return
    for length in (len(tokens), len(tokens) - 1):
        if length < 1 or (len(tokens) > length and tokens[-1] not in _NAMES):
            continue
        items = value_at(document, tokens[: length - 1])
        if not isinstance(items, list):
            continue
        fitting = [
            number
            for number, item in enumerate(items)
            if (found := value_at(item, tokens[length:])) is not MISSING and same(found, guard["value"])
        ]
        if len(fitting) != 1:
            return
        old, new = tokens[:length], (*tokens[: length - 1], str(fitting[0]))
        end = next((number for number in range(index, len(ops)) if number not in guards), len(ops) - 1)
        for number in range(index, end + 1):
            ops[number] = _moved(ops[number], old, new)
        return


def _moved(op: Op, old: Tokens, new: Tokens) -> Op:
    moved = dict(op)
    for member in ("path", "from"):
        if isinstance(moved.get(member), str):
            tokens = split(moved[member])
            if tokens[: len(old)] == old:
                moved[member] = join((*new, *tokens[len(old) :]))
    return moved
