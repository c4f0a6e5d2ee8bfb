"""The health of the stages, of the recall channels and of the embedder."""

from typing import Literal

from pydantic import AwareDatetime, Field

from events.resources.recall import Channels
from events.resources.resource import Resource

HealthStatus = Literal["running", "waiting", "stuck", "stopped", "building", "abandoned", "unknown"]


class BlockedEmbedder(Resource):
    """An embedder that gives no vectors, and the number of cards that wait for it."""

    mode: str
    reason: str
    cards: int


class StageHealth(Resource):
    """The health of one stage. null is unknown."""

    behind: int | None = Field(description="turns in the queue or events in the log that wait for the stage")
    seconds: float | None = Field(description="age of the oldest of them")
    state: HealthStatus
    detail: str | None
    rate: float | None = Field(description="turns or events per second")
    parked: int | None
    dead: int | None
    error: str | None
    error_at: AwareDatetime | None
    workers: int | None = Field(description="workers alive")
    position: int | None = Field(description="turns or events that the stage ever processed")
    stalled_s: float | None = Field(description="how long the stage has had work and done none")
    pending: int | None = Field(description="cards without a vector whose events were processed")
    pending_s: float | None
    blocked: list[BlockedEmbedder]


class Stages(Resource, use_attribute_docstrings=True):
    """The health of every stage at one moment. null is unknown, never zero."""

    well: bool
    """true when nothing needs an operator, as far as the service sees: see whole"""
    whole: bool
    """false when the service's database role sees one tenant at a time: no ages, no parked events"""
    stages: dict[str, StageHealth]
    events: int | None = Field(description="events in the log")
    parked: int | None
    dead: int | None
    recorded: int | None
    duplicates: int | None
    lost: int | None
    """turns that somebody deleted from the queue before they were recorded"""


class EmbedderReport(Resource):
    """``model`` and ``fingerprint`` are of the live vectors, and ``wanted`` is the model of the settings. null: there
    are no vectors yet."""

    model: str | None
    fingerprint: str | None
    wanted: str


class Status(Stages):
    """The health of every stage, of the recall channels of this service, and of the embedder."""

    channels: Channels
    embedder: EmbedderReport | None
    servers: dict[str, str] = Field(description="addresses of the servers, without passwords")
