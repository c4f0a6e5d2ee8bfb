"""Checks that the tables can hold a card event, before the event is appended.

The log accepts any JSON. The tables do not: a row of an index has at most 2,704 bytes, a number column has a range,
and text has no NUL. An event that no table can hold would park its user, so the log refuses the event.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from datetime import datetime
from functools import singledispatch

from events.language.concepts import canonical_key, normalise_entity, normalise_value
from events.types.cards import CardOrigin, EventNoted, KnowledgeLearned, StateAsserted
from events.types.codec import PayloadError
from events.types.envelope import Payload
from events.types.extraction import ExtractionFailed, TurnsExtracted, Usage
from events.types.naming import KnowledgeMerged, TagAliased
from events.types.people import PERSON_EVENTS, PersonEvent
from events.types.problems import PROBLEM_EVENTS, ProblemEvent

# Bytes of UTF-8. The longest row of an index belongs to a state of several values: user and project (512 bytes each,
# by the turn contract), entity, key, value and an id of 16 bytes. The row must stay below 2,704 bytes.
MAX_NAME = 512
MAX_ENTITY = 512
MAX_KEY = 128
MAX_VALUE = 768
MAX_TITLE = 512
MAX_TAG = 512
MAX_HINT = 1_024
MAX_METADATA = 4_096
MAX_TEXT = 64 * 1024  # The bound of a turn: an episode holds the text of its turn.
MAX_REASON = 8 * 1024

MAX_WEIGHT = 1_000.0

MAX_TAGS = 64
MAX_ALIASES = 64
MAX_TURNS = 1_000
MAX_BEFORE = 16
MAX_PARTICIPANTS = 16

_Identity = Callable[[str], str]
_MAX_COUNT = 2**48
_LEAST_REAL = 2.0**-126
_YEARS = range(2, 9999)  # One day more or less, in any timezone, is still a date.


def as_real(number: float) -> float:
    """Returns ``number`` for a column of type ``real``. PostgreSQL refuses tiny numbers, so they become 0."""
    return number if not isinstance(number, int | float) or abs(number) >= _LEAST_REAL else 0.0


def check(payload: Payload) -> None:
    """Raises :class:`PayloadError` for a payload that the tables cannot hold. The error names field and bound."""
    for fault in _faults(payload):
        raise PayloadError(f"{type(payload).__name__}.{fault}")


def fault_of(payload: Payload) -> str | None:
    """Returns the message of :func:`check` for ``payload``, or None for a payload within the bounds."""
    return next(_faults(payload), None)


@singledispatch
def _faults(payload: object) -> Iterator[str]:
    """Yields the faults of a payload, each with its field first. Types without bounds have no faults."""
    yield from ()


@_faults.register
def _state(card: StateAsserted) -> Iterator[str]:
    yield from _name("entity", card.entity, MAX_ENTITY, normalise_entity)
    yield from _name("concept_key", card.concept_key, MAX_KEY, canonical_key)
    for field, value in (("value", card.value), ("replaces", card.replaces)):
        if value is not None:
            yield from _name(field, value, MAX_VALUE, lambda text: normalise_value(card.concept_key, text))
    for field in ("effective_at", "effective_until", "alternative_at", "value_at", "value_until"):
        yield from _instant(field, getattr(card, field))
    for field in ("value_hint", "value_grain"):
        if (text := getattr(card, field)) is not None:
            yield from _text(field, text, MAX_HINT)
    yield from _common(card)


@_faults.register
def _event(card: EventNoted) -> Iterator[str]:
    yield from _name("entity", card.entity, MAX_NAME, normalise_entity)
    for field, text, most in (("concept_key", card.concept_key, MAX_KEY), ("value", card.value, MAX_VALUE)):
        if text is not None:
            yield from _text(field, text, most)
    for field in ("occurred_at", "occurred_until", "alternative_at"):
        yield from _instant(field, getattr(card, field))
    if card.replaces is not None:
        yield from _text("replaces", card.replaces, MAX_TEXT)
    yield from _several("participants", card.participants, MAX_PARTICIPANTS, MAX_NAME)
    if isinstance(card.importance, bool) or card.importance not in range(1, 11):
        yield f"importance is {card.importance!r}; use 1 to 10"
    yield from _several("topics", card.topics, MAX_TAGS, MAX_TAG)
    yield from _several("before", [said.text for said in card.before], MAX_BEFORE, MAX_TEXT)
    yield from _several("before", [said.speaker or "" for said in card.before], MAX_BEFORE, MAX_NAME)
    yield from _common(card)


@_faults.register
def _knowledge(card: KnowledgeLearned) -> Iterator[str]:
    yield from _name("title", card.title, MAX_TITLE, _title_key)
    yield from _text("definition", card.definition, MAX_TEXT)
    for field, names in (("aliases", card.aliases), ("related_titles", card.related_titles)):
        if len(names) > MAX_ALIASES:
            yield f"{field} are {len(names)}; at most {MAX_ALIASES} are allowed"
            return
        for name in names:
            yield from _name(field, name, MAX_TITLE, _title_key)
    yield from _common(card)


def _problem(payload: ProblemEvent) -> Iterator[str]:
    for field in ("description", "problem", "approach", "outcome", "resolution", "reason"):
        if (text := getattr(payload, field, None)) is not None:
            yield from _text(field, text, MAX_REASON)
    priority = getattr(payload, "priority", None)
    if priority is not None and (isinstance(priority, bool) or priority not in range(1, 11)):
        yield f"priority is {priority!r}; use 1 to 10"
    yield from _instant("tried_at", getattr(payload, "tried_at", None))
    yield from _origin(payload.origin)


for _each in PROBLEM_EVENTS:
    _faults.register(_each, _problem)


def _person(payload: PersonEvent) -> Iterator[str]:
    for field in ("name", "kinship", "alias"):
        if (text := getattr(payload, field, None)) is not None:
            yield from _text(field, text, MAX_NAME)
    if (reason := getattr(payload, "reason", None)) is not None:
        yield from _text("reason", reason, MAX_REASON)
    yield from _several("evidence", getattr(payload, "evidence", ()), MAX_TAGS, MAX_HINT)
    yield from _origin(payload.origin)


for _told in PERSON_EVENTS:
    _faults.register(_told, _person)


@_faults.register
def _merged(merged: KnowledgeMerged) -> Iterator[str]:
    yield from _name("from_title", merged.from_title, MAX_TITLE, _title_key)
    yield from _name("into_title", merged.into_title, MAX_TITLE, _title_key)
    yield from _text("project_id", merged.project_id, MAX_NAME)


@_faults.register
def _aliased(aliased: TagAliased) -> Iterator[str]:
    yield from _name("alias", aliased.alias, MAX_TAG, _title_key)
    yield from _name("tag", aliased.tag, MAX_TAG, _title_key)


@_faults.register(TurnsExtracted)
@_faults.register(ExtractionFailed)
def _reading(reading: TurnsExtracted | ExtractionFailed) -> Iterator[str]:
    yield from _usage(reading.usage)
    yield from _several("turn_ids", reading.turn_ids, MAX_TURNS, MAX_NAME)
    if isinstance(reading, ExtractionFailed):
        yield from _text("reason", reading.reason, MAX_REASON)


def _common(card: StateAsserted | EventNoted | KnowledgeLearned) -> Iterator[str]:
    yield from _text("content", card.content, MAX_TEXT)
    yield from _several("tags", card.tags, MAX_TAGS, MAX_TAG)
    for field, number, most in (("confidence", card.confidence, 1.0), ("weight", card.weight, MAX_WEIGHT)):
        if isinstance(number, bool) or not math.isfinite(number) or not 0 <= number <= most:
            yield f"{field} is {number!r}; use 0 to {most:g}"
    if not isinstance(card, KnowledgeLearned):
        for field, text in (("occurred_at_hint", card.occurred_at_hint), ("time_grain", card.time_grain)):
            if text is not None:
                yield from _text(field, text, MAX_HINT)
    yield from _origin(card.origin)


def _origin(origin: CardOrigin) -> Iterator[str]:
    for field in ("project_id", "session_id", "speaker", "agent_id", "document_id", "mode", "time_zone"):
        name = getattr(origin, field)
        if name is not None:
            yield from _text(f"origin.{field}", name, MAX_NAME)
    if origin.metadata is not None:
        yield from _text("origin.metadata", origin.metadata, MAX_METADATA)
    yield from _several("origin.turn_ids", origin.turn_ids, MAX_TURNS, MAX_NAME)
    yield from _instant("origin.said_at", origin.said_at)
    if origin.source_span is not None:
        yield from _text("origin.source_span", origin.source_span.text, MAX_TEXT)


def _usage(usage: Usage) -> Iterator[str]:
    for each in fields(usage):
        number = getattr(usage, each.name)
        if number is None and each.name == "cost_usd":
            continue
        if (
            isinstance(number, bool)
            or not isinstance(number, int | float)
            or (isinstance(number, float) and each.name != "cost_usd")
            or not 0 <= number <= _MAX_COUNT
        ):
            yield f"usage.{each.name} is {str(number)[:40]}; use a number from 0 to {_MAX_COUNT}"


def _name(field: str, text: str, most: int, identity: _Identity) -> Iterator[str]:
    """Yields the faults of a name as written and in its plain form. One character may become eighteen there."""
    found = list(_text(field, text, most))
    yield from found
    if not found and (size := len(identity(text).encode())) > most:
        yield f"{field} is {size} bytes long in its plain form; at most {most} are allowed"


def _several(field: str, texts: Sequence[str], most: int, longest: int) -> Iterator[str]:
    if len(texts) > most:
        yield f"{field} are {len(texts)}; at most {most} are allowed"
        return
    for text in texts:
        yield from _text(field, text, longest)


def _text(field: str, text: str, most: int) -> Iterator[str]:
    if "\0" in text:
        yield f"{field} holds a NUL character"
        return
    try:
        size = len(text) if len(text) > most else len(text.encode())
    except UnicodeEncodeError:
        yield f"{field} holds half a character"
        return
    if size > most:
        yield f"{field} is {size} bytes long; at most {most} are allowed"


def _instant(field: str, instant: datetime | None) -> Iterator[str]:
    if instant is not None and instant.year not in _YEARS:
        yield f"{field} is in the year {instant.year}; use {_YEARS[0]} to {_YEARS[-1]}"


def _title_key(name: str) -> str:
    return normalise_value("title", name)
