"""The port of a kind: a JSON Schema, a pure reducer and a renderer. The bounds that every kind keeps."""

from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Protocol

import orjson

from events.types.json_values import Json, JsonObject, is_deeper

Op = JsonObject

MAX_DATA_BYTES = 64 * 1024
MAX_RENDERING_BYTES = 16 * 1024
_SHORTER = "shorten, archive or remove a part of it"
MAX_ITEMS = 1000
MAX_ITEM_TEXT_BYTES = 2048
MAX_DEPTH = 64
SEPARATOR = " · "


class ReferenceInvalidError(ValueError):
    """The data or the op does not fit. ``field`` names the part at fault, ``reason`` gives the cause and the remedy.

    ``allowed`` holds the allowed values when there is a closed set of them.
    """

    def __init__(self, field: str, reason: str, allowed: Sequence[str] | None = None) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason
        self.allowed = allowed


class Kind(Protocol):
    """One kind of reference: its data, and the ops that change them.

    ``apply`` is a pure function: the same data and the same op give the same data again, and no argument is changed.
    The op therefore holds everything, also the id of a new item and the time of the change; ``complete`` adds them.
    """

    @property
    def name(self) -> str: ...

    @property
    def ops(self) -> Sequence[str]:
        """The names of the ops."""

    @property
    def schema(self) -> Json:
        """The JSON Schema (2020-12) of the data."""

    def initial(self) -> Json:
        """Returns the data of a new reference without given data."""

    def prepare(self, data: Json, *, at: str, new_id: Callable[[], str]) -> Json:
        """Returns given data of a new reference with the optional parts: ids, times, defaults."""

    def complete(self, op: Op, *, at: str, new_id: str) -> Op:
        """Returns ``op`` with ``at`` (ISO 8601) and ``new_id``, as the log keeps it.

        Raises :class:`ReferenceInvalidError` for an unknown op or argument.
        """

    def apply(self, data: Json, op: Op) -> Json:
        """Returns the data after a completed op. Raises :class:`ReferenceInvalidError` when the op does not fit."""

    def targets(self, op: Op) -> frozenset[str]:
        """Returns the targets of the op: ids of items, or pointers. Two ops with a common target exclude each other."""

    def render(self, data: Json) -> str:
        """Returns the data as one text. Equal data have equal texts."""


def schema_of(kind: str) -> Json:
    """Returns the JSON Schema of a built-in kind."""
    return orjson.loads(files(__package__).joinpath("schemas", f"{kind}.json").read_bytes())


def check_size(data: Json, field: str = "data") -> bytes:
    """Returns the canonical bytes of ``data``.

    Raises :class:`ReferenceInvalidError` when they are too many, or nested too deep: ``field`` is at fault then.
    """
    if is_deeper(data, MAX_DEPTH):
        raise ReferenceInvalidError(field, f"is nested deeper than {MAX_DEPTH} levels")
    try:
        written = orjson.dumps(data, option=orjson.OPT_SORT_KEYS)
    except TypeError as error:
        raise ReferenceInvalidError(field, f"is not JSON that can be kept ({error})") from None
    if b"\\u0000" in written:
        raise ReferenceInvalidError(field, "holds a NUL character; leave it out")
    if len(written) > MAX_DATA_BYTES:
        raise ReferenceInvalidError(
            field,
            f"would be {len(written)} bytes long; at most {MAX_DATA_BYTES} are allowed: {_SHORTER}",
        )
    return written


def rendering_of(kind: Kind, key: str, data: Json) -> str:
    """Returns the rendering of a reference: its key, and its data as text.

    Raises :class:`ReferenceInvalidError` when the text is too long.
    """
    text = f"{key.replace('_', ' ')}: {kind.render(data)}"
    if (size := len(text.encode())) > MAX_RENDERING_BYTES:
        raise ReferenceInvalidError(
            "data",
            f"would be {size} bytes long as text; at most {MAX_RENDERING_BYTES} are allowed: {_SHORTER}",
        )
    return text


def one_line(text: str) -> str:
    """Returns ``text`` on one line, because a rendering is one line."""
    return " ".join(text.split())
