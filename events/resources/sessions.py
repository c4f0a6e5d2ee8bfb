"""Sessions, and the saved state of a session."""

from pydantic import AwareDatetime, Field

from events.resources.resource import Resource


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
