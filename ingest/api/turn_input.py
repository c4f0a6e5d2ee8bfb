"""The turns of a request: the schema of the OpenAPI document, and the check of the turn contract."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from events.access.principal import Principal, Reach
from events.http.access import owner_of
from events.http.errors import invalid, missing
from events.types.turn_contract import MAX_TEXT_BYTES, TurnInvalidError, fields_of, parse_turn
from ingest.api.conversation_input import conversation_schema, field_of_message, turns_said
from ingest.api.turn_fields import MAX_TURNS, Name, TurnFields, UserId


class TurnIn(
    TurnFields,
    json_schema_extra={
        "examples": [
            {
                "user_id": "ada",
                "text": "I moved to Lisbon last week.",
                "said_at": "2026-05-08T16:44:10+08:00",
                "timezone": "Asia/Taipei",
            }
        ]
    },
):
    """One message of a conversation. Blank text in an optional field counts as none."""

    user_id: UserId = Field(description="whose memory this is")
    text: str = Field(
        min_length=1,
        max_length=MAX_TEXT_BYTES,
        description="the words of the message, at most 64 KiB of UTF-8",
    )
    role: Literal["user", "assistant", "system", ""] | None = Field(
        "user", description="who speaks; a turn of the role system is recorded and makes no card"
    )
    speaker: Name | None = Field(None, description="the person who speaks, when several people speak")
    turn_id: Annotated[
        Name | None, Field(description="idempotency key within the user; default: an id made by the service")
    ] = None


def turns_of(body: Any) -> list[dict[str, str]]:
    """Returns the turns of a request as fields for the Redis stream.

    ``body`` is a turn, a list of turns, or a conversation with ``messages``. Raises a 422 :class:`ProblemError`
    that names field and index when any turn breaks the contract.
    """
    conversation = isinstance(body, dict) and "messages" in body
    several = conversation or isinstance(body, list)
    items = turns_said(body) if conversation else body if several else [body]
    if not items:
        raise invalid("(body)", "is an empty list; give at least one turn")
    if len(items) > MAX_TURNS:
        raise invalid("(body)", f"holds {len(items)} turns; at most {MAX_TURNS} are allowed in one request")
    now = datetime.now(UTC)
    turns = []
    for index, item in enumerate(items):
        where = {"index": index} if several else {}
        if not isinstance(item, dict):
            raise invalid("(body)", "must be an object, or a list of objects", **where)
        try:
            turn = fields_of(item)
            parse_turn(turn, entry_time=now, entry_id="0-0")
        except TurnInvalidError as error:
            field = error.field
            if conversation:
                field = field_of_message(field, body["messages"][index])
            raise invalid(field, error.reason, **where) from None
        turns.append(turn)
    return turns


def refuse_unreached(turns: Sequence[dict[str, str]], caller: Principal) -> None:
    """Raises the 404 problem of a missing user, project or mode when the key is limited to others."""
    projects, modes = Reach(projects=caller.projects), Reach(modes=caller.modes)
    for index, turn in enumerate(turns):
        where: dict[str, Any] = {"index": index} if len(turns) > 1 else {}
        # A blank name counts as none, as in the turn contract.
        project = turn["project_id"] if turn.get("project_id", "").strip() else "default"
        mode = turn["mode"] if turn.get("mode", "").strip() else None
        owner_of(caller, turn["user_id"], **where)
        if not projects.admits(project, mode):
            raise missing("project", "project_id", **where)
        if not modes.admits(project, mode):
            raise missing("mode", "mode", **where)


def body_schema() -> dict[str, Any]:
    """Returns the JSON Schema of the body: a turn, a list of turns, or a conversation."""
    turn = TurnIn.model_json_schema()
    # The schema is part of the document of the service, so the parts of a conversation are at their places.
    conversation = conversation_schema()
    return {
        "oneOf": [turn, {"type": "array", "items": turn, "minItems": 1, "maxItems": MAX_TURNS}, conversation]
    }
