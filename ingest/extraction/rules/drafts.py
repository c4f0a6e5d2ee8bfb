"""Drafts of cards: the finds of a rule before time, scope and source are added."""

from __future__ import annotations

from dataclasses import dataclass, field

from events.types.cards import StateAsserted, Statement


@dataclass(frozen=True, slots=True)
class KnownState:
    """A state found earlier in the conversation: its card, and the kind ("dog"), which the card does not keep."""

    event: StateAsserted
    kind: str | None

    @property
    def entity(self) -> str:
        return self.event.entity

    @property
    def key(self) -> str:
        return self.event.concept_key

    @property
    def value(self) -> str:
        return self.event.value


@dataclass(frozen=True, slots=True, kw_only=True)
class StateDraft:
    """A state as a rule found it.

    ``span`` holds offsets in the sentence. ``timed`` is true when a time near the state is the time it began.
    """

    entity: str
    key: str
    value: str
    span: tuple[int, int]
    statement: Statement = "asserted"
    announced: bool = False
    timed: bool = False
    content: str | None = None
    kind: str | None = None
    corrects: KnownState | None = None
    confidence: float = 0.9
    tags: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDraft:
    """A past or future event as a rule found it. ``when`` names the time that the sentence must state."""

    entity: str
    key: str
    span: tuple[int, int]
    content: str
    value: str | None = None
    when: str = "any"  # "past" | "future" | "any"
    importance: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeDraft:
    """A definition as a rule found it. ``begin`` and ``stop`` are offsets in the sentence."""

    title: str
    definition: str
    begin: int
    stop: int
    aliases: tuple[str, ...] = ()
    learned: bool = False


Draft = StateDraft | EventDraft | KnowledgeDraft
