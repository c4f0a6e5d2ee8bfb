"""The fields of requests take exactly the spellings of instants and UUIDs that the OpenAPI documents describe."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from pydantic import TypeAdapter, ValidationError

from events.http.fields import DayOrInstant, Instant, InstantOrBlank, QueryInstant, Uuid
from events.types.turn_contract import TurnInvalidError, parse_turn

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
