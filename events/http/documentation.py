"""The documentation of a service: its OpenAPI document, and the page `/docs`, which loads nothing from anywhere."""

import json
from collections.abc import Iterator
from html import escape

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse, RedirectResponse

from events.http.errors import MEDIA_TYPE
from events.types.json_values import Json, JsonObject

_METHODS = ("get", "put", "post", "delete", "patch")

PROBLEM = {
    "title": "ProblemDetails",
    "description": "A problem document (RFC 9457). Some problems have further fields.",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string", "description": "the kind of the error, always in the same words"},
        "status": {"type": "integer", "description": "the HTTP status"},
        "detail": {"type": "string", "description": "the cause and the remedy"},
        "field": {"type": "string", "description": "the field, parameter or header at fault"},
        "reason": {"type": "string", "description": "the fault of the field"},
        "index": {"type": "integer", "description": "the index of the list item at fault, from 0"},
    },
}

_PROBLEMS = {
    400: ("Malformed request", "send one Host header, not none or several", None),
    401: ("Not authenticated", "this request has no valid credential; send one API key", "Authorization"),
    403: ("Foreign origin", "web pages of 'https://evil.example' may not ask this service", "Origin"),
    404: ("Not found", "this user has no such card", "card_id"),
    405: ("Method not allowed", "PUT is not allowed at '/v1/recall'; use POST", None),
    408: ("Request too slow", "the body was not complete within 30 s; send it faster", None),
    409: ("Already settled", "the arbitration is settled: coexist", None),
    413: ("Request too large", "the body is larger than 262144 bytes, the limit of this route", "(body)"),
    415: ("Unsupported media type", "the body must be JSON in UTF-8", "Content-Type"),
    421: ("Misdirected request", "this service is not called 'evil.example'", "Host"),
    422: ("Invalid request", "user_id: must not be empty", "user_id"),
    431: ("Request head too large", "the request line and the headers are longer than 65536 bytes", None),
    429: ("Too many requests", "this API key asks faster than its rate allows", None),
    500: ("Internal error", "something went wrong here; the service's log says what", None),
    503: ("Cards unavailable", "Postgres is away; the cards cannot be read now", None),
}
_OF_COMMANDS = frozenset((409,))
"""Statuses of every route that may change something. Any route can answer with the other statuses."""
_HEADERS = {
    401: ("WWW-Authenticate", "the scheme of the credential"),
    405: ("Allow", "the allowed methods"),
    429: ("Retry-After", "seconds to wait before the next try"),
    503: ("Retry-After", "seconds to wait before the next try"),
}


def describe(app: FastAPI) -> None:
    """Makes the OpenAPI document of ``app`` list all problem documents. The framework's own error schemas go."""

    def openapi() -> dict[str, object]:
        if app.openapi_schema is None:
            app.openapi_schema = _completed(
                get_openapi(
                    title=app.title, version=app.version, description=app.description, routes=app.routes
                )
            )
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _completed(document: dict[str, Json]) -> dict[str, object]:
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["ProblemDetails"] = PROBLEM
    components["responses"] = {f"Problem{status}": _answer(status) for status in _PROBLEMS}
    for path in document["paths"].values():
        for method in _METHODS:
            if method in path:
                responses = path[method]["responses"]
                _stream_of_events(responses)
                for status in _PROBLEMS.keys() - (() if _commands(method, path[method]) else _OF_COMMANDS):
                    responses[str(status)] = {"$ref": f"#/components/responses/Problem{status}"}
    return document


def _stream_of_events(responses: JsonObject) -> None:
    """Describes server-sent events as what they are. The framework calls each one a text, and the model beside it."""
    for answer in responses.values():
        stream = answer.get("content", {}).get("text/event-stream", {})
        if "$ref" in stream.get("schema", {}):
            data = {
                "type": "string",
                "contentMediaType": "application/json",
                "contentSchema": {"$ref": stream["schema"]["$ref"]},
            }
            shape = {"event": {"type": "string"}, "data": data}
            stream["schema"] = {"type": "object", "properties": shape, "required": ["event", "data"]}


def _commands(method: str, operation: JsonObject) -> bool:
    """True when the operation may change something: it is no GET, and its key needs another scope than ``read``."""
    return method != "get" and any(
        "read" not in scopes for way in operation.get("security", ()) for scopes in way.values()
    )


def _answer(status: int) -> dict[str, object]:
    title, detail, field = _PROBLEMS[status]
    example = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    if field is not None:
        example["field"] = field
    headers = [_HEADERS[status]] if status in _HEADERS else []
    return {
        "description": title,
        "content": {
            MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}, "example": example}
        },
        "headers": {name: {"description": told, "schema": {"type": "string"}} for name, told in headers},
    }


_PAGE_HEADERS = {
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
        return HTMLResponse(page[0], headers=_PAGE_HEADERS)

    @app.get("/", include_in_schema=False)
    async def _root() -> RedirectResponse:
        return RedirectResponse("docs")


def page_of(document: JsonObject) -> str:
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
                f"{status} {_shown_answer(response)}".strip()
                for status, response in sorted(operation["responses"].items())
            )


def _shown_answer(response: JsonObject) -> str:
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
