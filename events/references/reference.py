"""A reference as its stream tells it: the fold of the events of one stream, and its row of the table ``objects``."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import datetime
from uuid import UUID

import orjson

from events.platform.database import Row
from events.types.envelope import Event
from events.types.json_values import Json, json_text
from events.types.references import (
    ReferenceArchived,
    ReferenceChanged,
    ReferenceCreated,
    ReferenceMoved,
    ReferenceName,
    ReferenceTierChanged,
    Tier,
)

TYPES = frozenset(
    cls.__name__
    for cls in (ReferenceCreated, ReferenceChanged, ReferenceArchived, ReferenceMoved, ReferenceTierChanged)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A reference at one version of its stream. ``data`` is the complete value.

    ``owner`` is the storage id of the user or team. ``reference_id`` is the event id of its creation.
    ``created_at`` is the first use of the name. ``archived``: somebody put it away. ``moved_to`` names the stream that
    continues it.
    """

    owner: str
    stream: str
    reference_id: UUID
    name: ReferenceName
    version: int
    data: Json
    rendering: str
    tier: Tier
    tier_reason: str | None
    archived: bool
    moved_to: str | None
    created_at: datetime
    updated_at: datetime
    actor: str
    partition: int
    position: int


def folded(event: Event, before: Reference | None) -> Reference | None:
    """Returns the reference after ``event``, a later one of its stream. None: there is no reference yet.

    An event that changes the value holds all of it. The events between the first one and the last change of the value
    may therefore be missing, and so may erased ones.
    """
    payload = event.payload
    if isinstance(payload, ReferenceCreated | ReferenceChanged):
        created = isinstance(payload, ReferenceCreated)
        same_tier = before is not None and not created and payload.tier == before.tier
        return Reference(
            owner=event.user_id,
            stream=event.stream,
            reference_id=event.event_id if isinstance(payload, ReferenceCreated) else payload.reference_id,
            name=payload.name,
            version=event.version,
            data=payload.data,
            rendering=payload.rendering,
            tier=payload.tier,
            tier_reason=before.tier_reason if before is not None and same_tier else None,
            archived=False,
            moved_to=None,
            created_at=event.recorded_at if before is None else before.created_at,
            updated_at=event.recorded_at,
            actor=event.actor,
            partition=event.partition,
            position=event.position,
        )
    if before is None:
        return None
    seen = replace(before, version=event.version, partition=event.partition, position=event.position)
    if isinstance(payload, ReferenceArchived):
        return replace(seen, archived=True, updated_at=event.recorded_at, actor=event.actor)
    if isinstance(payload, ReferenceMoved):
        return replace(seen, moved_to=payload.to_stream, updated_at=event.recorded_at, actor=event.actor)
    if isinstance(payload, ReferenceTierChanged):
        return replace(seen, tier=payload.tier, tier_reason=payload.reason)
    return seen


def fold(events: Iterable[Event], before: Reference | None = None) -> Reference | None:
    """Returns the reference after ``events`` of one stream, in order."""
    for event in events:
        before = folded(event, before)
    return before


_SAME = tuple(each.name for each in fields(Reference) if each.name not in ("owner", "name", "data"))


def reference_of(row: Row) -> Reference:
    """Returns the reference of a row. ``data`` is JSON text."""
    return Reference(
        owner=row["user_id"],
        name=ReferenceName(
            kind=row["kind"], key=row["key"], project_id=row["project_id"], team_id=row["team_id"]
        ),
        data=orjson.loads(row["data"]),
        **{name: row[name] for name in _SAME},
    )


def row_of(reference: Reference) -> Row:
    name = reference.name
    return {
        "user_id": reference.owner,
        "kind": name.kind,
        "key": name.key,
        "project_id": name.project_id,
        "team_id": name.team_id,
        "data": json_text(reference.data),
        **{each: getattr(reference, each) for each in _SAME},
    }
