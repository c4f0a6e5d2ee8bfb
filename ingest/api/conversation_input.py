"""A conversation in one request: fields that all its messages share, and the messages as chat APIs write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from events.http.errors import invalid
from events.types.turn_contract import FIELDS, MAX_TEXT_BYTES
from ingest.api.turn_fields import MAX_TURNS, Name, TurnFields, UserId

_TEXT, _CONTENT, _SPEAKER, _NAME = "text", "content", "speaker", "name"
_ROLES = {"developer": "system"}
"""Roles of chat APIs that the turn contract calls otherwise."""
_OF_MESSAGES = (_CONTENT, _NAME, *(name for name in FIELDS if name not in (_TEXT, "user_id")))
_OF_CONVERSATIONS = tuple(name for name in FIELDS if name not in (_TEXT, "turn_id", "role", _SPEAKER))


class TextPart(BaseModel, extra="forbid"):
    """A part of a message."""

    type: Literal["text"]
    text: str


class MessageIn(TurnFields):
    """One message. Its fields win over those of the conversation."""

    content: Annotated[
        Annotated[str, Field(min_length=1, max_length=MAX_TEXT_BYTES)]
        | Annotated[list[TextPart], Field(min_length=1, max_length=MAX_TURNS)],
        Field(description="the words of the message; text parts are joined with line breaks"),
    ]
    role: Literal["user", "assistant", "system", "developer", ""] | None = Field(
        "user",
        description="who speaks; a message of the roles system and developer is recorded and makes no card",
    )
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
    for name in shared:
        if name not in _OF_CONVERSATIONS:
            raise invalid(
                name[:40],
                f"is not a field of a conversation; allowed are messages, {', '.join(_OF_CONVERSATIONS)}",
            )
    messages = conversation["messages"]
    if not isinstance(messages, list):
        raise invalid("messages", 'must be a list of messages, such as {"role": "user", "content": "Hello"}')
    if not messages:
        raise invalid("messages", "is an empty list; give at least one message")
    return [_turn(message, shared, index) for index, message in enumerate(messages)]


def field_of_message(field: str, message: Mapping[str, object]) -> str:
    """Returns the name that ``field`` of a turn has in its message."""
    if field == _SPEAKER and message.get(_SPEAKER) is None:
        return _NAME
    return _CONTENT if field == _TEXT else field


def _turn(message: object, shared: Mapping[str, object], index: int) -> object:
    if not isinstance(message, dict):
        raise invalid("messages", "must be a list of objects", index=index)
    for name in message:
        if name not in _OF_MESSAGES:
            raise invalid(
                name[:40],
                f"is not a field of a message; allowed are {', '.join(_OF_MESSAGES)}",
                index=index,
            )
    own = {name: value for name, value in message.items() if value is not None}
    turn = {**shared, **own}
    turn[_TEXT] = _words(turn.pop(_CONTENT, None), index)
    if (name := turn.pop(_NAME, None)) is not None:
        turn.setdefault(_SPEAKER, name)
    role = turn.get("role")
    if isinstance(role, str) and role in _ROLES:
        turn["role"] = _ROLES[role]
    return turn


def _words(content: object, index: int) -> str:
    """Returns the words of a message."""
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


def conversation_schema() -> dict[str, object]:
    """Returns the JSON Schema of a conversation, with every part at its place."""
    schema = ConversationIn.model_json_schema()
    parts = schema.pop("$defs")

    def placed(value: object) -> Any:
        if isinstance(value, dict):
            if "$ref" in value:
                return placed(parts[value["$ref"].rpartition("/")[2]])
            return {name: placed(each) for name, each in value.items()}
        return [placed(each) for each in value] if isinstance(value, list) else value

    placed_schema: dict[str, Any] = placed(schema)
    return placed_schema
