"""Both services take exactly the spellings that the OpenAPI documents describe for instants and UUIDs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from tests.support.stack import Running
from tests.support.web import WEB

DAYS = ["2026-03-05", "20260305", "2026-W10-4", "1899-12-31", "2026-13-05", "26-03-05"]
CLOCKS = [
    "T10", "T10:00", "T10:00:07", "T1000", "T100007", "T10:00:07.123456789", "T10:00:07,5", " 10:00:07",
    "t10:00:07", "x10:00:07", "T24:00:00", "T23:59:60", "", "T10:0007",
]  # fmt: skip
OFFSETS = [
    "Z", "z", "", "+08:00", "+0800", "+08", " 08:00", "-00:00", "+14:00", "+14:30", "+15", "+08:00:30", " Z", "Z\n",
]  # fmt: skip
INSTANTS = [
    *(f"{day}T10:00:07+08:00" for day in DAYS),
    *(f"2026-03-05{clock}+08:00" for clock in CLOCKS),
    *(f"2026-03-05T10:00:07{offset}" for offset in OFFSETS),
    "", " ", "yesterday", "２０２６-03-05T10:00:07Z",
]  # fmt: skip
KNOWN = str(uuid4())
UUIDS = [
    KNOWN, KNOWN.upper(), KNOWN.replace("-", ""), f"{{{KNOWN}}}", f"urn:uuid:{KNOWN}", KNOWN[:-1], f"{KNOWN} ",
    f"{KNOWN}0",
]  # fmt: skip
REQUIRED: dict[str, Any] = {
    "user_id": "formats", "text": "hello", "query": "where?", "predicate": "expands", "by": "me", "verdict": "coexist",
    "reason": "so", "from_card": str(uuid4()), "to_card": str(uuid4()), "group_by": "kind",
    "approach": "a walk", "description": "poor sleep", "into": str(uuid4()), "title": "sleep", "definition": "rest",
    "state": {"step": 1}, "session_id": "formats", "hook_event_name": "Stop",
    "actor": "user", "patch": [], "mode": "code", "new_name": "code", "event_ids": [str(uuid4())], "priority": 5,
    "card_ids": [str(uuid4())], "alias": "Mimi", "name": "Mei", "into_id": str(uuid4()), "from_id": str(uuid4()),
    "other_id": str(uuid4()), "action": "drop_parked", "projection": "cards", "because": "so",
}  # fmt: skip
ALL_TRIED = {
    ("/v1/turns", "said_at"), ("/v1/recall", "as_of"), ("/v1/cards", "as_of"), ("/v1/relations", "from_card"),
    ("/v1/cards/{card_id}", "card_id"),
}  # fmt: skip
"""The fields that are asked with every spelling. The other fields share their types, and a few spellings show it."""
FORMATS = FormatChecker(["uuid"])


def fields(document: dict[str, Any]) -> Iterator[tuple[str, str, str, str, dict[str, Any], dict[str, Any]]]:
    """Yields (method, path, place, name, schema, schema of the whole body) of each instant and UUID of a request."""
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            body = (
                operation.get("requestBody", {})
                .get("content", {})
                .get("application/json", {})
                .get("schema", {})
            )
            body = body.get("oneOf", [body])[0]
            if "$ref" in body:
                body = document["components"]["schemas"][body["$ref"].rpartition("/")[2]]
            for each in operation.get("parameters", []):
                if is_of_interest(each["schema"]):
                    yield method, path, each["in"], each["name"], each["schema"], body
            for name, schema in body.get("properties", {}).items():
                if is_of_interest(schema):
                    yield method, path, "body", name, schema, body


def is_of_interest(schema: dict[str, Any]) -> bool:
    return any(
        "format" in each or "2026-05-08T16:44:10+08:00" in each.get("examples", ())
        for each in schema.get("anyOf", [schema])
    )


def is_uuid(schema: dict[str, Any]) -> bool:
    return any(each.get("format") == "uuid" for each in schema.get("anyOf", [schema]))


@pytest.mark.parametrize("service", ["read", "write"])
def test_every_field_with_a_format_takes_what_the_document_says_and_nothing_else(
    stack: Running, service: str
) -> None:
    url = getattr(stack, f"{service}_url")
    document = WEB.get(f"{url}/openapi.json").json()
    tried: dict[tuple[str, str, str], int] = {}
    wrong = []
    for method, path, place, name, schema, body in fields(document):
        spellings = UUIDS if is_uuid(schema) else INSTANTS
        if (path, name) not in ALL_TRIED:
            spellings = spellings[1 :: len(spellings) // 4]
        for spelling in spellings:
            answer = asked(url, stack, method, path, place, name, spelling, body)
            refused = answer.status_code == 422 and answer.json().get("field") == name
            allowed = Draft202012Validator(schema, format_checker=FORMATS).is_valid(spelling)
            if refused == allowed:
                wrong.append((method, path, name, spelling, allowed, answer.text[:120]))
            tried[method, path, name] = tried.get((method, path, name), 0) + allowed
    assert not wrong
    assert tried, "no field with a format"
    assert all(tried.values()), "no spelling of a field was allowed"


def asked(
    url: str,
    stack: Running,
    method: str,
    path: str,
    place: str,
    name: str,
    value: str,
    schema: dict[str, Any],
) -> Any:
    body = {each: REQUIRED[each] for each in schema.get("required", [])}
    query: dict[str, str] = {}
    if place == "body":
        body[name] = value
    elif place == "query":
        query = {
            each: REQUIRED[each]
            for each in ("user_id", "group_by")
            if (each == "user_id" and "{user_id}" not in path) or "aggregate" in path
        }
        query |= {name: value}
        if path in ("/v1/audit", "/v1/usage"):
            del query["user_id"]
        if path == "/v1/usage":  # its two ends are at most 92 days apart
            query = {"since": "2026-03-01T00:00:00Z", "until": "2026-03-10T00:00:00Z"} | query
    elif place == "path" and method == "get" and "erasures" not in path and "{user_id}" not in path:
        query = {"user_id": "formats"}
    where = path
    for each, kept in (("kind", "todo_list"), ("key", "none")):
        where = where.replace(f"{{{each}}}", kept)
    while "{" in where:
        start, _, rest = where.partition("{")
        part, _, end = rest.partition("}")
        # A command about two things refuses one and the same.
        given = value if place == "path" and part == name else str(UUID(int=1))
        where = start + escaped(given) + end
    return WEB.request(
        method, url + where, params=query, json=body or None, headers=stack.administrator, timeout=30
    )


def escaped(part: str) -> str:
    return "".join(f"%{byte:02X}" for byte in part.encode())
