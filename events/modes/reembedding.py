"""What a re-embedding of a mode would do. The write service says it, and the projections know it."""

from dataclasses import dataclass
from typing import Protocol

from events.modes.registry import Modes
from events.platform.database import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class ReembeddingPlan:
    """The cost of a re-embedding.

    ``embedder`` is the fingerprint of the mode's present embedder. ``cards`` of the mode have a vector, ``other`` of
    them from another embedder. ``waiting`` cards have none yet. ``texts_per_s`` and ``seconds`` are for this machine as
    it is now; None: not measured. No language model is called.
    """

    embedder: str
    cards: int = 0
    other: int = 0
    waiting: int = 0
    texts_per_s: float | None = None
    seconds: float | None = None

    @property
    def needed(self) -> bool:
        """True when a card would get another vector, or waits for one."""
        return bool(self.other or self.waiting)


class Planner(Protocol):
    """Tells the cost of a re-embedding of a user's mode."""

    def __call__(
        self,
        connection: Connection,
        owner: str,
        modes: Modes,
        project_id: str | None,
        name: str,
        *,
        measure: bool,
    ) -> ReembeddingPlan:
        """Returns the plan. ``project_id`` None: in all projects. ``measure``: also the time.

        ``connection`` sees the tenant of ``owner``. Raises ValueError with the remedy when the embedder is not there.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallationPlan:
    """What a re-embedding of modes that everybody has would do.

    ``slots`` names the embedder of each mode, ``now`` and ``then``. ``other`` of the ``cards`` have vectors of another
    embedder than they should, at most: when two modes had the same embedder, the cards of both count. ``waiting`` cards
    have no vector yet. ``added`` are modes whose embedder is new: some of the other cards may be theirs.
    ``seconds`` is for this machine as it is now; None: not measured.
    """

    slots: dict[str, dict[str, str]]
    cards: int
    other: int
    added: tuple[str, ...]
    texts_per_s: float | None
    seconds: float | None
    waiting: int = 0
    model_calls: int = 0

    @property
    def needed(self) -> bool:
        """True when a card would get another vector."""
        return bool(self.other or self.added)


class InstallationPlanner(Protocol):
    """Tells the cost of a re-embedding of a mode that everybody has."""

    def __call__(self, mode: str, *, measure: bool) -> InstallationPlan:
        """Returns the plan. ``measure``: also the time.

        Raises ValueError with the remedy for a mode without an embedder of its own, and for an embedder that is not
        there. Raises psycopg.Error when Postgres is away, and psycopg.errors.InsufficientPrivilege when the role of the
        caller sees one tenant only.
        """
