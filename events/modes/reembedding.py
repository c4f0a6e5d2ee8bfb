"""What a re-embedding of a mode would do. The write service says it, and the projections know it."""

from collections.abc import Callable
from dataclasses import dataclass


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


Planner = Callable[..., ReembeddingPlan]
"""Tells the cost of a re-embedding of a user's mode: see :class:`projectors.rebuild.reembedding.ModePlanner`."""
