"""The OpenAPI document of a service. It lists every answer of every route, problem documents included."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from events.http.errors import MEDIA_TYPE

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
_RETRY_AFTER = {"description": "seconds to wait before the next try", "schema": {"type": "string"}}
_ALLOW = {"description": "the allowed methods", "schema": {"type": "string"}}
_CHALLENGE = {"description": "the scheme of the credential", "schema": {"type": "string"}}
_HEADERS: dict[int, dict[str, object]] = {
    401: {"WWW-Authenticate": _CHALLENGE},
    405: {"Allow": _ALLOW},
    429: {"Retry-After": _RETRY_AFTER},
    503: {"Retry-After": _RETRY_AFTER},
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


def _completed(document: dict[str, Any]) -> dict[str, object]:
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
                for status in _PROBLEMS.keys() - (() if _commands(method, path[method]) else _OF_COMMANDS):
                    responses[str(status)] = {"$ref": f"#/components/responses/Problem{status}"}
    return document


def _commands(method: str, operation: dict[str, Any]) -> bool:
    """True when the operation may change something: it is no GET, and its key needs another scope than ``read``."""
    return method != "get" and any(
        "read" not in scopes for way in operation.get("security", ()) for scopes in way.values()
    )


def _answer(status: int) -> dict[str, object]:
    title, detail, field = _PROBLEMS[status]
    example = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    if field is not None:
        example["field"] = field
    return {
        "description": title,
        "content": {
            MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}, "example": example}
        },
        "headers": _HEADERS.get(status, {}),
    }
