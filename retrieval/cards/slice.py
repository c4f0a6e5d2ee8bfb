"""A slice of the cards: one condition for each axis, and the instant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from events.access.principal import EVERYTHING, Reach
from events.modes.registry import UNDECLARED, Modes
from retrieval.cards.past import Past

KINDS = ("state", "event", "knowledge", "reference")
# The axes that group cards. Times fall into buckets. A list counts a card once for each of its items.
TIMES = ("created_at", "occurred_at", "effective_at", "superseded_at", "last_verified", "time")
LISTS = ("tags", "topics", "predicate")
TENTHS = ("confidence", "weight")
AXES = (
    *TIMES, "kind", "status", "project_id", "context_layer", "session_id", "agent_id", "document_id", "speaker", "mode",
    "concept_key", "entity", "value", "cardinality", *LISTS, *TENTHS, "provenance", "episode",
    "importance", "sentiment",
)  # fmt: skip

# Conditions that are parameters under their own names. An absent condition is NULL.
CONDITIONS = (
    "context_layer", "session_id", "agent_id", "document_id", "speaker", "mode", "turn_id", "concept_key", "entity",
    "value", "cardinality", "tag", "topic", "provenance", "min_confidence", "max_confidence", "min_weight", "episode",
    "min_importance", "sentiment", "created_from", "created_to", "occurred_from", "occurred_to", "effective_from",
    "effective_to", "superseded_from", "superseded_to", "verified_from", "verified_to", "predicate", "related_to",
    "metadata", "pinned", "recalled",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """Some cards of one user. ``projects`` None means all projects, ``statuses`` None any status.

    ``now`` is the time of the request. ``as_of`` asks what was true at another instant, ``known_at`` what was recorded
    by an instant. ``conditions`` are some of :data:`CONDITIONS`. ``about`` are the term keys of names; a card must
    hold all keys of one name. ``past`` are the tables as they were at ``known_at``. Cards out of ``reach`` do not
    exist for the reader. ``modes`` tell the present names of modes.
    """

    user_id: str
    now: datetime
    kinds: tuple[str, ...] = KINDS
    projects: tuple[str, ...] | None = None
    statuses: tuple[str, ...] | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    conditions: Mapping[str, Any] = field(default_factory=dict)
    about: Sequence[Sequence[int]] | None = None
    duplicates: Sequence[UUID] | None = None
    past: Past | None = None
    reach: Reach = EVERYTHING
    modes: Modes = UNDECLARED

    @property
    def at(self) -> datetime:
        """The instant that the answer is true of."""
        return self.as_of or self.now

    @property
    def _mode(self) -> list[str] | None:
        """The present names of the modes asked for, which may be asked for by former names."""
        names = self.conditions.get("mode")
        if names is None:
            return None
        projects = self.projects or ("",)
        return sorted({self.modes.meaning(project, name) for project in projects for name in names})

    def parameters(self) -> dict[str, object]:
        """The named parameters of the statements ``slice`` and ``status``."""
        return {
            **dict.fromkeys(CONDITIONS),
            **self.conditions,
            "mode": self._mode,
            "meant": orjson.dumps(self.modes.meanings()).decode(),
            "user_id": self.user_id,
            "kinds": list(self.kinds),
            "projects": None if self.projects is None else list(self.projects),
            "status": None if self.statuses is None else list(self.statuses),
            "at": self.at,
            "as_of": self.as_of,
            "known_at": self.known_at,
            "about": None
            if self.about is None
            else ["{" + ",".join(map(str, keys)) + "}" for keys in self.about],
            "about_any": sorted({key for keys in self.about or () for key in keys}),
            "collapse": self.duplicates is not None,
            "duplicates": list(self.duplicates or ()),
            **{f"reached_{name}": names for name, names in self.reach.parameters().items()},
            **({} if self.past is None else self.past.parameters()),
        }
