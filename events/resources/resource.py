"""The base of every resource, and its JSON."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from events.types.json_values import Json

_R = TypeVar("_R", bound="Resource")


class Resource(BaseModel):
    """A part of an answer. A field that was not given is absent from the answer, and not null."""

    # Many commands import a resource and make none, so its schema is built at its first use.
    model_config = ConfigDict(from_attributes=True, validate_by_name=True, defer_build=True)

    @classmethod
    def made_from(cls: type[_R], thing: object, **more: object) -> _R:
        """Returns the resource with the attributes of ``thing``, and with the fields ``more``."""
        return cls.model_validate(_Joined(thing, more) if more else thing)

    @classmethod
    def unchecked(cls: type[_R], fields: dict[str, object]) -> _R:
        """Returns a resource of fields that the caller made of checked values, in the order of their names.

        It costs a twentieth of a checked one, for answers with hundreds of cards. Tests check such answers.
        """
        made = object.__new__(cls)
        for name, value in (
            ("__dict__", fields), ("__pydantic_fields_set__", fields.keys()), ("__pydantic_extra__", None),
            ("__pydantic_private__", None),
        ):  # fmt: skip
            object.__setattr__(made, name, value)
        return made


class _Joined:
    """The attributes of ``thing``, after those of ``more``."""

    def __init__(self, thing: object, more: Mapping[str, object]) -> None:
        self._thing, self._more = thing, more

    def __getattr__(self, name: str) -> object:
        return self._more[name] if name in self._more else getattr(self._thing, name)


class _NeverNull:
    """The schema of a field without null, for a field that is then absent."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, object]:
        found = handler(schema)
        [given] = [each for each in found.pop("anyOf") if each != {"type": "null"}]
        return {**found, **given}


T = TypeVar("T")
Absent = Annotated[T | None, Field(exclude_if=lambda value: value is None), _NeverNull()]
"""A field that is absent where there is no value, and never null. Give it the default None."""


def json_of(resource: object) -> bytes:
    """Returns the JSON of a resource, or of anything that holds resources, as orjson writes it.

    Instants are in ISO 8601 with their offsets.
    """
    return orjson.dumps(resource, default=fields_of, option=orjson.OPT_NON_STR_KEYS)


def plain(resource: object) -> Json:
    """Returns the JSON of a resource, or of a list of them, as dicts and lists."""
    return orjson.loads(json_of(resource))


def fields_of(resource: object) -> dict[str, object]:
    """Returns the fields of a resource as its JSON names them. Raises TypeError for anything else."""
    if not isinstance(resource, Resource):
        raise TypeError(f"{type(resource).__name__} is not a resource")
    given, fields, special = resource.__pydantic_fields_set__, resource.__dict__, _special(type(resource))
    changed = {
        name: other
        for name, (other, left_out) in special.items()
        if name in given and (other != name or left_out(fields[name]))
    }
    if not changed and len(given) == len(fields):
        return fields
    return {
        changed.get(name, name): value
        for name, value in fields.items()
        if name in given and not (name in special and special[name][1](value))
    }


@cache
def _special(cls: type[Resource]) -> dict[str, tuple[str, Callable[[object], bool]]]:
    """Returns the fields with another name in JSON, and those that some values leave out."""
    return {
        name: (field.serialization_alias or name, field.exclude_if or _never)
        for name, field in cls.model_fields.items()
        if field.serialization_alias or field.exclude_if
    }


def _never(_: object) -> bool:
    return False
