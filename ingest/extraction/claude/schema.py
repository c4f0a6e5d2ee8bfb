"""Checks the shape of an answer and names its faults.

The model gets ``schema.json``. This check is more tolerant than the schema where the meaning is clear: an absent list
is empty, null and a blank text mean absent, and unknown fields are ignored. An event with the status "corrected" tells
of a slip.
"""

import json
import re
import reprlib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from importlib.resources import files
from itertools import islice
from typing import Literal, TypeVar

from events.language.values import word_set
from events.types.cards import Cardinality, EventStatus, Sentiment, Statement
from events.types.json_values import Json, JsonObject

TEXT: str = files("ingest.extraction.claude").joinpath("schema.json").read_text("utf-8")
SCHEMA: dict[str, Json] = json.loads(TEXT)

WITH_MODES: dict[str, object] = {
    **SCHEMA,
    "properties": {
        **SCHEMA["properties"],
        "modes": {
            "type": "array",
            "description": "The mode of every turn whose register is clear",
            "items": {
                "type": "object",
                "properties": {
                    "turn": {"type": "integer", "minimum": 1},
                    "mode": {"type": ["string", "null"], "description": "A name of the list, or null"},
                },
                "required": ["turn", "mode"],
                "additionalProperties": False,
            },
        },
    },
}
"""The schema for turns of a user who has modes."""

