"""Where the values of old pointers are after promotions and reversions. All functions are pure."""

from collections.abc import Mapping, Sequence

from events.core.patches import Op
from events.core.pointers import MISSING, Tokens, join, split, value_at
from events.core.schema import DYNAMIC, EVOLUTION, META, evolution_log
from events.types.json_values import Json, JsonObject

_SINGLE = ("value", "values")
"""The members of a dynamic category that holds the values of one concept."""


def resolved(document: Json, tokens: Tokens) -> Tokens:
    """Returns the place where a pointer's value is now. A pointer that no change of the schema moved stays as it is."""
    log = evolution_log(document)
    if not log or value_at(document, tokens) is not MISSING:
        return tokens
    for number, entry in enumerate(log):
        tokens = _through(entry, number, tokens)
    return tokens


def redirected(document: Json, ops: Sequence[Op]) -> list[Op]:
    """Returns operations with the pointers of today, one for each. The same document gives the same operations."""
    if not evolution_log(document):
        return [dict(op) for op in ops]
    return [_redirected(document, op) for op in ops]


def _redirected(document: Json, op: Op) -> dict[str, object]:
    found = dict(op)
    for member in ("path", "from"):
        if not isinstance(op.get(member), str):
            continue
        tokens = split(op[member])
        now = resolved(document, tokens)
        found[member] = join(now)
        if now != tokens and member == "path" and len(tokens) == 2 and tokens[0] == DYNAMIC and "value" in op:
            found["value"] = _data_of(document, tokens, op["value"])
    return found


def _data_of(document: Json, tokens: Tokens, wrapper: Json) -> Json:
    """Returns the data of a whole dynamic category. Where the category was, there is only its data now."""
    if not isinstance(wrapper, dict) or "data" not in wrapper:
        return wrapper
    data = wrapper["data"]
    alone = resolved(document, (*tokens, "data", _SINGLE[0])) == resolved(document, tokens)
    if alone and isinstance(data, dict) and len(data) == 1:
        return next((data[each] for each in _SINGLE if each in data), data)
    return data


def _through(entry: JsonObject, number: int, tokens: Tokens) -> Tokens:
    moved: Mapping[str, str] = entry.get("moved", {})
    for length in range(len(tokens), 0, -1):
        target = moved.get(join(tokens[:length]))
        if target is not None:
            return (*split(target), *tokens[length:])
    if tokens[:1] == (DYNAMIC,) and len(tokens) > 1 and tokens[1] in entry.get("was", {}):
        return _of_wrapper(moved, number, tokens)
    return tokens


def _of_wrapper(moved: Mapping[str, str], number: int, tokens: Tokens) -> Tokens:
    """Returns the place of a dynamic category that is gone, or of one of the members that the service kept."""
    name, rest = tokens[1], tokens[2:]
    if rest and rest[0] != "data":
        return (META, EVOLUTION, str(number), "was", *tokens[1:])
    data = (DYNAMIC, name, "data")
    for old in (data, *((*data, each) for each in _SINGLE)):
        if (target := moved.get(join(old))) is not None:
            inner = rest[1:]
            return (*split(target), *(inner[1:] if inner[:1] and inner[0] in _SINGLE else inner))
    return tokens
