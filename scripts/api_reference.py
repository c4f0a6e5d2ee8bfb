"""The API reference as Markdown, made from the OpenAPI documents of the two services."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from events.platform.settings import Settings
from ingest.api import write_api
from retrieval.http import read_api

Schema = Mapping[str, Any]

# Nothing connects to these addresses: a service describes itself without its servers.
_NOWHERE = Settings(database_url="postgresql://127.0.0.1:1/none", redis_url="redis://127.0.0.1:1")


@cache
def documents() -> dict[str, dict[str, Any]]:
    """Returns the OpenAPI documents by the service's name, ``write`` and ``read``. No server is needed."""
    return {
        "write": write_api.create_app(_NOWHERE).openapi(),
        "read": read_api.create_app(_NOWHERE).openapi(),
    }


def page(document: Mapping[str, Any], port: int) -> str:
    """Returns the page of one service: every operation, the problems, then every schema."""
    lines = [
        f"# {document['info']['title']}",
        "",
        f"The service listens on port {port}. It describes itself at `/docs` and `/openapi.json`; "
        "this page is made from that document. Fields with a star are required.",
        "",
    ]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            lines += _operation(f"{method.upper()} {path}", operation, document)
    lines += [*_problems(document), "## Schemas", ""]
    for name, schema in sorted(document["components"]["schemas"].items()):
        lines += [f"### {name}", "", *_prose(schema), *_fields(schema)]
    return "\n".join(lines)


def _operation(title: str, operation: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"## `{title}`", "", _sentence(operation.get("summary", "")), "", *_prose(operation))
    if parameters := operation.get("parameters"):
        yield from ("| parameter | in | type | meaning |", "|---|---|---|---|")
        for each in parameters:
            star = " *" if each.get("required") else ""
            meaning = _meaning(each["schema"] | {"description": each.get("description", "")})
            yield f"| `{each['name']}`{star} | {each['in']} | {_type(each['schema'])} | {meaning} |"
        yield ""
    if body := operation.get("requestBody"):
        for media, content in body["content"].items():
            yield from (f"**Body** (`{media}`): {_type(content['schema'])}", "")
            for schema in content["schema"].get("oneOf", [content["schema"]]):
                yield from _fields(schema)
    yield from ("| status | answer |", "|---|---|")
    problems = []
    for status, response in sorted(operation["responses"].items()):
        if "$ref" in response:
            problems.append(status)
            continue
        [(media, content)] = response["content"].items()
        kind = _type(content["schema"]) if content.get("schema") else f"`{media}`"
        yield f"| {status} | {kind} |"
    yield f"| {', '.join(problems)} | [a problem](#problems) |"
    yield ""


def _problems(document: Mapping[str, Any]) -> Iterator[str]:
    yield from ("## Problems", "", "Every error is a [ProblemDetails](#problemdetails) document.", "")
    yield from ("| status | title | example of a detail |", "|---|---|---|")
    for response in document["components"]["responses"].values():
        [content] = response["content"].values()
        example = content["example"]
        yield f"| {example['status']} | {example['title']} | {_cell(example['detail'])} |"
    yield ""


def _fields(schema: Schema) -> Iterator[str]:
    if not schema.get("properties"):
        return
    yield from ("| field | type | meaning |", "|---|---|---|")
    required = schema.get("required", ())
    for name, each in schema["properties"].items():
        yield f"| `{name}`{' *' if name in required else ''} | {_type(each)} | {_meaning(each)} |"
    yield ""


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return f"[{_name(schema)}](#{_name(schema).lower()})"
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(_type(each) for each in schema[key]))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"map to {_type(schema['additionalProperties'])}"
    return str(schema.get("format") or schema.get("type") or "any JSON")


def _meaning(schema: Schema) -> str:
    parts = [_cell(schema["description"])] if schema.get("description") else []
    bounds = [
        f"{words} {schema[key]}"
        for key, words in (
            ("minimum", "at least"),
            ("maximum", "at most"),
            ("maxLength", "characters at most"),
            ("maxItems", "items at most"),
        )
        if key in schema
    ]
    if schema.get("default") is not None:
        bounds.append(f"default `{schema['default']}`")
    return "; ".join(parts + bounds)


def _prose(schema: Schema) -> list[str]:
    text = schema.get("description", "").replace("``", "`").strip()
    return [text, ""] if text else []


def _sentence(text: str) -> str:
    return text if text.endswith(("?", ".")) else f"{text}."


def _cell(text: str) -> str:
    return " ".join(text.replace("``", "`").replace("|", "\\|").split())


def _name(reference: Schema) -> str:
    return str(reference["$ref"]).rpartition("/")[2]
