"""The answer to a push of turns, and turns as they were recorded."""

from typing import Literal
from uuid import UUID

from pydantic import AwareDatetime, Field

from events.resources.resource import Absent, Resource
from events.types.turns import ContextLayer, Direction, Role


class Pushed(Resource):
    """The turns are on the queue. ``duplicates`` names the turns whose turn_id was accepted before."""

    turn_ids: list[str]
    duplicates: list[str]
    token: str | None = Field(
        description="give the token to a recall's wait_for to read these turns; null when Postgres has been away since "
        "this service started, because the key of tokens is in Postgres"
    )


class RecordedTurn(Resource):
    """A turn as the app pushed it. ``mode`` is the mode that the app gave, if any."""

    turn_id: str
    text: str
    role: Role
    said_at: AwareDatetime
    timezone: str
    session_id: str
    project_id: str
    speaker: str | None
    agent_id: str | None
    document_id: str | None
    context_layer: ContextLayer | None
    mode: str | None
    metadata: dict[str, object] | None
    contact: str | None
    direction: Direction | None
    recorded_at: AwareDatetime


TurnStage = Literal["recorded", "extracted", "projected", "embedded", "dead", "late"]


class TurnEvent(Resource):
    """What became of a turn. ``embedded``, ``dead`` and ``late`` are the last events of a stream."""

    stage: TurnStage
    turn_id: str
    cards: Absent[list[UUID]] = Field(None, description="projected: the first 500 cards of the turn")
    reason: Absent[str] = Field(
        None, description="dead: why the turn goes no further; late: which stage is awaited"
    )


class TurnsPage(Resource):
    """Turns of a session, the latest first."""

    turns: list[RecordedTurn]
    next_cursor: int | None
