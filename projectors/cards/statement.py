"""What was said, as the fold sees it: an identity, and one statement about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from events.concepts import canonical_key, normalise_entity, normalise_value
from events.envelope import Event
from events.types.cards import KnowledgeLearned, StateAsserted

_SEPARATOR = "\x1f"


@dataclass(frozen=True, slots=True)
class Statement:
    """One event about one identity. ``value_key`` decides whether two statements say the same."""

    identity: str
    value_key: str
    event: Event

    @property
    def said_at(self) -> datetime:
        payload = self.event.payload
        assert isinstance(payload, StateAsserted | KnowledgeLearned)
        said_at: datetime = payload.origin.said_at
        return said_at


def statements_of(event: Event, *, supersede: bool = True) -> list[Statement]:
    """The statements an event makes: none for what is no state and no knowledge.

    Without ``supersede`` a new single value stands beside the old one, like any of several values.
    """
    payload = event.payload
    if isinstance(payload, StateAsserted):
        key = canonical_key(payload.concept_key)
        value_key = normalise_value(key, payload.value)
        scope = ("state", payload.origin.project_id, normalise_entity(payload.entity), key)
        if supersede and payload.cardinality == "single_value":
            return [Statement(_SEPARATOR.join(scope), value_key, event)]
        statements = [Statement(_SEPARATOR.join((*scope, value_key)), value_key, event)]
        if payload.statement == "corrected" and payload.replaces is not None:
            # A slip among several values: the mistaken value has an identity of its own, told here.
            mistaken = normalise_value(key, payload.replaces)
            if mistaken != value_key:
                statements.append(Statement(_SEPARATOR.join((*scope, mistaken)), value_key, event))
        return statements
    if isinstance(payload, KnowledgeLearned):
        title = normalise_value("title", payload.title)
        return [Statement(_SEPARATOR.join(("knowledge", payload.origin.project_id, title)), title, event)]
    return []
