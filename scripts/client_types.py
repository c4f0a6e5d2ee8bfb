"""Writes the types of the Python client, ``retrieval/client/types.py``, from the OpenAPI documents of the services.

    python -m scripts.client_types

The types are those of answers, and the turn of a push. Types that both documents have must be equal.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from keyword import iskeyword
from pathlib import Path
from typing import Any

from scripts import api_reference

TARGET = Path(__file__).parents[1] / "retrieval" / "client" / "types.py"
_HEAD = '''"""The answers of the services, made of their OpenAPI documents by ``scripts/client_types.py``. Do not edit.

Instants are ISO 8601 text. Any version may add fields.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict
'''
_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
Schema = Mapping[str, Any]


def source() -> str:
    """Returns the text of the module."""
    types: dict[str, str] = {}
    for document in api_reference.documents().values():
        for name, schema in _answers(document):
            text = _typed_dict(name, schema)
            assert types.setdefault(name, text) == text, f"the two services have different types {name}"
    text = "\n".join([_HEAD, *(types[name] for name in sorted(types))])
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"]
    done = subprocess.run(ruff, input=text, text=True, capture_output=True, check=True)  # noqa: S603 - our own
    return done.stdout


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


def _typed_dict(name: str, schema: Schema) -> str:
    required = schema.get("required", ())
    fields = {
        field: _type(each) if field in required else f"NotRequired[{_type(each)}]"
        for field, each in schema["properties"].items()
    }
    described = f'"""{schema["description"]}"""'
    if any(iskeyword(field) for field in fields):
        items = ", ".join(f'"{field}": {each}' for field, each in fields.items())
        return f'{name} = TypedDict("{name}", {{{items}}})\n{described}\n'
    lines = [f"{field}: {each}" for field, each in fields.items()]
    return "\n    ".join([f"class {name}(TypedDict):", described, "", *lines]) + "\n"


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
    TARGET.write_text(source(), "utf-8")
