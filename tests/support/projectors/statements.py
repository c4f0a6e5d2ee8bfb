"""Statements to fold, made in a line each; days count from the first of January 2026."""

import dataclasses
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from uuid import UUID

from events.types.cards import CardOrigin, EventNoted, KnowledgeLearned, SourceSpan, StateAsserted
from events.types.envelope import Event, Payload
from events.types.modes import CardReclassified
from events.types.naming import KnowledgeMerged
from events.types.verdicts import CardVerified, ConflictRuled
from projectors.cards.arbitration import Thresholds
from projectors.cards.statement import statements_of
from projectors.cards.timeline import Timeline, state_timeline
from tests.support.events.turns import stored

DAY0 = datetime(2026, 1, 1, tzinfo=UTC)


def day(number: float) -> datetime:
    return DAY0 + timedelta(days=number)


def until(number: float, events: Iterable[Event]) -> list[Event]:
    """Returns the events that were recorded by then."""
    return [each for each in events if each.recorded_at <= day(number)]


def origin(on: float, session: str = "s", turn: str | None = None, place: int | None = None) -> CardOrigin:
    turn = turn or f"turn on {on}"
    return CardOrigin(
        project_id="default", session_id=session, turn_ids=(turn,), said_at=day(on), provenance="user_stated",
        source_span=None if place is None else SourceSpan(turn_id=turn, start=place, end=place + 2, text="so"),
    )  # fmt: skip


def event(payload: Payload, on: float, user: str = "u", position: int = 1) -> Event:
    return stored(payload, position=position, user_id=user, occurred_at=day(on), recorded_at=day(on))


def said(
    value: str,
    on: float,
    since: float | None = None,
    *,
    statement: str = "asserted",
    cardinality: str = "single_value",
    session: str = "s",
    turn: str | None = None,
    place: int | None = None,
    **more: object,
) -> Event:
    """``value`` is where the user lives, or one of the things the user can do; ``since`` a time the words gave."""
    payload = StateAsserted(
        content=f"lives in {value}",
        entity="user",
        concept_key="residence" if cardinality == "single_value" else "skill",
        value=value,
        cardinality=cardinality,  # type: ignore[arg-type]
        tags=(),
        origin=origin(on, session, turn, place),
        effective_at=day(on if since is None else since),
        time_resolved=since is not None,
        statement=statement,  # type: ignore[arg-type]
        **more,  # type: ignore[arg-type]
    )
    return event(payload, on)


def moved(value: str, on: float, since: float | None = None, **more: object) -> Event:
    """A change that the words announce."""
    return said(value, on, since, announced=True, **more)  # type: ignore[arg-type]


def in_mode(said: Event, mode: str | None, mode_id: str | None = None) -> Event:
    """Returns the statement as it was said in a mode, whose first name may be another one."""
    origin = dataclasses.replace(said.payload.origin, mode=mode, mode_id=mode_id)
    return dataclasses.replace(said, payload=dataclasses.replace(said.payload, origin=origin))


def reclassified(card: Event, mode: str, position: int, kind: str = "state") -> Event:
    payload = CardReclassified(card_id=card.event_id, kind=kind, positions=(1,), mode=mode, by="ana")  # type: ignore[arg-type]
    return event(payload, 200, position=position)


def skill(value: str, on: float, **more: object) -> Event:
    return said(value, on, cardinality="multi_value", **more)  # type: ignore[arg-type]


def learned(title: str, definition: str, on: float, *aliases: str, related: tuple[str, ...] = ()) -> Event:
    payload = KnowledgeLearned(
        content=f"{title}: {definition}", title=title, definition=definition, tags=(), aliases=aliases,
        origin=origin(on), related_titles=related,
    )  # fmt: skip
    return event(payload, on)


def merged(from_title: str, into_title: str, on: float) -> Event:
    return event(KnowledgeMerged(from_title=from_title, into_title=into_title, reason="one thing"), on)


def noted(content: str, on: float, *, at: float | None = None, position: int = 1, **more: object) -> Event:
    """Something said on a day, about that day or the day ``at``."""
    payload = EventNoted(
        content=content,
        entity="user",
        tags=(),
        origin=origin(on),
        occurred_at=day(on if at is None else at),
        **more,  # type: ignore[arg-type]
    )
    return event(payload, on, position=position)


def verified(card: UUID, on: float, kind: str = "state") -> Event:
    return event(CardVerified(card_id=card, kind=kind, by="ana"), on)  # type: ignore[arg-type]


def ruled(statement: Event, verdict: str, on: float) -> Event:
    payload = ConflictRuled(
        arbitration_id=statement.event_id,
        verdict=verdict,  # type: ignore[arg-type]
        reason="asked",
        by="ana",
    )
    return event(payload, on)


def timeline(*events: Event, thresholds: Thresholds | None = None) -> Timeline:
    """Returns the timeline of all the states among ``events``, with the remarks among them."""
    remarks: dict[UUID, list[Event]] = {}
    for one in events:
        if isinstance(one.payload, CardVerified):
            remarks.setdefault(one.payload.card_id, []).append(one)
        elif isinstance(one.payload, ConflictRuled):
            remarks.setdefault(one.payload.arbitration_id, []).append(one)
    statements = [statement for each in events for statement in statements_of(each)]
    return state_timeline(statements, remarks, thresholds)


def held(found: Timeline) -> list[tuple[str, datetime, datetime | None]]:
    """Returns the values that were true with their periods."""
    return [
        (s.latest.state.value, s.effective_at, s.superseded_at)
        for s in found.periods
        if not (s.retracted or s.contested or s.ended)
    ]


def current(found: Timeline) -> list[str]:
    return [value for value, _, until in held(found) if until is None]
