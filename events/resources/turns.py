"""The answer to a push of turns, recorded turns, their sessions, and the episodes that hold their words."""

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


class SessionCheckpoint(Resource):
    """The state of a session, as an assistant saved it last."""

    session_id: str
    project_id: str
    state: dict[str, object] = Field(description="the state, as it was given")
    version: int = Field(ge=1, description="the number of checkpoints of the session so far")
    saved_at: AwareDatetime
    actor: str


class Session(Resource):
    """A conversation: when its first and its last turn were said, and the number of its turns."""

    session_id: str
    project_id: str
    first_said_at: AwareDatetime
    last_said_at: AwareDatetime
    turns: int = Field(ge=1)


class SessionsPage(Resource):
    """Sessions of a user, the latest spoken in first."""

    sessions: list[Session]
    next_cursor: int | None


class Explanation(Resource):
    """Why an episode has its score: 3 for each topic, 4 for each path, and the importance."""

    topics: list[str]
    paths: list[str]
    topic_points: int
    path_points: int
    importance: int


class Episode(Resource):
    """The words of a turn. ``related_paths`` are the places in the core document that its concepts touch."""

    card_id: UUID
    content: str
    occurred_at: AwareDatetime
    said_at: AwareDatetime
    speaker: str | None
    topics: list[str]
    sentiment: str | None
    importance: int | None
    related_paths: list[str]
    turn_ids: list[str]
    session_id: str
    project_id: str
    score: int
    explanation: Explanation


class EpisodesPage(Resource):
    """Episodes, the best score first."""

    episodes: list[Episode]
