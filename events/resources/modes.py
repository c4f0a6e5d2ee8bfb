"""Modes and projects, and the re-embedding of a mode."""

from typing import Literal
from uuid import UUID

from pydantic import AwareDatetime, Field

from events.resources.resource import Resource
from events.types.modes import Decay


class Mode(Resource):
    """A mode as it is declared. ``embedder`` is a model's name, also for the default model."""

    name: str
    project_id: str | None
    embedder: str
    dimension: int | None
    description: str
    default_decay: Decay | None
    prompt_overrides: dict[str, str]
    is_default: bool
    declared_at: AwareDatetime | None


class ListedMode(Mode):
    """A mode. ``of`` says who gives it: the project, the user, or the installation (everybody)."""

    of: Literal["project", "user", "everybody"]


class WrittenMode(Mode):
    """A mode after a command."""

    changed: bool = Field(description="false when the wanted state already held")


class DeletedMode(Resource):
    """The mode is gone. Its cards belong to the general mode."""

    name: str
    changed: bool


class Project(Resource):
    """The settings of a project."""

    project_id: str
    default_mode: str | None
    description: str


class WrittenProject(Project):
    """The settings of a project after a command."""

    changed: bool


class Modes(Resource):
    """The modes in the order of their names. The general mode always exists. Former names map to present ones."""

    modes: list[ListedMode]
    default_mode: str | None
    projects: list[Project]
    former_names: dict[str, str]


class Reembedding(Resource, use_attribute_docstrings=True):
    """What a re-embedding does, or would do. No language model is called."""

    mode: str = Field(description="the mode by its present name")
    project_id: str | None
    state: Literal["planned", "unneeded", "accepted"]
    """planned: a dry run; unneeded: every vector is right; accepted: a worker begins"""
    reembedding_id: UUID | None
    embedder: str = Field(description="the embedder of the new vectors")
    cards: int = Field(description="cards of the mode with a vector")
    other: int = Field(description="of these, cards whose vector is of another embedder")
    waiting: int = Field(description="cards of the mode that wait for their vector")
    texts_per_s: float | None = Field(description="of this machine now; only a dry run measures it")
    seconds: float | None = Field(description="about; only in a dry run")
    model_calls: Literal[0]


class ReembeddingProgress(Resource, use_attribute_docstrings=True):
    """The progress of the last re-embedding of a mode. The old vectors answer until it is done."""

    mode: str = Field(description="the mode by its present name")
    project_id: str | None
    state: Literal["none", "waiting", "running", "done"]
    """none: nobody asked for it; waiting: no worker began yet"""
    reembedding_id: UUID | None
    requested_at: AwareDatetime | None
    done_at: AwareDatetime | None
    cards: int = Field(description="new vectors computed so far")
    share: float = Field(description="of the memory that was looked through, 0 to 1")
