"""The turns of a request: the schema of the OpenAPI document, and the check of the turn contract."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field

from events.access.principal import Principal, Reach
from events.http.access import owner_of
from events.http.body import Body
from events.http.errors import invalid, missing
from events.http.fields import METADATA, InstantOrBlank
from events.types.turn_contract import (
    FIELDS,
    MAX_NAME_BYTES,
    MAX_TEXT_BYTES,
    ROLES,
    TurnInvalidError,
    fields_of,
    parse_turn,
)

MAX_TURNS = 1000

UserId = Annotated[
    str, Field(min_length=1, max_length=MAX_NAME_BYTES, pattern=r"^[^\u0000\u001f]*\S[^\u0000\u001f]*$")
]
Name = Annotated[str, Field(max_length=MAX_NAME_BYTES)]


class TurnFields(Body):
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
    timezone: Annotated[
        str | None,
        Field(description="IANA name of the speaker's time zone; default: the offset of said_at, else UTC"),
    ] = None
    contact: Annotated[
        Name | None, Field(description="the person or the group at the other end of a chat between people")
    ] = None
    direction: Annotated[
        Literal["incoming", "outgoing", ""] | None,
        Field(
            description="incoming: the contact sent the words, or the speaker in a group. Such words state nothing of "
            "the user; contact is required"
        ),
    ] = None
    metadata: Annotated[
        dict[str, object] | None, Field(description=METADATA, examples=[{"ticket": "A-17"}])
    ] = None


_TEXT, _CONTENT, _SPEAKER, _NAME = "text", "content", "speaker", "name"
_ROLES = {"developer": "system"}
"""Roles of chat APIs that the turn contract calls otherwise."""
_OF_MESSAGES = (_CONTENT, _NAME, *(name for name in FIELDS if name not in (_TEXT, "user_id")))
_OF_CONVERSATIONS = tuple(name for name in FIELDS if name not in (_TEXT, "turn_id", "role", _SPEAKER))


class TextPart(Body):
    """A part of a message."""

    type: Literal["text"]
    text: str


class MessageIn(TurnFields):
    """One message. Its fields win over those of the conversation."""

    content: (
        Annotated[str, Field(min_length=1, max_length=MAX_TEXT_BYTES)]
        | Annotated[list[TextPart], Field(min_length=1, max_length=MAX_TURNS)]
    )
    """the words of the message; text parts are joined with line breaks"""
    role: Literal["user", "assistant", "system", "developer", ""] | None = "user"
    """who speaks; a message of the roles system and developer is recorded and makes no card"""
    name: Annotated[Name | None, Field(description="the person who speaks")] = None
    speaker: Annotated[Name | None, Field(description="the same as name")] = None
    turn_id: Annotated[Name | None, Field(description="idempotency key within the user")] = None


class ConversationIn(
    TurnFields,
    json_schema_extra={
        "examples": [
            {
                "user_id": "ada",
                "session_id": "chat-7",
                "messages": [
                    {"role": "user", "content": "I moved to Lisbon last week."},
                    {"role": "assistant", "content": "How do you like it?"},
                ],
            }
        ]
    },
):
    """A conversation. The messages share its other fields, and are turns in their order."""

    user_id: UserId = Field(description="whose memory this is")
    messages: Annotated[list[MessageIn], Field(min_length=1, max_length=MAX_TURNS)]


def turns_said(conversation: Mapping[str, object]) -> list[object]:
    """Returns the messages of a conversation as turns that are not checked yet. Raises a 422 problem."""
    shared = {name: value for name, value in conversation.items() if name != "messages"}
    _refuse_unknown(shared, "conversation", ("messages", *_OF_CONVERSATIONS))
    messages = conversation["messages"]
    if not isinstance(messages, list):
        raise invalid("messages", 'must be a list of messages, such as {"role": "user", "content": "Hello"}')
    if not messages:
        raise invalid("messages", "is an empty list; give at least one message")
    return [_turn(message, shared, index) for index, message in enumerate(messages)]


def _refuse_unknown(given: Mapping[str, object], what: str, allowed: Sequence[str], **where: int) -> None:
    for name in given:
        if name not in allowed:
            raise invalid(name[:40], f"is not a field of a {what}; allowed are {', '.join(allowed)}", **where)


def field_of_message(field: str, message: Mapping[str, object]) -> str:
    """Returns the name that ``field`` of a turn has in its message."""
    if field == _SPEAKER and message.get(_SPEAKER) is None:
        return _NAME
    return _CONTENT if field == _TEXT else field


def _turn(message: object, shared: Mapping[str, object], index: int) -> object:
    if not isinstance(message, dict):
        raise invalid("messages", "must be a list of objects", index=index)
    _refuse_unknown(message, "message", _OF_MESSAGES, index=index)
    own = {name: value for name, value in message.items() if value is not None}
    turn = {**shared, **own}
    turn[_TEXT] = _words(turn.pop(_CONTENT, None), index)
    if (name := turn.pop(_NAME, None)) is not None:
        turn.setdefault(_SPEAKER, name)
    role = turn.get("role")
    if isinstance(role, str) and role in _ROLES:
        turn["role"] = _ROLES[role]
    elif isinstance(role, str) and role.strip() not in ("", *ROLES):
        raise invalid("role", f"is {role[:40]!r}; use one of {', '.join((*ROLES, *_ROLES))}", index=index)
    return turn


def _words(content: object, index: int) -> str:
    if isinstance(content, str):
        return content
    if content is None:
        raise invalid(_CONTENT, "is required", index=index)
    if not isinstance(content, list) or not content:
        raise invalid(_CONTENT, 'must be a string, or a list of {"type": "text", "text": …}', index=index)
    words = []
    for part in content:
        if not isinstance(part, dict) or part.get("type") != "text" or not isinstance(part.get("text"), str):
            raise invalid(_CONTENT, "holds a part that is no text; send only the text parts", index=index)
        if unknown := part.keys() - {"type", "text"}:
            raise invalid(
                _CONTENT, f"holds a part with the field {min(unknown)[:40]!r}; leave it out", index=index
            )
        words.append(part["text"])
    return "\n".join(words)


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
    text: str = Field(min_length=1, max_length=MAX_TEXT_BYTES)
    """the words of the message, at most 64 KiB of UTF-8"""
    role: Literal["user", "assistant", "system", ""] | None = "user"
    """who speaks; a turn of the role system is recorded and makes no card"""
    speaker: Name | None = Field(None, description="the person who speaks, when several people speak")
    turn_id: Name | None = None
    """idempotency key within the user; default: an id made by the service"""


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


@cache
def body_schema() -> dict[str, object]:
    """Returns the JSON Schema of the body: a turn, a list of turns, or a conversation."""
    turn, conversation = TurnIn.model_json_schema(), ConversationIn.model_json_schema()
    parts = conversation.pop("$defs")

    def placed(value: object) -> Any:
        if isinstance(value, dict):
            if "$ref" in value:
                return placed(parts[value["$ref"].rpartition("/")[2]])
            return {name: placed(each) for name, each in value.items()}
        return [placed(each) for each in value] if isinstance(value, list) else value

    turns = {"type": "array", "items": turn, "minItems": 1, "maxItems": MAX_TURNS}
    # The schema is part of the document of the service, so the parts of a conversation are at their places.
    return {"oneOf": [turn, turns, placed(conversation)]}
