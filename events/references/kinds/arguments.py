"""The arguments of ops: which ones an op has, and what each may hold. The built-in kinds declare them as tables."""

from collections.abc import Callable, Mapping
from datetime import date, datetime

from events.references.kinds.kind import MAX_ITEM_TEXT_BYTES, MAX_ITEMS, Op, ReferenceInvalidError

Check = Callable[[str, object], object]
"""Returns the value as it is kept. Raises :class:`ReferenceInvalidError` with the name of the argument."""

MAX_ID_BYTES = 64
_ENVELOPE = ("op", "at")


class Arguments:
    """The arguments of one op: required ones and optional ones, each with its check."""

    def __init__(
        self, required: Mapping[str, Check] | None = None, optional: Mapping[str, Check] | None = None
    ) -> None:
        self._required = dict(required or {})
        self._optional = dict(optional or {})

    def checked(self, op: Op) -> dict[str, object]:
        """Returns the arguments of ``op`` as they are kept, with ``op`` and ``at`` unchanged."""
        kept = {name: op[name] for name in _ENVELOPE if name in op}
        known = {**self._required, **self._optional}
        for name in op:
            if name not in known and name not in _ENVELOPE:
                allowed = sorted(known)
                raise ReferenceInvalidError(
                    name[:100],
                    f"is no argument of {op['op']}; it has {', '.join(allowed) or 'none'}",
                    allowed,
                )
        for name, check in known.items():
            if op.get(name) is not None:
                kept[name] = check(name, op[name])
            elif name in self._required:
                raise ReferenceInvalidError(name, f"is required by the op {op['op']}")
            elif name in op:
                kept[name] = None
        return kept


def checked(ops: Mapping[str, Arguments], op: Op) -> dict[str, object]:
    """Returns ``op`` with checked arguments. Raises :class:`ReferenceInvalidError` for an op that is not in ``ops``."""
    name = op.get("op")
    if not isinstance(name, str) or name not in ops:
        shown = "is required" if name is None else f"is {str(name)[:40]!r}"
        raise ReferenceInvalidError("op", f"{shown}; use one of {', '.join(ops)}", list(ops))
    return ops[name].checked(op)


def text(name: str, value: object) -> str:
    """Checks text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise ReferenceInvalidError(name, "must be text that is not empty")
    return _storable(name, value, MAX_ITEM_TEXT_BYTES)


def item_id(name: str, value: object) -> str:
    """Checks the id of an item."""
    if not isinstance(value, str) or not value.strip():
        raise ReferenceInvalidError(name, "must be the id of an item")
    return _storable(name, value, MAX_ID_BYTES)


def item_ids(name: str, value: object) -> list[str]:
    """Checks a list of different ids."""
    ids = [item_id(name, each) for each in _listed(name, value, "ids")]
    if len(set(ids)) != len(ids):
        raise ReferenceInvalidError(name, "holds an id twice")
    return ids


def texts(name: str, value: object) -> list[str]:
    """Checks a list of texts."""
    return [text(name, each) for each in _listed(name, value, "texts")]


def day(name: str, value: object) -> str:
    """Checks a day or an instant in ISO 8601."""
    if not isinstance(value, str):
        raise ReferenceInvalidError(name, "must be a date such as 2026-05-08, or an instant with an offset")
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError:
        pass
    try:
        instant = datetime.fromisoformat(value)
    except ValueError:
        instant = None
    if instant is None or instant.tzinfo is None:
        raise ReferenceInvalidError(
            name, f"is {value[:40]!r}; use a date such as 2026-05-08, or an instant with an offset"
        )
    return instant.isoformat()


def place(name: str, value: object) -> int:
    """Checks a place in a list, counted from 0."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_ITEMS:
        raise ReferenceInvalidError(name, f"must be a number from 0 to {MAX_ITEMS}")
    return value


def pointer(name: str, value: object) -> str:
    """Checks a JSON pointer (RFC 6901)."""
    if not isinstance(value, str) or (value and not value.startswith("/")):
        raise ReferenceInvalidError(
            name, 'must be a JSON pointer such as "/database", or "" for the whole value'
        )
    if "~" in value.replace("~0", "").replace("~1", ""):
        raise ReferenceInvalidError(name, "has a ~ that is neither ~0 nor ~1")
    return _storable(name, value, MAX_ITEM_TEXT_BYTES)


def anything(_: str, value: object) -> object:
    """Accepts every value."""
    return value


def _listed(name: str, value: object, what: str) -> list[object]:
    if not isinstance(value, list) or len(value) > MAX_ITEMS:
        raise ReferenceInvalidError(name, f"must be a list of at most {MAX_ITEMS} {what}")
    return value


def _storable(name: str, value: str, most: int) -> str:
    if "\0" in value:
        raise ReferenceInvalidError(name, "holds a NUL character; leave it out")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise ReferenceInvalidError(name, "holds a lone surrogate; leave it out") from None
    if size > most:
        raise ReferenceInvalidError(name, f"is {size} bytes long; at most {most} are allowed")
    return value
