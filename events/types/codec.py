"""Payloads to bytes and back: the registry of event types, their versions and their upcasters.

The canonical bytes of a payload are its JSON with sorted keys, as orjson writes it. The log stores these bytes and
its digest covers them. A reader of the log must therefore never render them again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar, dataclass_transform, get_args, get_type_hints

import msgspec
import orjson

from events.types import register_all
from events.types.envelope import Payload
from events.types.records import learned

_T = TypeVar("_T")
_Step = Callable[[dict[str, object]], dict[str, object]]


class UnknownEventTypeError(ValueError):
    """The log holds an event type or a schema version that this build does not know."""


class PayloadError(ValueError):
    """A payload does not fit its event type. The message names the field."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Shape:
    """The names of the fields of a class, and the shapes of the classes that its fields hold."""

    fields: frozenset[str]
    inner: tuple[tuple[str, _Shape], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class _Registered:
    cls: type
    name: str
    version: int
    shape: _Shape
    visible: tuple[str, ...]


_BY_NAME: dict[str, _Registered] = {}
_BY_CLASS: dict[type, _Registered] = {}
_UPCASTERS: dict[tuple[str, int], _Step] = {}


_MISSING = "Object missing required field `"

SEALED = "sealed"
"""The field of the stored JSON that holds a sealed payload. No event type has a field of this name."""


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(dataclasses.field,))
def event_type(*, version: int = 1, visible: tuple[str, ...] = ()) -> Callable[[type[_T]], type[_T]]:
    """Makes a class a frozen dataclass, and an event type at schema version ``version``. Its name is the type name.

    ``visible`` are fields that queries of the database look at. A sealed payload has a readable copy of them, so they
    hold no words of a user. Raises ``TypeError`` when the name is registered already or a field has the name "sealed".
    """

    def register(cls: type[_T]) -> type[_T]:
        if "__dataclass_fields__" not in cls.__dict__:
            cls = dataclasses.dataclass(frozen=True, slots=True, kw_only=True)(cls)
        if cls.__name__ in _BY_NAME:
            raise TypeError(f"event type {cls.__name__} is registered twice")
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]
        if any(f.name == SEALED for f in fields):
            raise TypeError(f"event type {cls.__name__} has a field {SEALED!r}: choose another name")
        entry = _Registered(
            learned(cls),
            cls.__name__,
            version,
            _shape_of(cls),
            visible,
        )
        _BY_NAME[entry.name] = entry
        _BY_CLASS[cls] = entry
        return cls

    return register


def upcaster(name: str, from_version: int) -> Callable[[_Step], _Step]:
    """Registers the upcaster that turns a stored payload of ``from_version`` into the next version."""

    def register(step: _Step) -> _Step:
        _UPCASTERS[name, from_version] = step
        return step

    return register


def describe(payload: Payload) -> tuple[str, int]:
    """Returns (type name, schema version) of ``payload``. Raises ``KeyError`` for an unregistered class."""
    entry = _BY_CLASS[type(payload)]
    return entry.name, entry.version


def visible(payload: Payload) -> bytes:
    """Returns the visible fields of ``payload`` as a JSON object."""
    names = _BY_CLASS[type(payload)].visible
    return encode({name: getattr(payload, name) for name in names}) if names else b"{}"


def visible_names(name: str) -> tuple[str, ...]:
    """Returns the visible fields of the event type ``name``. An unknown type has none."""
    entry = _registered(name)
    return () if entry is None else entry.visible


def known_types() -> Mapping[str, int]:
    """Returns every registered type name with its current schema version."""
    register_all()
    return {name: entry.version for name, entry in sorted(_BY_NAME.items())}


def _registered(name: str) -> _Registered | None:
    if name not in _BY_NAME:
        register_all()
    return _BY_NAME.get(name)


def encode(payload: Payload) -> bytes:
    """Returns the canonical bytes of a payload. The bytes include default values, so a default may change later.

    Instants keep their microseconds. Raises ``TypeError`` for a value that JSON cannot hold, such as a lone surrogate.
    """
    return orjson.dumps(payload, _rendered, orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATETIME)


def _rendered(value: object) -> str:
    # orjson rounds an offset to minutes and keeps the hour. The offset 8:05:43 (Shanghai before 1901) would move the
    # instant, and 15:59:59 would become 15:60, which no parser reads.
    if not isinstance(value, datetime):
        raise TypeError(f"{type(value).__name__} has no form in JSON: use a type that JSON can hold")
    offset = value.utcoffset()
    if offset is not None and offset.total_seconds() % 60:
        value = value.astimezone(UTC)
    rendered: str = value.isoformat()
    return rendered


def decode(name: str, version: int, data: bytes | str | Mapping[str, object]) -> Payload:
    """Returns the payload of stored ``data``, upcast to the current schema version.

    Raises :class:`UnknownEventTypeError` for a type or a version that this build cannot read. Raises
    :class:`PayloadError` for data that do not fit the type. Unknown fields are an error too: a dropped field would
    silently lose data of a newer writer.
    """
    entry = _registered(name)
    if entry is None:
        raise UnknownEventTypeError(f"unknown event type {name!r}; a newer Cardlog may have written it")
    values = orjson.loads(data) if isinstance(data, bytes | str) else dict(data)
    if not isinstance(values, dict):
        raise PayloadError(f"{name} is no JSON object")
    while version < entry.version:
        step = _UPCASTERS.get((name, version))
        if step is None:
            raise UnknownEventTypeError(f"{name} has no upcaster from schema version {version}")
        values = step(values)
        version += 1
    if version > entry.version:
        raise UnknownEventTypeError(
            f"{name} schema version {version} is newer than this build's {entry.version}"
        )
    _refuse_unknown(name, values, entry.shape)
    try:
        return msgspec.convert(values, entry.cls)
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at `$")
        place = name + path.removesuffix("`")
        if what.startswith(_MISSING):
            raise PayloadError(f"{place}.{what[len(_MISSING) : -1]} is missing") from None
        raise PayloadError(f"{place}: {what}") from None


def _shape_of(cls: Any) -> _Shape:
    hints = get_type_hints(cls)
    inner = [(f.name, nested) for f in dataclasses.fields(cls) for nested in _dataclasses_in(hints[f.name])]
    return _Shape(
        frozenset(f.name for f in dataclasses.fields(cls)),
        tuple((name, _shape_of(nested)) for name, nested in inner),
    )


def _dataclasses_in(hint: object) -> Iterator[object]:
    """Yields the classes that a field holds: one, or a tuple of them. JSON objects of any form are no classes."""
    if dataclasses.is_dataclass(hint):
        yield hint
    for each in get_args(hint):
        yield from _dataclasses_in(each)


def _refuse_unknown(place: str, values: Mapping[str, Any], shape: _Shape) -> None:
    if not values.keys() <= shape.fields:
        if SEALED in values:
            raise PayloadError(f"{place} is a sealed payload whose text was changed")
        unknown = ", ".join(sorted(values.keys() - shape.fields))
        raise PayloadError(f"{place} has fields this build does not know: {unknown}")
    for name, inner in shape.inner:
        if found := values.get(name):
            for each in found if isinstance(found, list) else (found,):
                if isinstance(each, dict):
                    _refuse_unknown(f"{place}.{name}", each, inner)
