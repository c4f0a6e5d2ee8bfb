"""The events that cards are folded from. One event makes one card, in the words of its turn."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from events.types.codec import event_type
from events.types.turn_contract import clock_of
from events.types.turns import GENERAL_MODE, ContextLayer, TurnRecorded

Cardinality = Literal["single_value", "multi_value"]
Provenance = Literal["user_stated", "assistant_stated", "agent_inferred"]
Sentiment = Literal["positive", "neutral", "negative"]
Statement = Literal["asserted", "ended", "corrected", "updated"]
PASTED = "pasted"
"""The tag of an episode whose words are mostly pasted data or code."""
INJECTED = "injected"
"""The tag of an episode whose words are mostly a prompt injection."""
FICTION = "fiction"
"""The tag of an episode with role play or fiction. Its words name nobody."""
EventStatus = Literal["happened", "planned", "wished", "cancelled", "corrected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSpan:
    """The exact words that a card rests on: ``text == turn.text[start:end]``. The offsets count code points."""

    turn_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CardOrigin:
    """The scope and the source of a card. Every card has these fields.

    ``time_zone`` is the clock of the speaker, as an IANA name or an offset such as ``+08:00``. Readers tell the times
    of the card on this clock. It is None for words of no turn. ``metadata`` is that of the turn.

    ``mode`` is the name of the mode when the card was made. ``mode_id`` is the first name of that mode; None: ``mode``
    is the first name. ``default_mode`` is True when the mode is the default of the project.
    """

    project_id: str
    session_id: str
    turn_ids: tuple[str, ...]
    said_at: datetime
    source_span: SourceSpan | None
    provenance: Provenance
    speaker: str | None = None
    agent_id: str | None = None
    document_id: str | None = None
    context_layer: ContextLayer | None = None
    mode: str | None = None
    time_zone: str | None = None
    metadata: str | None = None
    mode_id: str | None = None
    default_mode: bool = False

    @property
    def register(self) -> str:
        """The first name of the mode. A new name of the mode does not change it."""
        return self.mode_id or self.mode or GENERAL_MODE


def origin_of(turn: TurnRecorded, span: SourceSpan, turn_ids: tuple[str, ...] = ()) -> CardOrigin:
    """Returns the origin of a card that rests on ``span`` of ``turn``, and on all of ``turn_ids`` if there are more."""
    return CardOrigin(
        project_id=turn.project_id,
        session_id=turn.session_id,
        turn_ids=turn_ids or (turn.turn_id,),
        said_at=turn.said_at,
        source_span=span,
        provenance="assistant_stated" if turn.role == "assistant" else "user_stated",
        speaker=turn.speaker,
        agent_id=turn.agent_id,
        document_id=turn.document_id,
        context_layer=turn.context_layer,
        mode=turn.mode,
        time_zone=clock_of(turn),
        metadata=turn.metadata,
    )


@dataclass(frozen=True, slots=True)
class Utterance:
    """The words of a turn and their speaker. ``speaker`` is None when the speaker is unknown."""

    text: str
    speaker: str | None = None


@event_type(version=1)
class StateAsserted:
    """A turn stated something about ``entity``. ``statement`` says what:

    - ``"asserted"``: ``value`` is true from ``effective_at`` on.
    - ``"ended"``: ``value`` stopped being true at ``effective_at``. An empty ``value`` ends every value in force.
    - ``"updated"``: ``value`` is true in the place of ``replaces``.
    - ``"corrected"``: an earlier statement of the same session was a mistake. ``replaces`` is the mistaken value,
      if the turn named it.

    ``entity`` is ``"user"`` for the user whose memory this is. Otherwise ``entity`` is a name as spoken.
    ``announced`` is True when the words themselves announce a change ("moved", "switched to", 搬到, 改成).
    ``time_resolved`` is False when the turn names no time. ``effective_at`` is then ``said_at``. ``alternative_at`` is
    the other instant that an ambiguous time may mean.

    A value may be a time itself, for instance a deadline or a birthday. ``value_hint`` are then the words that say
    the time. ``value_at`` and ``value_until`` (exclusive) bound the time, and ``value_grain`` is its grain.
    """

    content: str
    entity: str
    concept_key: str
    value: str
    cardinality: Cardinality
    tags: tuple[str, ...]
    origin: CardOrigin
    effective_at: datetime
    statement: Statement = "asserted"
    replaces: str | None = None
    effective_until: datetime | None = None
    announced: bool = False
    occurred_at_hint: str | None = None
    time_grain: str | None = None
    time_resolved: bool = False
    alternative_at: datetime | None = None
    value_hint: str | None = None
    value_at: datetime | None = None
    value_until: datetime | None = None
    value_grain: str | None = None
    confidence: float = 1.0
    weight: float = 1.0


@event_type(version=1, visible=("episode",))
class EventNoted:
    """Something happened at ``occurred_at``. For a range, ``occurred_until`` is its end, exclusive.

    ``status`` says what the turn says of it:

    - ``"happened"``: it happened or is happening.
    - ``"planned"``: it is going to happen at ``occurred_at``.
    - ``"wished"``: somebody wants it, and nobody arranged it.
    - ``"cancelled"``: an earlier plan is called off.
    - ``"corrected"``: an earlier event was told wrongly. This event is the right version.

    ``corrects`` is True for a plan that was told wrongly before: it is planned and corrected.

    ``replaces`` are the words that name the earlier event, for ``"cancelled"`` and ``"corrected"``, for a plan that
    moves, and for what was planned or wished and happened. ``replaces_event`` is the event id of the earlier
    ``EventNoted``, when one was found.

    ``participants`` are the names of all who take part, when there are several.

    ``episode`` is True for the card that keeps the turn itself in its human words. ``importance`` is 1 to 10.
    ``before`` holds the previous utterances of the session, the nearest first. A search thus finds "two kittens!"
    by the question that it answers.
    """

    content: str
    entity: str
    tags: tuple[str, ...]
    origin: CardOrigin
    occurred_at: datetime
    occurred_until: datetime | None = None
    occurred_at_hint: str | None = None
    time_grain: str | None = None
    time_resolved: bool = False
    concept_key: str | None = None
    value: str | None = None
    episode: bool = False
    topics: tuple[str, ...] = ()
    importance: int = 5
    sentiment: Sentiment = "neutral"
    before: tuple[Utterance, ...] = ()
    status: EventStatus = "happened"
    replaces: str | None = None
    replaces_event: UUID | None = None
    participants: tuple[str, ...] = ()
    corrects: bool = False
    alternative_at: datetime | None = None
    confidence: float = 1.0
    weight: float = 1.0


@event_type(version=1)
class KnowledgeLearned:
    """A turn explained a concept.

    ``title`` is the name as spoken, ``aliases`` are other names, and ``definition`` is the explanation.
    """

    content: str
    title: str
    definition: str
    tags: tuple[str, ...]
    origin: CardOrigin
    aliases: tuple[str, ...] = ()
    related_titles: tuple[str, ...] = ()
    confidence: float = 1.0
    weight: float = 1.0
