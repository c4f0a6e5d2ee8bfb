"""What a re-embedding of a mode would do. The write service says it, and the projections know it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from events.modes.registry import Modes
from events.store.log import Connection


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
