"""The page at ``/docs``: the OpenAPI document of a service as one HTML page. The page loads nothing from anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, RedirectResponse

from events.types.json_values import JsonObject

_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
}
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
    "color:#222;background:#fff}"
    "code,pre{font:14px/1.4 ui-monospace,monospace}pre{overflow:auto;background:#f4f4f4;padding:.6rem}"
    "table{border-collapse:collapse;width:100%}td,th{border:1px solid #ccc;padding:.3rem .5rem;text-align:left;"
    "vertical-align:top}summary{cursor:pointer;padding:.3rem 0}"
)


def add_docs(app: FastAPI) -> None:
    """Adds ``/docs`` to ``app``, and leads from ``/`` to it."""
    page: list[str] = []

    @app.get("/docs", include_in_schema=False)
    async def _docs() -> HTMLResponse:
        if not page:
            page.append(page_of(app.openapi()))
        return HTMLResponse(page[0], headers=_HEADERS)

    @app.get("/", include_in_schema=False)
    async def _root() -> RedirectResponse:
        return RedirectResponse("docs")


def page_of(document: JsonObject) -> str:
    """Returns the page of an OpenAPI document."""
    title = escape(document["info"]["title"])
    return "".join(
        (
            f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>",
            f"<meta name=viewport content='width=device-width'><style>{_STYLE}</style>",
            f"<h1>{title}</h1><p>This page shows <a href=openapi.json>openapi.json</a>. ",
            "A star marks what is required.",
            *_operations(document),
            "<h2>Schemas</h2>",
            *(_schema(name, each) for name, each in sorted(document["components"]["schemas"].items())),
            "</html>",
        )
    )


def _operations(document: JsonObject) -> Iterator[str]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            name = escape(operation["operationId"])
            yield f"<h2 id='{name}'><code>{method.upper()} {escape(path)}</code></h2>"
            yield f"<p>{escape(operation.get('summary', ''))}"
            if parameters := operation.get("parameters"):
                yield _table(
                    (each["name"], each.get("required"), each["schema"], each.get("description"))
                    for each in parameters
                )
            for content in operation.get("requestBody", {}).get("content", {}).values():
                schema = content["schema"]
                yield f"<p>Body: {_type(schema)}"
                for each in schema.get("oneOf", [schema]):
                    yield _fields(each)
                    yield _examples(each)
            yield "<p>Answers: " + ", ".join(
                f"{status} {_answer(response)}".strip()
                for status, response in sorted(operation["responses"].items())
            )


def _answer(response: JsonObject) -> str:
    if "$ref" in response:
        return ""
    return " or ".join(_type(content.get("schema", {})) for content in response["content"].values())


def _schema(name: str, schema: JsonObject) -> str:
    told = escape(schema.get("description", ""))
    return f"<h3 id='schema-{escape(name)}'>{escape(name)}</h3><p>{told}{_fields(schema)}{_examples(schema)}"


def _fields(schema: JsonObject) -> str:
    needed = schema.get("required", ())
    rows = [(name, name in needed, each, None) for name, each in schema.get("properties", {}).items()]
    return _table(iter(rows)) if rows else ""


def _examples(schema: JsonObject) -> str:
    return "".join(
        f"<pre>{escape(json.dumps(each, ensure_ascii=False, indent=2))}</pre>"
        for each in schema.get("examples", ())
    )


def _table(rows: Iterator[tuple[str, object, JsonObject, str | None]]) -> str:
    lines = (
        f"<tr><td><code>{escape(name)}</code>{' *' if needed else ''}<td>{_type(schema)}"
        f"<td>{escape(told or schema.get('description', ''))}"
        for name, needed, schema, told in rows
    )
    return "<table><tr><th>name<th>type<th>meaning" + "".join(lines) + "</table>"


def _type(schema: JsonObject) -> str:
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f"<a href='#schema-{name}'>{name}</a>"
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(_type(each) for each in schema[key]))
    if "enum" in schema:
        return ", ".join(f"<code>{escape(json.dumps(value))}</code>" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if "title" in schema and "properties" in schema:
        return escape(schema["title"])
    return escape(str(schema.get("format") or schema.get("type") or "any JSON"))
