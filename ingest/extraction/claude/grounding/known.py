"""What the prompt shows of the known cards, found by the labels that a model may answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Protocol
from uuid import UUID

Relation = Literal["same_as", "expands"]


class KnownFact(Protocol):
    """A current fact. ``event_id`` is its event in the log."""

    @property
    def event_id(self) -> UUID: ...
    @property
    def entity(self) -> str: ...
    @property
    def concept_key(self) -> str: ...
    @property
    def value(self) -> str: ...


class KnownPlan(Protocol):
    """An open plan. ``event_id`` is its event in the log."""

    @property
    def event_id(self) -> UUID: ...
    @property
    def content(self) -> str: ...


class KnownLabels(Protocol):
    """Finds the facts (F1, F2 …) and the plans (P1, P2 …) of a prompt. Returns None for a label that was not shown."""

    def fact(self, label: str) -> KnownFact | None: ...
    def plan(self, label: str) -> KnownPlan | None: ...
    def facts(self) -> Iterable[KnownFact]:
        """Returns all facts that were shown."""
        ...

    def plans(self) -> Iterable[KnownPlan]:
        """Returns all plans that were shown."""
        ...


class NoLabels:
    """The labels of a prompt that shows nothing known."""

    def fact(self, label: str) -> KnownFact | None:
        return None

    def plan(self, label: str) -> KnownPlan | None:
        return None

    def facts(self) -> Iterable[KnownFact]:
        return ()

    def plans(self) -> Iterable[KnownPlan]:
        return ()


def shown_words(labels: KnownLabels) -> str:
    """Returns the entities, the values and the contents that a prompt showed, one card a line."""
    facts = (f"{fact.entity} {fact.value}" for fact in labels.facts())
    return "\n".join((*facts, *(plan.content for plan in labels.plans())))
