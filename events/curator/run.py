"""A run of the curator, and the fold that makes the runs of a user of their events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from events.types.curation import CuratorRan, CuratorUndone
from events.types.envelope import Event
from events.types.extraction import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What the curator did at one time. ``keys`` name the events that it added. A run that counts is not undone."""

    run_id: UUID
    at: datetime
    position: int
    keys: tuple[str, ...]
    digests: tuple[str, ...]
    refused: int
    model: str | None
    asked: tuple[str, ...]
    usage: Usage
    undone_at: datetime | None = None
    undone_reason: str | None = None


def fold(events: Iterable[Event]) -> dict[UUID, Run]:
    """Returns the runs of a user by id, of the events of one stream in any order. Unreadable events count as none."""
    runs: dict[UUID, Run] = {}
    undone: list[Event] = []
    for event in events:
        payload = event.payload
        if isinstance(payload, CuratorRan):
            runs[event.event_id] = Run(
                run_id=event.event_id,
                at=event.recorded_at,
                position=event.position,
                keys=payload.keys,
                digests=payload.digests,
                refused=payload.refused,
                model=payload.model,
                asked=payload.asked,
                usage=payload.usage,
            )
        elif isinstance(payload, CuratorUndone):
            undone.append(event)
    for event in undone:
        if event.payload.run_id in runs:
            run = runs[event.payload.run_id]
            runs[run.run_id] = replace(run, undone_at=event.recorded_at, undone_reason=event.payload.reason)
    return runs


def tombstones(events: Iterable[Event]) -> frozenset[str]:
    """Returns the digests that nobody proposes again."""
    return frozenset(
        digest
        for event in events
        if isinstance(event.payload, CuratorUndone)
        for digest in event.payload.digests
    )
