"""The insights of a user: what the curator concludes from several cards, and the fold that makes them of events."""

from collections.abc import Iterable, Set
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Literal
from uuid import UUID

from events.platform.database import Connection, statement
from events.store.asking import Asking, Query, answered, stream_of
from events.types.envelope import Event
from events.types.insights import STREAM, InsightDerived, InsightKind, InsightRetracted

InsightStatus = Literal["current", "stale", "retracted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """What the curator concluded. ``run_id`` is its run. Only a current insight is told.

    ``digest`` says what the insight is about, in its project and mode, and ``position`` is that of its last event.
    """

    insight_id: UUID
    content: str
    kind: InsightKind
    theme: str
    digest: str
    project_id: str
    mode: str | None
    sources: tuple[UUID, ...]
    reason: str
    confidence: float
    status: InsightStatus
    retracted_reason: str | None
    run_id: UUID | None
    derived_at: datetime
    position: int

    @property
    def provenance(self) -> Literal["agent_inferred"]:
        """Nobody said an insight."""
        return "agent_inferred"


@dataclass(frozen=True, slots=True)
class Insights:
    """The insights of a user, the last first. ``refused`` are the sources of retracted ones by digest."""

    present: tuple[Insight, ...] = ()
    refused: tuple[tuple[str, frozenset[UUID]], ...] = ()

    def get(self, insight_id: UUID) -> Insight | None:
        return next((each for each in self.present if each.insight_id == insight_id), None)

    def refused_sources(self, digest: str) -> frozenset[UUID]:
        """Returns the cards from which nobody concludes ``digest`` again."""
        return frozenset(card for known, cards in self.refused if known == digest for card in cards)


def digest_of(kind: InsightKind, theme: str, project_id: str, mode: str | None) -> str:
    """Returns what an insight is about as a digest. Other words and other sources give the same digest."""
    return sha256("\x1f".join((kind, theme, project_id, mode or "")).encode()).hexdigest()


def sources_in(events: Iterable[Event]) -> set[UUID]:
    """Returns the cards on which the insights of events rest."""
    derived = (event.payload for event in events if isinstance(event.payload, InsightDerived))
    return {card for payload in derived for card in payload.sources}


def fold(events: Iterable[Event], living: Set[UUID]) -> Insights:
    """Returns the insights of a user, of the events of one stream in any order.

    ``living`` are the cards that hold. An insight is stale while one of its sources is not among them. An event whose
    words were erased counts as none.
    """
    told = list(events)
    retracted = {
        event.payload.insight_id: event for event in told if isinstance(event.payload, InsightRetracted)
    }
    found = [
        _insight(event, event.payload, retracted.get(event.event_id), living)
        for event in told
        if isinstance(event.payload, InsightDerived)
    ]
    return Insights(
        present=tuple(sorted(found, key=lambda each: (each.derived_at, each.insight_id), reverse=True)),
        refused=tuple(
            sorted(
                ((event.payload.digest, frozenset(event.payload.sources)) for event in retracted.values()),
                key=lambda each: (each[0], sorted(each[1])),
            )
        ),
    )


def _insight(event: Event, derived: InsightDerived, refusal: Event | None, living: Set[UUID]) -> Insight:
    status: InsightStatus = "current" if living >= {*derived.sources} else "stale"
    return Insight(
        insight_id=event.event_id,
        content=derived.content,
        kind=derived.kind,
        theme=derived.theme,
        digest=digest_of(derived.kind, derived.theme, derived.project_id, derived.mode),
        project_id=derived.project_id,
        mode=derived.mode,
        sources=derived.sources,
        reason=derived.reason,
        confidence=derived.confidence,
        status=status if refusal is None else "retracted",
        retracted_reason=None if refusal is None else refusal.payload.reason,
        run_id=event.causation_id,
        derived_at=event.recorded_at,
        position=event.position if refusal is None else max(event.position, refusal.position),
    )


def insights(owner: str) -> Asking[Insights]:
    """Asks for the insights of a user at the end of the log."""
    events = yield from stream_of(owner, STREAM)
    sources = sources_in(events)
    if not sources:
        return fold(events, sources)
    living = yield Query(statement("events", "living_sources"), {"user_id": owner, "cards": sorted(sources)})
    return fold(events, {row["card_id"] for row in living})


def insights_of(connection: Connection, owner: str) -> Insights:
    """Returns the insights of a user at the end of the log."""
    return answered(connection, insights(owner))
