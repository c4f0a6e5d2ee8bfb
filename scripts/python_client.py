"""Writes the types and the methods of the Python client from the OpenAPI documents of the services.

    python -m scripts.python_client

The types are those of answers, and the turn of a push. Types that both documents have must be equal. Each operation
becomes a method of the synchronous and of the asynchronous client: the user and the required fields are its arguments,
and the others are keyword arguments. Only a push is written by hand, because it names its turns.
"""

import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from keyword import iskeyword
from pathlib import Path
from typing import Any

from scripts import api_reference

CLIENT = Path(__file__).parents[1] / "clients" / "python" / "cardlog_client"

_TYPES = '''"""The answers of the services, made by ``scripts/python_client.py``. Do not edit.

Instants are ISO 8601 text. Any version may add fields.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict
'''
_OPERATIONS = '''"""The operations of the services, made by ``scripts/python_client.py``. Do not edit.

A method takes the user and the required fields, and the other fields as keyword arguments. None counts as not given.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar

from cardlog_client.requests import Operation

if TYPE_CHECKING:
    from cardlog_client import types

P = ParamSpec("P")
T = TypeVar("T")
'''
_SYNC = '''
class Operations:
    """The methods of :class:`~cardlog_client.client.Client`."""

    def _send(self, operation: Operation[T], named: Mapping[str, object], more: Mapping[str, object]) -> T:
        raise NotImplementedError
'''
_ASYNC = '''
def _awaited(
    method: Callable[Concatenate[Operations, P], T],
) -> Callable[Concatenate[AsyncOperations, P], Coroutine[Any, Any, T]]:
    """Returns the method itself. It returns what ``_send`` returns, and that of an asynchronous client is awaited."""
    return method  # type: ignore[return-value] # the type of ``_send`` is not a part of the type of a method


class AsyncOperations:
    """The methods of :class:`~cardlog_client.client.AsyncClient`: those of :class:`Operations` as coroutines."""

    async def _send(self, operation: Operation[T], named: Mapping[str, object], more: Mapping[str, object]) -> T:
        raise NotImplementedError
'''
_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_NULLS = {"declare_project"}
"""Operations whose null takes a setting away, besides those that take any field."""
_GIVEN = {"Turn": {"said_at": "NotRequired[str | datetime | None]"}}
"""Fields that an app gives, of another type than in JSON."""
_ALIKE = 5
"""The least number of fields of a base with another name."""

Schema = Mapping[str, Any]


def sources() -> dict[Path, str]:
    """Returns the text of each module by its place."""
    documents = api_reference.documents()
    schemas: dict[str, Schema] = {}
    for document in documents.values():
        for name, schema in _answers(document):
            assert schemas.setdefault(name, schema) == schema, f"the two services have different types {name}"
    names = sorted(schemas, key=lambda name: (len(list(_bases(name, schemas))), name))
    types = {name: _typed_dict(name, schemas) for name in names}
    methods = sorted(_methods(documents), key=lambda each: each.name)
    return {
        CLIENT / "types.py": _formatted("\n".join([_TYPES, *types.values()])),
        CLIENT / "operations.py": _formatted(
            "\n".join(
                [
                    _OPERATIONS,
                    _SYNC,
                    *(each.method() for each in methods),
                    _ASYNC,
                    *(f"    {each.name} = _awaited(Operations.{each.name})" for each in methods),
                ]
            )
        ),
    }


def _formatted(text: str) -> str:
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(CLIENT / "x.py"), "-"]
    done = subprocess.run(ruff, input=text, text=True, capture_output=True, check=True)  # noqa: S603 - our own
    return done.stdout


@dataclass(frozen=True)
class _Method:
    """A method of the clients: its arguments with their types, the optional fields, and the type of its answer."""

    name: str
    operation: str
    summary: str
    arguments: Mapping[str, str]
    optional: tuple[str, ...]
    any_field: bool
    answer: str

    def method(self) -> str:
        """Returns the text of the method. An argument has a place only when a field may have its name."""
        names = {each: f"{each}_" if iskeyword(each) else each for each in self.arguments}
        given = [f"{names[each]}: {kind}" for each, kind in self.arguments.items()]
        more = ["**more: object"] if self.optional or self.any_field else []
        arguments = ["self", *given, "/", *more] if self.any_field else ["self", "/", *given, *more]
        named = "{" + ", ".join(f'"{each}": {name}' for each, name in names.items()) + "}"
        sent = f"self._send({self.operation}, {'named' if names else '{}'}, {'more' if more else '{}'})"
        head = f"def {self.name}({', '.join(arguments)}) -> {self.answer}:"
        more_fields = f" Other fields: {', '.join(self.optional)}." if self.optional else ""
        told = textwrap.fill(f'"""{self.summary}.{more_fields}"""', 110, subsequent_indent="        ")
        lines = [head, f"    {told}", *([f"    named = {named}"] if names else []), f"    return {sent}", ""]
        return "\n".join(f"    {line}" if line else line for line in lines)


def _methods(documents: Mapping[str, Schema]) -> Iterator[_Method]:
    """Yields the operations with JSON answers about memories: no probes, and not the push."""
    for service, document in documents.items():
        for path, operations in document["paths"].items():
            for method, each in operations.items():
                answers = [found for status, found in each["responses"].items() if status < "3"]
                media = answers[0]["content"].get("application/json")
                if path.startswith("/v1/") and path != "/v1/turns" and media is not None:
                    yield _method(
                        service, method.upper(), path, each, _parameter(media["schema"], "types."), document
                    )


