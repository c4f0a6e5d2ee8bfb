"""JSON Pointers (RFC 6901) as tuples of reference tokens."""

import re
from collections.abc import Iterable

from events.types.json_values import Json

Tokens = tuple[str, ...]

_ESCAPE = re.compile(r"~(?![01])")
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")


class PointerError(ValueError):
    """The text is no JSON Pointer. The message gives the reason."""


def split(pointer: str) -> Tokens:
    """Returns the tokens of a pointer. Raises :class:`PointerError` for a text that is no pointer."""
    if not pointer:
        return ()
    if pointer[0] != "/":
        raise PointerError("a pointer is empty or begins with /")
    if "~" not in pointer:
        return tuple(pointer[1:].split("/"))
    if _ESCAPE.search(pointer) is not None:
        raise PointerError("~ is followed by 0 or 1")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/"))


def join(tokens: Iterable[str]) -> str:
    return "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in tokens)


def index_of(token: str) -> int | None:
    """Returns the index that a token names in an array, or None."""
    return int(token) if _INDEX.fullmatch(token) else None


class Missing:
    """The type of :data:`MISSING`, which represents an absent value."""


MISSING = Missing()


def value_at(document: Json, tokens: Iterable[str]) -> Json:
    """Returns the value at a pointer, or :data:`MISSING`."""
    for token in tokens:
        if isinstance(document, dict):
            if token not in document:
                return MISSING
            document = document[token]
        elif isinstance(document, list):
            index = index_of(token)
            if index is None or index >= len(document):
                return MISSING
            document = document[index]
        else:
            return MISSING
    return document
