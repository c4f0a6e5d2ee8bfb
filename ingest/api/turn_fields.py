"""The fields that a turn and a whole conversation may have in a request."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from events.http.instants import InstantOrBlank
from events.http.metadata import DESCRIPTION as METADATA
from events.types.turn_contract import MAX_NAME_BYTES

MAX_TURNS = 1000

UserId = Annotated[
    str, Field(min_length=1, max_length=MAX_NAME_BYTES, pattern=r"^[^\u0000\u001f]*\S[^\u0000\u001f]*$")
]
Name = Annotated[str, Field(max_length=MAX_NAME_BYTES)]


class TurnFields(BaseModel, extra="forbid"):
    """The fields besides the words. Blank text counts as none."""

    session_id: Name | None = "default"
    project_id: Name | None = "default"
    agent_id: Name | None = None
    document_id: Name | None = None
    context_layer: Literal["personal", "work", "social", ""] | None = None
    mode: Name | None = None
    said_at: Annotated[
        InstantOrBlank | None,
        Field(
            description="ISO 8601 with an offset, such as 2026-05-08T16:44:10+08:00, at most a day after the arrival; "
            "default: the time of arrival"
        ),
    ] = None
    timezone: Annotated[str | None, Field(description="IANA name of the speaker's time zone")] = "UTC"
    metadata: Annotated[
        dict[str, object] | None, Field(description=METADATA, examples=[{"ticket": "A-17"}])
    ] = None