def _method(
    service: str, method: str, path: str, operation: Schema, answer: str, document: Schema
) -> _Method:
    parameters = operation.get("parameters", [])
    fields = {
        each["name"]: (each["schema"], each["required"]) for each in parameters if each["in"] != "header"
    }
    headers = {each["name"] for each in parameters if each["in"] == "header"}
    body: Schema = {}
    for content in operation.get("requestBody", {}).get("content", {}).values():
        body = document["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]
        required = body.get("required", ())
        fields |= {name: (each, name in required) for name, each in body["properties"].items()}
    needed = {
        name: schema
        for name, (schema, required) in fields.items()
        if required or name == "user_id" or iskeyword(name)
    }
    first = sorted(needed, key=lambda name: (name != "user_id", f"{{{name}}}" not in path))
    once = (
        "idempotency_key"
        if "idempotency-key" in headers
        else "request_id"
        if "request_id" in fields
        else None
    )
    name = operation["operationId"].removeprefix("list_")
    any_field = body.get("additionalProperties") is True
    more = [f'once="{once}"'] if once else []
    more += ["nulls=True"] if any_field or name in _NULLS else []
    optional = [each for each in fields if each not in needed and each != "request_id"]
    return _Method(
        name=name,
        operation=f"Operation({', '.join([repr(service), repr(method), repr(path), *more])})",
        summary=operation["summary"].rstrip("."),
        arguments={each: _parameter(needed[each]) for each in first},
        optional=(*optional, *([once] if once else [])),
        any_field=any_field,
        answer=answer,
    )


def _parameter(schema: Schema, types: str = "") -> str:
    """Returns the type of an argument, or of an answer with ``types`` before its name."""
    if "$ref" in schema:
        return f"{types}{_type(schema)}" if types else "Mapping[str, object]"
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_parameter(each, types) for each in schema["anyOf"]))
    if schema.get("type") == "array":
        return f"Sequence[{_parameter(schema['items'])}]"
    if schema.get("type") == "object":
        values = schema.get("additionalProperties")
        if types and isinstance(values, Mapping):
            return f"dict[str, {_parameter(values, types)}]"
        return "Mapping[str, object]"
    return _type(schema) if "type" in schema or "enum" in schema or "const" in schema else "object"


def _answers(document: Schema) -> Iterator[tuple[str, Schema]]:
    """Yields the named schemas that answers have, and the turn of a push."""
    schemas = document["components"]["schemas"]
    waiting, found = [], set()
    for path in document["paths"].values():
        for operation in path.values():
            waiting += [each for status, each in operation["responses"].items() if status < "3"]
            for content in operation.get("requestBody", {}).get("content", {}).values():
                for schema in content["schema"].get("oneOf", []):
                    if schema.get("title") == "TurnIn":
                        yield "Turn", schema
    while waiting:
        for name in _names_in(waiting.pop()):
            if name not in found:
                found.add(name)
                waiting.append(schemas[name])
                yield name, schemas[name]


def _names_in(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        if "$ref" in schema:
            yield schema["$ref"].rpartition("/")[2]
        for each in schema.values():
            yield from _names_in(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _names_in(each)


def _typed_dict(name: str, schemas: Mapping[str, Schema]) -> str:
    """Returns a type. A type that extends another one names only its own fields."""
    fields = _fields(schemas[name]) | _GIVEN.get(name, {})
    described = f'"""{schemas[name]["description"]}"""'
    if any(iskeyword(field) for field in fields):
        items = ", ".join(f'"{field}": {each}' for field, each in fields.items())
        return f'{name} = TypedDict("{name}", {{{items}}})\n{described}\n'
    base = _base(name, schemas)
    known = {} if base is None else _fields(schemas[base])
    lines = [f"{field}: {each}" for field, each in fields.items() if field not in known]
    return "\n    ".join([f"class {name}({base or 'TypedDict'}):", described, "", *lines]) + "\n"


def _base(name: str, schemas: Mapping[str, Schema]) -> str | None:
    """Returns the type that a type extends, and None without one. It has the most fields of those that are possible.

    A type has all fields of its base. They are half of its fields, or its name ends with that of the base.
    """
    fields = _fields(schemas[name])
    possible = (
        (len(own), each)
        for each in schemas
        if (own := _fields(schemas[each])).keys() < fields.keys()
        and own.items() <= fields.items()
        and (len(own) >= max(_ALIKE, len(fields) / 2) or name.endswith(each))
    )
    return max(possible, default=(0, None))[1]


def _bases(name: str, schemas: Mapping[str, Schema]) -> Iterator[str]:
    """Yields the base of a type, the base of that one, and so on."""
    base = _base(name, schemas)
    while base is not None:
        yield base
        base = _base(base, schemas)


def _fields(schema: Schema) -> dict[str, str]:
    required = schema.get("required", ())
    return {
        field: _type(each) if field in required else f"NotRequired[{_type(each)}]"
        for field, each in schema["properties"].items()
    }


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(map(_type, schema["anyOf"])))
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    if values:
        return f"Literal[{', '.join(map(repr, values))}]"
    kind = schema.get("type")
    if kind == "array":
        return f"list[{_type(schema['items'])}]"
    if kind == "object":
        values = schema.get("additionalProperties", True)
        return f"dict[str, {_type(values) if isinstance(values, Mapping) else 'Any'}]"
    return _PLAIN[kind] if kind else "Any"


if __name__ == "__main__":
    for place, text in sources().items():
        place.write_text(text, "utf-8")
