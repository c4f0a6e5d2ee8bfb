"""The saved state of a session."""

from __future__ import annotations

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
