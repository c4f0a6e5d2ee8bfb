"""The health of one stage, and of all stages at one moment. An unknown number is None, never zero."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from events.types.json_values import JsonObject

if TYPE_CHECKING:
    # The report of a Cardlog that does not run needs no pydantic.
    from events.resources.status import HealthStatus

_WELL = frozenset(("running", "waiting", "building", "abandoned"))


@dataclass(frozen=True, slots=True)
class BlockedEmbedder:
    """An embedder that gives no vectors. ``mode`` names whose it is: a mode of the settings, or ``model=`` and the name
    of a model that users' modes name. ``reason`` names the remedy. ``cards`` wait for it."""

    mode: str
    reason: str
    cards: int


@dataclass(frozen=True, slots=True)
class StageHealth:
    """The health of one stage. None is unknown in every field.

    - ``behind``: the turns in the queue or the events in the log that the stage has not processed.
    - ``seconds``: the age of the oldest of them.
    - ``stalled_s``: how long the stage has had work and done none.
    - ``rate``: turns or events per second.
    - ``position``: all turns or events that the stage ever processed.
    - ``parked``: parked events.
    - ``dead``: dead letters of the recorder, or turns that the extractor gave up.
    - ``workers``: workers alive.
    - ``pending``: cards without a vector whose events the vectors projector has passed, the oldest for ``pending_s``.
      These cards count in ``behind`` and ``seconds``.
    - ``blocked``: the embedders that fail, with the cards that wait for each. All other cards get their vectors.
    """

    name: str
    behind: int | None
    seconds: float | None
    state: HealthStatus
    detail: str | None = None
    rate: float | None = None
    parked: int | None = None
    dead: int | None = None
    error: str | None = None
    error_at: datetime | None = None
    workers: int | None = None
    position: int | None = None
    stalled_s: float | None = None
    pending: int | None = None
    pending_s: float | None = None
    blocked: tuple[BlockedEmbedder, ...] = ()

    @property
    def well(self) -> bool:
        """True when the stage needs no operator. Dead letters and turns that were given up need one."""
        return self.state in _WELL and not self.dead

    def document(self) -> dict[str, object]:
        """Returns the fields as a JSON object, without the name."""
        found = asdict(self)
        del found["name"]
        found["error_at"] = None if self.error_at is None else self.error_at.isoformat()
        return found

    @classmethod
    def of_document(cls, name: str, document: JsonObject) -> StageHealth:
        """Returns the stage ``name`` of which :meth:`document` gave the JSON ``document``."""
        at = document["error_at"]
        blocked = tuple(BlockedEmbedder(**each) for each in document["blocked"])
        return cls(
            **{
                **document,
                "name": name,
                "error_at": None if at is None else datetime.fromisoformat(at),
                "blocked": blocked,
            }
        )


def unknown(name: str, why: str) -> StageHealth:
    """Returns the health of a stage of which nothing is known. ``why`` is the reason."""
    return StageHealth(name, None, None, "unknown", why)


TOTALS = ("events", "recorded", "duplicates", "parked", "dead", "lost")
"""The totals of an overview, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Overview:
    """The health of every stage at one moment, with totals. None means unknown.

    ``whole`` is False when the database role sees one tenant at a time: ages and parked events are then missing.
    """

    stages: tuple[StageHealth, ...]
    events: int | None
    parked: int | None
    dead: int | None
    recorded: int | None
    duplicates: int | None
    lost: int | None
    at: float = field(default_factory=time.monotonic)
    whole: bool = True

    @property
    def well(self) -> bool:
        """True when nothing needs an operator: every stage is well, and no turn is dead or parked or given up."""
        return all(stage.well for stage in self.stages) and not self.dead and not self.parked

    def document(self) -> dict[str, object]:
        """Returns the overview as a JSON document."""
        return {
            "well": self.well,
            "stages": {stage.name: stage.document() for stage in self.stages},
            **{name: getattr(self, name) for name in TOTALS},
        }

    @classmethod
    def of_document(cls, document: JsonObject) -> Overview:
        """Returns the overview of which :meth:`document` gave the JSON ``document``."""
        stages = (StageHealth.of_document(name, each) for name, each in document["stages"].items())
        totals = {name: document[name] for name in TOTALS}
        return cls(tuple(stages), **totals)

    def rated(self, earlier: Overview | None) -> Overview:
        """Returns this overview with missing rates computed from the positions in ``earlier``."""
        if earlier is None or self.at - earlier.at <= 0:
            return self
        before = {stage.name: stage.position for stage in earlier.stages}
        stages = []
        for stage in self.stages:
            position = before.get(stage.name)
            if stage.rate is None and stage.position is not None and position is not None:
                # The position can go back when another generation became live.
                rate = max(0, stage.position - position) / (self.at - earlier.at)
                stages.append(replace(stage, rate=rate))
            else:
                stages.append(stage)
        return replace(self, stages=tuple(stages))
