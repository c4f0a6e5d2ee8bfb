"""Drafts of cards: the finds of a rule before time, scope and source are added."""

from __future__ import annotations

from dataclasses import dataclass, field

from events.types.cards import EventNoted, EventStatus, StateAsserted, Statement
from ingest.extraction.rules.moments import Moment


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


@dataclass(frozen=True, slots=True)
class DialogueState:
    """The states, the events and the names of problems of a conversation so far, the newest last.

    Episodes are no part of it.
    """

    states: list[KnownState] = field(default_factory=list)
    events: list[EventNoted] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def __add__(self, later: DialogueState) -> DialogueState:
        return DialogueState(
            [*self.states, *later.states],
            [*self.events, *later.events],
            [*self.problems, *later.problems],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StateDraft:
    """A state as a rule found it.

    ``span`` holds offsets in the sentence. ``timed`` is true when a time near the state is the time it began,
    and ``dated`` when only a time that a clause adds to it is ("…, diagnosed in 2018"). ``value_span`` are the offsets
    of a value that is a time itself.
    """

    entity: str
    key: str
    value: str
    span: tuple[int, int]
    statement: Statement = "asserted"
    announced: bool = False
    timed: bool = False
    dated: bool = False
    content: str | None = None
    kind: str | None = None
    corrects: KnownState | None = None
    value_span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDraft:
    """A past or future event as a rule found it, with the time of the event. Its words are those of its sentence.

    ``replaces`` are the words that name the earlier event, for a plan that moves or is called off.
    """

    key: str
    span: tuple[int, int]
    moment: Moment | None = None
    value: str | None = None
    importance: int = 5
    status: EventStatus = "happened"
    replaces: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeDraft:
    """A definition as a rule found it. ``begin`` and ``stop`` are offsets in the sentence."""

    title: str
    definition: str
    begin: int
    stop: int
    aliases: tuple[str, ...] = ()
