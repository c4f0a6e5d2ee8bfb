"""Which names mean the same, said outside the turns."""

from __future__ import annotations

from dataclasses import dataclass

from events.types.codec import event_type


@event_type(version=1)
@dataclass(frozen=True, slots=True, kw_only=True)
class TagAliased:
    """Where ``alias`` is a tag, ``tag`` is meant; cards keep the tags they were given. The latest word on an
    alias counts, and ``tag == alias`` takes it back."""

    alias: str
    tag: str


@event_type(version=1)
@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeMerged:
    """``from_title`` and ``into_title`` are one concept, to be called ``into_title``; a rename where nothing was
    known under that title. Nothing said of either is lost."""

    from_title: str
    into_title: str
    reason: str
    project_id: str = "default"
