"""The events of modes and projects, and the event that gives a card another mode.

All modes and projects of a user are in one stream, ``modes``. Every event of the stream holds the complete registry
after it, so the last event is the present state, and the event at a position is the state at that position.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

from events.types.codec import event_type
from events.types.verdicts import CardKind

Decay = Literal["fast", "medium", "slow", "none"]
STREAM = "modes"
"""The stream of a user's modes and projects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """A declared mode. ``project_id`` None: of all projects of the user.

    ``embedder`` None is the default model of the installation. ``embedders`` are all models that the mode ever had, ""
    for the default one: cards keep the vector of the model that the mode had when the card was made.
    ``prompt_overrides`` are hints for the extraction, by their subject. A deleted mode is kept, because cards name it.
    ``mode_id`` is the name under which the mode was declared first; None: ``name``.
    """

    name: str
    project_id: str | None = None
    embedder: str | None = None
    dimension: int | None = None
    description: str = ""
    default_decay: Decay | None = None
    prompt_overrides: dict[str, str] = field(default_factory=dict)
    embedders: tuple[str, ...] = ("",)
    deleted: bool = False
    declared_at: datetime | None = None
    mode_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A declared project. ``default_mode`` is the mode of its turns when nothing else tells their mode."""

    project_id: str
    default_mode: str | None = None
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerName:
    """Cards and turns that name ``old`` mean the mode ``name``, of the same scope."""

    old: str
    name: str
    project_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeRegistry:
    """All modes and projects of a user. ``default_mode`` is for projects without a default of their own."""

    modes: tuple[Mode, ...] = ()
    projects: tuple[Project, ...] = ()
    former_names: tuple[FormerName, ...] = ()
    default_mode: str | None = None


@event_type(version=1)
class ModeDeclared:
    """A mode exists from now on, or is declared anew."""

    mode: Mode
    registry: ModeRegistry


@event_type(version=1)
class ModeRenamed:
    """A mode has another name. Its cards stay its cards."""

    name: str
    new_name: str
    registry: ModeRegistry
    project_id: str | None = None


@event_type(version=1)
class ModeDeleted:
    """A mode is gone. Its cards stay and belong to the general mode."""

    name: str
    registry: ModeRegistry
    project_id: str | None = None


@event_type(version=1)
class ModeReembedded:
    """All earlier cards of a mode belong to its present model, too. ``project_id`` None: in all projects of the user.

    Cards of before had the model that the mode had when they were made.
    """

    name: str
    registry: ModeRegistry
    project_id: str | None = None


@event_type(version=1)
class ProjectDeclared:
    """A project has these settings from now on."""

    project: Project
    registry: ModeRegistry


@event_type(version=1)
class CardReclassified:
    """Somebody gave a card another mode. ``card_id`` may be any statement that the card rests on.

    ``positions`` holds the position of the card's own event in the partition of this event. ``mode_id`` is the first
    name of the mode; None: ``mode``.
    """

    card_id: UUID
    kind: CardKind
    positions: tuple[int, ...]
    mode: str
    by: str
    reason: str | None = None
    mode_id: str | None = None
