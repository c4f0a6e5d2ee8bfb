"""The OpenAPI documents, and the fields that requests may have."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter, ValidationError

from events.http.fields import DayOrInstant, Instant, InstantOrBlank, QueryInstant, Uuid
from events.platform.settings import Settings
from events.types.turn_contract import TurnInvalidError, parse_turn
from ingest.api.write_api import create_app as write_app
from retrieval.http.read_api import create_app as read_app
from scripts.api_reference import documents

NOWHERE = Settings(database_url="postgresql://nobody@127.0.0.1:1/no", redis_url="redis://127.0.0.1:1/0")


def test_every_command_documents_a_conflict_and_no_other_route_does() -> None:
    conflicts = {
        service: {
            f"{method} {path}"
            for path, methods in app.openapi()["paths"].items()
            for method, operation in methods.items()
            if "409" in operation["responses"]
        }
        for service, app in (("write", write_app(NOWHERE)), ("read", read_app(NOWHERE)))
    }
    commands = {
        f"{method} {path}"
        for path, methods in write_app(NOWHERE).openapi()["paths"].items()
        for method in methods
        if method != "get"
    }
    assert "post /v1/relations" in commands
    assert conflicts == {"write": commands, "read": set()}


WRONG = {"integer": ("5", True), "number": ("0.5", True), "boolean": ("true", 1)}


def test_a_number_or_a_boolean_of_a_body_takes_nothing_else() -> None:
    bodies = {
        body.field_info.annotation
        for app in (write_app(NOWHERE), read_app(NOWHERE))
        for route in app.routes
        if isinstance(route, APIRoute)
        for body in route.dependant.body_params
    }
    found = set()
    for body in bodies:
        assert isinstance(body, type)
        assert issubclass(body, BaseModel)
        for name, field in body.model_json_schema()["properties"].items():
            for kind in (each.get("type") for each in field.get("anyOf", [field])):
                for wrong in WRONG.get(kind, ()):
                    found.add(f"{body.__name__}.{name}")
                    with pytest.raises(ValidationError) as refused:
                        body.model_validate({name: wrong})
                    assert (name,) in {each["loc"] for each in refused.value.errors()}, (body, name, wrong)
    assert {"RecallIn.k", "RecallIn.explain", "RelationIn.confidence", "RollbackIn.dry_run"} <= found


OF_ANOTHER_CONTRACT = {
    "hookSpecificOutput", "hookEventName", "additionalContext",  # hooks of assistants read these
    "idempotency-key", "if-match",  # HTTP headers
}  # fmt: skip
SNAKE_CASE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")


def named(part: object) -> Iterator[str]:
    """The names of properties, parameters and operations in a part of an OpenAPI document."""
    if isinstance(part, list):
        for each in part:
            yield from named(each)
    elif isinstance(part, dict):
        if isinstance(part.get("operationId"), str):
            yield part["operationId"]
        if isinstance(part.get("name"), str) and "in" in part:
            yield part["name"]
        properties = part.get("properties")
        if isinstance(properties, dict):
            yield from properties
        for key, each in part.items():
            if key not in ("example", "examples", "default"):
                yield from named(each)


def test_names_are_in_snake_case() -> None:
    found = {name for document in documents().values() for name in named(document)}
    assert {"approve_proposal", "user_id", "proposed_name"} <= found
    assert {name for name in found if not SNAKE_CASE.fullmatch(name)} == OF_ANOTHER_CONTRACT


def test_what_waits_is_approved_or_refused_and_only_a_conflict_takes_a_verdict() -> None:
    """The path ``/accept`` of a proposal is a contract of its own. A relation that closes a circle is ``refused``."""
    found = {name for document in documents().values() for name in named(document)}
    settling = {name for name in found if re.search("accept|approve|refuse|reject|verdict|settle", name)}
    assert settling == {
        "approve_patch", "approve_proposal", "refuse_patch", "refuse_proposal", "refused",
        "settle_arbitration", "settled_at", "verdict",
    }  # fmt: skip


def test_every_filter_by_status_takes_all() -> None:
    filters = [
        parameter["schema"]
        for document in documents().values()
        for methods in document["paths"].values()
        for operation in methods.values()
        for parameter in operation.get("parameters", ())
        if parameter["name"] == "status"
    ]
    assert filters
    assert all('"all"' in json.dumps(schema) for schema in filters)


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


def read_as_turn(said_at: str) -> object:
    now = datetime(2026, 5, 8, tzinfo=UTC)
    return parse_turn({"user_id": "u", "text": "x", "said_at": said_at}, entry_id="1-1", entry_time=now)


@pytest.mark.parametrize("kind", [Instant, QueryInstant, DayOrInstant, Uuid, InstantOrBlank])
def test_a_field_takes_what_its_schema_says_and_nothing_else(kind: Any) -> None:
    from jsonschema import (
        Draft202012Validator,
        FormatChecker,
    )  # to load it takes a second, which other processes save

    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    documented = Draft202012Validator(adapter.json_schema(), format_checker=FormatChecker(["uuid"]))
    read = read_as_turn if kind is InstantOrBlank else adapter.validate_python
    taken = 0
    for spelling in UUIDS if kind is Uuid else INSTANTS:
        if documented.is_valid(spelling):
            read(spelling)
            taken += 1
        else:
            with pytest.raises((ValidationError, TurnInvalidError)):
                read(spelling)
    assert taken
