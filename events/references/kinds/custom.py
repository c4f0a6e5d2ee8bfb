"""Kinds that an app declares: a JSON Schema, and JSON Patch as the op."""

from dataclasses import dataclass, field
from functools import lru_cache

import jsonschema_rs
import orjson

from events.references.kinds.json_value import OPS, JsonChanges
from events.references.kinds.kind import Kind, ReferenceInvalidError, check_size
from events.types.json_values import Json

_REFERENCES = ("$ref", "$dynamicRef", "$id", "$schema")
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_REGEX_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class CustomKind(JsonChanges):
    """A declared kind. Every op must leave data that fit the schema."""

    name: str
    schema: Json
    start: Json = field(default_factory=dict)
    ops: tuple[str, ...] = OPS

    def initial(self) -> Json:
        return self.start


def declared(name: str, schema: object, initial: object = None) -> CustomKind:
    """Returns the kind. Raises :class:`ReferenceInvalidError` for a schema that is none or that refers to a URL."""
    if not isinstance(schema, dict):
        raise ReferenceInvalidError("schema", "must be a JSON Schema (2020-12) as an object")
    check_size(schema, "schema")
    _check_references(schema, "schema")
    kind = CustomKind(name, schema, {} if initial is None else initial)
    validate(kind, kind.start, "initial")
    return kind


def validate(kind: Kind, data: Json, field_name: str = "data") -> None:
    """Raises :class:`ReferenceInvalidError` with the path at fault when ``data`` do not fit the schema of ``kind``."""
    try:
        validator = _validator(orjson.dumps(kind.schema))
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        raise ReferenceInvalidError("schema", f"is no JSON Schema (2020-12): {str(error)[:200]}") from None
    fault = next(validator.iter_errors(data), None)
    if fault is not None:
        path = "".join(f"/{part}" for part in fault.instance_path)
        raise ReferenceInvalidError(field_name + path, str(fault.message)[:300])


@lru_cache(maxsize=64)
def _validator(schema: bytes) -> jsonschema_rs.Draft202012Validator:
    # This engine matches in linear time, so no pattern of a schema can stop the service.
    return jsonschema_rs.Draft202012Validator(
        orjson.loads(schema),
        pattern_options=jsonschema_rs.RegexOptions(size_limit=_REGEX_BYTES),
        offline=True,
    )


def _check_references(schema: Json, where: str) -> None:
    """Refuses references that leave the schema. A reference to a part of the schema begins with #."""
    if isinstance(schema, list):
        for index, each in enumerate(schema):
            _check_references(each, f"{where}/{index}")
    elif isinstance(schema, dict):
        for name, each in schema.items():
            own = isinstance(each, str) and (each.startswith("#") or (name == "$schema" and each == _DIALECT))
            if name in _REFERENCES and not own and isinstance(each, str):
                raise ReferenceInvalidError(
                    f"{where}/{name}",
                    "must not name a URL; a schema refers only to its own parts, such as #/$defs/x",
                )
            _check_references(each, f"{where}/{name}")
