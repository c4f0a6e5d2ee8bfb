"""Every stored event can be read: golden lines of every type, and upcasters from old versions to new ones."""

import importlib
import json
import pkgutil
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import events.types
from events.store.log import Unreadable, event_if_readable, event_of
from events.types.codec import (
    PayloadError,
    UnknownEventTypeError,
    decode,
    describe,
    encode,
    event_type,
    known_types,
    upcaster,
)
from events.types.envelope import Event
from events.types.extraction import TurnsExtracted
from projectors.cards.fold import fold

GOLDEN = Path(__file__).parent / "golden" / "events.jsonl"
NOW = datetime(2026, 5, 8, 16, 44, 10, tzinfo=UTC)


def golden() -> list[dict[str, Any]]:
    return [json.loads(line) for line in GOLDEN.read_text("utf-8").splitlines()]


def row(position: int, kind: str, version: int, data: object) -> dict[str, Any]:
    """A row of the log as its reader gets it."""
    return {
        "partition": 3,
        "position": position,
        "event_id": UUID(int=position),
        "user_id": "alex",
        "stream": "s",
        "version": position,
        "type": kind,
        "schema_version": version,
        "dedupe_key": None,
        "occurred_at": NOW,
        "recorded_at": NOW,
        "actor": "test",
        "causation_id": None,
        "correlation_id": None,
        "data": json.dumps(data, ensure_ascii=False),
    }


def shipped() -> dict[str, int]:
    """Returns every event type of this build with its current version, without the types that only tests register."""
    names = {
        name
        for module in pkgutil.walk_packages(events.types.__path__, "events.types.")
        for name, value in vars(importlib.import_module(module.name)).items()
        if isinstance(value, type) and value.__module__.startswith("events.types.")
    }
    return {name: version for name, version in known_types().items() if name in names}


def test_there_is_a_golden_line_of_every_version_of_every_type() -> None:
    wanted = {(name, version) for name, current in shipped().items() for version in range(1, current + 1)}
    missing = wanted - {(line["type"], line["schema_version"]) for line in golden()}
    assert not missing, (
        f"add a line of each to {GOLDEN}, as it is written today, and never change it: {missing}"
    )


@pytest.mark.parametrize("line", golden(), ids=lambda line: f"{line['type']} {line['schema_version']}")
def test_a_golden_line_is_read_and_nothing_in_it_is_lost(line: dict[str, Any]) -> None:
    payload = decode(line["type"], line["schema_version"], json.dumps(line["data"]))
    name, version = describe(payload)
    assert name == line["type"]
    if version == line["schema_version"]:
        assert held_by(line["data"], json.loads(encode(payload))), (
            "a field may be added, never lost or changed"
        )


def held_by(stored: object, written: object) -> bool:
    """True when ``written`` holds everything that ``stored`` holds."""
    if isinstance(stored, dict) and isinstance(written, dict):
        return all(name in written and held_by(value, written[name]) for name, value in stored.items())
    if isinstance(stored, list) and isinstance(written, list):
        return len(stored) == len(written) and all(map(held_by, stored, written))
    return stored == written


def test_golden_lines_fold_into_cards() -> None:
    stored = [
        event_of(row(position, line["type"], line["schema_version"], line["data"]))
        for position, line in enumerate(golden(), 1)
    ]
    kinds = sorted(kind for _, kind, _ in fold(stored, {}).cards_put)
    noted = sum(line["type"] == "EventNoted" for line in golden())
    assert kinds.count("event") == noted >= 2
    assert kinds.count("knowledge") == 1, "one concept, however often it was explained"
    assert kinds.count("state") >= 1


# A type with a past: version 1 knew degrees Fahrenheit, version 2 Celsius, version 3 also where it was measured.
@event_type(version=3)
@dataclass(frozen=True, slots=True, kw_only=True)
class TemperatureMeasured:
    celsius: float
    place: str
    sensors: tuple[str, ...] = ()


@upcaster("TemperatureMeasured", 1)
def _to_celsius(values: dict[str, Any]) -> dict[str, Any]:
    return {"celsius": (values["fahrenheit"] - 32) / 1.8}


@upcaster("TemperatureMeasured", 2)
def _to_place(values: dict[str, Any]) -> dict[str, Any]:
    return {**values, "place": "indoors"}


def warmest(history: Iterable[Event]) -> dict[str, float]:
    """A fold that knows version 3 only."""
    found: dict[str, float] = {}
    for event in history:
        assert isinstance(event.payload, TemperatureMeasured)
        found[event.payload.place] = max(event.payload.celsius, found.get(event.payload.place, -273.15))
    return found


def test_events_of_every_past_version_fold_as_if_written_today() -> None:
    history = [
        row(1, "TemperatureMeasured", 1, {"fahrenheit": 68}),
        row(2, "TemperatureMeasured", 2, {"celsius": 18.5}),
        row(3, "TemperatureMeasured", 3, {"celsius": 31.0, "place": "roof", "sensors": ["a", "b"]}),
        row(4, "TemperatureMeasured", 1, {"fahrenheit": 50}),
    ]
    assert warmest(event_of(each) for each in history) == {"indoors": 20.0, "roof": 31.0}


def test_the_stored_bytes_are_not_touched_by_lifting_them() -> None:
    stored: dict[str, Any] = {"celsius": 1.5}
    assert decode("TemperatureMeasured", 2, stored) == TemperatureMeasured(celsius=1.5, place="indoors")
    assert stored == {"celsius": 1.5}
    assert describe(decode("TemperatureMeasured", 1, b'{"fahrenheit": 32}')) == ("TemperatureMeasured", 3)


@event_type(version=2)
@dataclass(frozen=True, slots=True, kw_only=True)
class StepForgotten:
    """An event type without an upcaster from version 1."""

    text: str


UNREADABLE = [
    ("NeverHeardOf", 1, {}, UnknownEventTypeError, "NeverHeardOf"),
    ("TemperatureMeasured", 4, {}, UnknownEventTypeError, "version 4 is newer than this build's 3"),
    ("StepForgotten", 1, {"text": "x"}, UnknownEventTypeError, "no upcaster from schema version 1"),
    ("TemperatureMeasured", 3, {"celsius": 1.0}, PayloadError, "place is missing"),
    ("TemperatureMeasured", 1, {}, KeyError, "fahrenheit"),
]


@pytest.mark.parametrize(("kind", "version", "data", "error", "reason"), UNREADABLE)
def test_what_has_no_reading_is_refused_by_name(
    kind: str, version: int, data: object, error: type[Exception], reason: str
) -> None:
    with pytest.raises(error, match=reason):
        event_of(row(1, kind, version, data))
    # Where other events must continue, the event arrives too, with the reason and its bytes.
    event = event_if_readable(row(1, kind, version, data))
    assert isinstance(event.payload, Unreadable)
    assert reason in event.payload.reason
    assert json.loads(event.payload.data) == data
    assert (event.user_id, event.position, event.type) == ("alex", 1, kind)


def test_the_older_word_for_the_rules_fallback_is_read() -> None:
    first, older, newer = [decode("TurnsExtracted", v, json.dumps(d)) for v, d in extracted_lines()]
    assert isinstance(first, TurnsExtracted)
    assert not first.rules_fallback
    assert older == newer


def extracted_lines() -> list[tuple[int, Any]]:
    """The versions and payloads of the golden extractions."""
    return [(line["schema_version"], line["data"]) for line in golden() if line["type"] == "TurnsExtracted"]