_MOST_FAULTS = 20
# Cards of one kind in one answer about a dozen turns, and names in one list.
MOST_CARDS = 60
MOST_NAMES = {"aliases": 20, "participants": 15, "topics": 8}
"""A card stores 16 participants, the entity among them."""
# Characters. More than a careful model writes, and less than the tables store (events.store.bounds).
_LONGEST = {
    "quote": 4_000, "content": 1_000, "definition": 2_000, "entity": 200, "concept_key": 100, "value": 250,
    "replaces": 250, "title": 200, "aliases": 200, "occurred_at_hint": 200,
    "value_hint": 200, "same_as": 10, "expands": 10, "participants": 200, "topics": 80,
    "problem": 250, "approach": 250, "outcome": 250,
}  # fmt: skip
# Fields that are searched and shown as names. They hold no control characters and no bidirectional overrides.
_NAMES = word_set(
    "entity concept_key value replaces title aliases same_as expands participants topics problem approach outcome"
)
_NOT_IN_NAMES = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\ue000-\uf8ff\ufffe\uffff]"
)
_SLIP = ("events", "corrected")
_LONGEST_SHOWN = 60
# reprlib bounds the length and the depth of a value in a fault before the value is written out.
_BRIEF = reprlib.Repr()
_BRIEF.maxlevel, _BRIEF.maxstring, _BRIEF.maxother = 3, 2 * _LONGEST_SHOWN, 2 * _LONGEST_SHOWN
_TYPES: dict[str, type] = {"string": str, "integer": int, "boolean": bool, "array": list}


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFound:
    """A state as the model wrote it, not yet grounded."""

    turn: int
    quote: str
    content: str
    concept_key: str
    value: str
    entity: str = "user"
    cardinality: Cardinality = "multi_value"
    statement: Statement = "asserted"
    replaces: str | None = None
    announced: bool = False
    occurred_at_hint: str | None = None
    value_hint: str | None = None
    time_role: Literal["start", "end"] | None = None
    same_as: str | None = None
    expands: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFound:
    """An event as the model wrote it, not yet grounded."""

    turn: int
    quote: str
    content: str
    entity: str = "user"
    importance: int = 4
    occurred_at_hint: str | None = None
    sentiment: Sentiment = "neutral"
    status: EventStatus = "happened"
    replaces: str | None = None
    slip: bool = False
    participants: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeFound:
    """A definition as the model wrote it, not yet grounded."""

    turn: int
    quote: str
    title: str
    definition: str
    aliases: tuple[str, ...] = ()
    content: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemFound:
    """What the model says of a problem, not yet grounded."""

    turn: int
    quote: str
    step: Literal["opened", "attempted", "closed"]
    problem: str
    approach: str | None = None
    outcome: str | None = None
    worked: bool | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The cards of an answer with the right shape, and the faults of the others.

    ``faulty`` is the number of cards with faults. ``usable`` is False when the whole answer has the wrong shape.
    ``modes`` are pairs of a turn's number and the name of a mode, not checked against the modes that there are.
    """

    states: tuple[StateFound, ...] = ()
    events: tuple[EventFound, ...] = ()
    knowledge: tuple[KnowledgeFound, ...] = ()
    problems: tuple[ProblemFound, ...] = ()
    faults: tuple[str, ...] = ()
    faulty: int = 0
    usable: bool = True
    modes: tuple[tuple[int, str], ...] = ()


def answer_of(given: object) -> Answer:
    """Returns ``given``, the decoded JSON input of the tool, as an answer. Never raises."""
    if not isinstance(given, dict):
        return Answer(faults=(f"the input is {_shown(given)}, not an object",), usable=False)
    lists = {name: given[name] for name in SCHEMA["properties"] if given.get(name) is not None}
    modes = _modes(given.get("modes"))
    if not lists and not modes:
        return Answer(faults=("the input has none of states, events, knowledge, problems",), usable=False)
    faults: list[str] = []
    faulty = 0
    good: dict[str, list[dict[str, object]]] = {name: [] for name in SCHEMA["properties"]}
    for name, items in lists.items():
        if not isinstance(items, list):
            return Answer(faults=(f"{name} is {_shown(items)}, not a list",), usable=False)
        if len(items) > MOST_CARDS:
            faulty += len(items) - MOST_CARDS
            faults.append(f"{name} has {len(items)} items; write at most {MOST_CARDS}")
        for index, item in enumerate(_told(name, each) for each in items[:MOST_CARDS]):
            rule = SCHEMA["properties"][name]["items"]
            found = list(islice(_faults(item, rule, f"{name}[{index}]"), _MOST_FAULTS))
            if found:
                faulty += 1
                faults += found
            elif isinstance(item, dict):
                good[name].append(item)
    return Answer(
        states=tuple(_made(StateFound, item) for item in good["states"]),
        events=tuple(_made(EventFound, item) for item in good["events"]),
        knowledge=tuple(_made(KnowledgeFound, item) for item in good["knowledge"]),
        problems=tuple(_made(ProblemFound, item) for item in good["problems"]),
        faults=tuple(faults[:_MOST_FAULTS]),
        faulty=faulty,
        modes=modes,
    )


def _told(name: str, item: object) -> object:
    """Returns an item without its absent fields, and a corrected event as a slip."""
    if not isinstance(item, dict):
        return item
    told = {key: value for key, value in item.items() if not (isinstance(value, str) and not value.strip())}
    return {**told, "status": "happened", "slip": True} if (name, told.get("status")) == _SLIP else told


def _modes(given: object) -> tuple[tuple[int, str], ...]:
    """Returns the modes of turns. An item of another shape is left out: its turn has no clear mode."""
    found = []
    for item in given[:MOST_CARDS] if isinstance(given, list) else ():
        turn, mode = (item.get("turn"), item.get("mode")) if isinstance(item, dict) else (None, None)
        if isinstance(turn, int) and not isinstance(turn, bool) and isinstance(mode, str):
            found.append((turn, mode))
    return tuple(found)


def _faults(item: object, schema: JsonObject, where: str) -> Iterator[str]:
    if not isinstance(item, dict):
        yield f"{where} is {_shown(item)}, not an object"
        return
    for name in schema["required"]:
        if item.get(name) is None:
            yield f"{where}.{name} is missing"
    for name, rule in schema["properties"].items():
        if item.get(name) is not None:
            yield from _value_faults(name, item[name], rule, f"{where}.{name}")


def _value_faults(name: str, value: object, rule: JsonObject, where: str) -> Iterator[str]:
    wanted = rule["type"]
    # A bool is an int in Python, but not in JSON.
    if not isinstance(value, _TYPES[wanted]) or (wanted == "integer" and isinstance(value, bool)):
        yield f"{where} is {_shown(value)}, not of type {wanted}"
    elif isinstance(value, list):
        if len(value) > (most_names := MOST_NAMES[name]):
            yield f"{where} has {len(value)} items; write at most {most_names}"
            return
        for index, one in enumerate(value):
            yield from _value_faults(name, one, rule["items"], f"{where}[{index}]")
    elif "enum" in rule and value not in rule["enum"]:
        yield f"{where} is {_shown(value)}; use one of {', '.join(rule['enum'])}"
    elif isinstance(value, str):
        if len(value) > (most := _LONGEST.get(name, _LONGEST["content"])):
            yield f"{where} is {len(value)} characters long; write at most {most}"
        elif "\0" in value or not _encodable(value):
            yield f"{where} holds a NUL or half a character"
        elif not value.strip():
            yield f"{where} is empty"
        elif name in _NAMES and _NOT_IN_NAMES.search(value):
            yield f"{where} holds a control character"
    elif isinstance(value, int) and not rule.get("minimum", value) <= value <= rule.get("maximum", value):
        yield f"{where} is {value}; use {rule['minimum']} to {rule.get('maximum', 'as many as there are')}"


_T = TypeVar("_T", StateFound, EventFound, KnowledgeFound, ProblemFound)


def _made(kind: type[_T], item: JsonObject) -> _T:
    given = {field.name: item[field.name] for field in fields(kind) if item.get(field.name) is not None}
    for name in MOST_NAMES.keys() & given.keys():
        given[name] = tuple(given[name])
    return kind(**given)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(value: object) -> str:
    text = _BRIEF.repr(value)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
