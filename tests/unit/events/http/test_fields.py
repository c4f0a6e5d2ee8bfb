"""Instants and UUIDs of requests have types of their own, which take exactly what the OpenAPI documents describe."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args
from uuid import UUID, uuid4

import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from jsonschema import Draft202012Validator, FormatChecker
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from events.http.fields import DayOrInstant, Instant, QueryInstant, Uuid
from events.platform.settings import Settings
from ingest.api.write_api import create_app as write_app
from retrieval.http.read_api import create_app as read_app

DAYS = ["2026-03-05", "20260305", "2026-W10-4", "1899-12-31", "2026-13-05", "26-03-05"]
CLOCKS = [
    "T10", "T10:00", "T10:00:07", "T1000", "T100007", "T10:00:07.123456789", "T10:00:07,5", " 10:00:07",
    "t10:00:07", "x10:00:07", "T24:00:00", "T23:59:60", "", "T10:0007",
]  # fmt: skip
OFFSETS = [
    "Z", "z", "", "+08:00", "+0800", "+08", " 08:00", "-00:00", "+14:00", "+14:30", "+15", "+08:00:30", " Z", "Z\n",
]  # fmt: skip
KNOWN = str(uuid4())
SPELLINGS = [
    *DAYS, *(f"{day}T10:00:07+08:00" for day in DAYS), *(f"2026-03-05{clock}+08:00" for clock in CLOCKS),
    *(f"2026-03-05T10:00:07{offset}" for offset in OFFSETS), "", " ", "yesterday", "２０２６-03-05T10:00:07Z",
    KNOWN, KNOWN.upper(), KNOWN.replace("-", ""), f"{{{KNOWN}}}", f"urn:uuid:{KNOWN}", KNOWN[:-1], f"{KNOWN} ",
]  # fmt: skip


@pytest.mark.parametrize("field", [Instant, DayOrInstant, QueryInstant, Uuid])
def test_a_field_takes_exactly_the_spellings_that_its_schema_describes(field: Any) -> None:
    adapter = TypeAdapter(field)
    check = Draft202012Validator(adapter.json_schema(), format_checker=FormatChecker(["uuid"]))
    taken = set()
    for spelling in SPELLINGS:
        try:
            adapter.validate_python(spelling)
        except ValidationError:
            continue
        taken.add(spelling)
    assert taken == {spelling for spelling in SPELLINGS if check.is_valid(spelling)}
    assert taken


_BARE = re.compile(r"(?<!Annotated\[)(?:uuid\.UUID|datetime\.datetime)")


def bare(name: str, field: FieldInfo) -> Iterator[str]:
    """Yields the fields below a field whose instant or UUID is read as pydantic reads it."""
    if not field.metadata and _BARE.search(repr(field.annotation)):
        yield name
    for model in models(field.annotation):
        for each, inner in model.model_fields.items():
            yield from bare(f"{name}.{each}", inner)


def models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from models(part)


def inputs(dependant: Dependant) -> Iterator[tuple[str, FieldInfo]]:
    for each in (*dependant.path_params, *dependant.query_params, *dependant.body_params):
        yield each.name, each.field_info
    for inner in dependant.dependencies:
        yield from inputs(inner)


@pytest.mark.parametrize("create", [read_app, write_app])
def test_every_instant_and_uuid_of_a_request_is_such_a_field(create: Any) -> None:
    nowhere = Settings(database_url="postgresql://nobody@127.0.0.1:1/no", redis_url="redis://127.0.0.1:1/0")
    routes = [route for route in create(nowhere).routes if isinstance(route, APIRoute)]
    found = [(f"{route.path} {name}", field) for route in routes for name, field in inputs(route.dependant)]
    assert any(field.annotation is UUID for _, field in found)
    assert any(list(models(field.annotation)) for _, field in found)
    assert [wrong for name, field in found for wrong in bare(name, field)] == []
