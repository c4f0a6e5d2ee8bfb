"""The answer to a push of turns."""

from __future__ import annotations

from pydantic import Field

from events.resources.resource import Resource


class Pushed(Resource):
    """The turns are on the queue. ``duplicates`` names the turns whose turn_id was accepted before."""

    turn_ids: list[str]
    duplicates: list[str]
    token: str | None = Field(
        description="give the token to a recall's wait_for to read these turns; null when Postgres has been away since "
        "this service started, because the key of tokens is in Postgres"
    )
