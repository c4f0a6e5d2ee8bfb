"""Hooks of assistants: the question that an event asks, and the turns that it tells."""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal

from pydantic import Field

from events.http.body import Body
from events.types.turn_contract import MAX_NAME_BYTES, MAX_TEXT_BYTES, TurnInvalidError, fields_of, parse_turn

MAX_QUESTION_BYTES = 16 * 1024
_ELLIPSIS = "\n…\n"
_ALWAYS = frozenset(("core", "current_time"))
"""The blocks of a prompt without any memory."""
logger = logging.getLogger(__name__)
Assistant = Literal["claude-code", "codex", "gemini-cli"]
STARTS = "SessionStart"
PROMPTS = frozenset(("UserPromptSubmit", "BeforeAgent"))
ENDS = frozenset(("Stop", "AfterAgent", "PreCompact", "PreCompress", "SessionEnd"))
"""The events that count, as Claude Code and Codex name them, and as Gemini CLI does."""
FIRST_QUESTION = "What do you know about me?"
_ROLES = ("user", "assistant")
_NOT_SPOKEN = ("isMeta", "isSidechain", "isCompactSummary")
"""The marks of a transcript's line that the assistant wrote for itself, or a helper of its own."""
# What an assistant puts in the place of the user's words: an element with a name of several words, a mark of an
# interruption, or a command alone. Possessive and atomic, so that its time is linear.
_NOT_TYPED = re.compile(
    r"(?>\s*(?:<([a-z]+(?:[-_][a-z]+)+)>.*?</\1>|\[Request interrupted by user[^\]]*\]))++\s*|/[\w:.-]+",
    re.DOTALL,
)
_OPTIONAL = frozenset(("said_at", "timezone"))
"""The fields without which a turn still says what it says."""


def words_of(content: object, kind: str = "text") -> str:
    """Returns the words of a message: a text, or its parts of one ``kind``. Calls of tools and results are no words."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == kind)
    return "\n".join(text for text in texts if isinstance(text, str))


def cut(text: str, most: int) -> str:
    """Returns at most ``most`` bytes of the text, in whole characters.

    A longer text keeps its beginning and its end, with an ellipsis on a line between them.
    """
    whole = text.encode("utf-8", "replace")
    if len(whole) <= most:
        return whole.decode()
    half = (most - len(_ELLIPSIS.encode())) // 2
    return _ELLIPSIS.join(part.decode("utf-8", "ignore") for part in (whole[:half], whole[-half:]))


def turn_of(words: str, fields: Mapping[str, object], *, source: str) -> dict[str, str] | None:
    """Returns the turn of ``words`` with further ``fields``, or None when it breaks the turn contract.

    Words above the limit of the contract are cut. A turn of all projects is one of the default project. A time and a
    time zone that cannot be read are left out. The log names the ``source`` of the turn, the field and the reason.
    """
    if fields.get("project_id") == "*":
        fields = {**fields, "project_id": None}
    try:
        turn = fields_of({**fields, "text": cut(words, MAX_TEXT_BYTES)})
        parse_turn(turn, entry_time=datetime.now(UTC), entry_id="0-0")
    except TurnInvalidError as error:
        if error.field in _OPTIONAL and fields.get(error.field) is not None:
            logger.warning("a turn of %s goes on without its %s", source, error)
            return turn_of(words, {**fields, error.field: None}, source=source)
        logger.warning("a turn of %s is left out: %s", source, error)
        return None
    return turn


def knows_something(blocks: Iterable[str]) -> bool:
    """True when a prompt with blocks of these names tells something of the memory."""
    return any(name not in _ALWAYS for name in blocks)


class HookEvent(
    Body,
    extra="ignore",
    json_schema_extra={
        "examples": [
            {
                "hook_event_name": "UserPromptSubmit",
                "session_id": "a4f1",
                "prompt": "Where did I leave the migration?",
            }
        ]
    },
):
    """An event of a hook. Fields that Cardlog does not use are ignored; no file that the event names is read."""

    hook_event_name: str = Field(description="the event; one that Cardlog does not know changes nothing")
    session_id: str = Field(max_length=MAX_NAME_BYTES, description="the conversation")
    prompt: str | None = Field(None, description="the words of the user")
    last_assistant_message: str | None = Field(None, description="the answer of the assistant")
    prompt_response: str | None = Field(None, description="the answer of the assistant, in Gemini CLI")
    messages: list[dict[str, Any]] | None = Field(
        None, description="messages of the transcript: its lines, or objects with role and content"
    )
    timestamp: str | None = Field(None, description="the time of the event, ISO 8601")

    @property
    def question(self) -> str:
        """What the event asks the memory; an empty text when it asks nothing."""
        if self.hook_event_name == STARTS:
            return FIRST_QUESTION
        if self.hook_event_name not in PROMPTS:
            return ""
        words = (self.prompt or "").strip()
        return "" if _NOT_TYPED.fullmatch(words) else cut(words, MAX_QUESTION_BYTES)

    def turns(self, assistant: Assistant, **fields: str | None) -> list[dict[str, str]]:
        """Returns the turns that the event carries, each once. ``fields`` are those that all of them have.

        The same words of one speaker in one session are one turn, so any event may come twice. A turn that breaks the
        turn contract is left out, and the log of the service says so.
        """
        if self.hook_event_name not in PROMPTS | ENDS:
            return []
        found: dict[str, dict[str, str]] = {}
        for role, words, said_at in self._said():
            text = words.strip()
            if not text or (role == "user" and _NOT_TYPED.fullmatch(text)):
                continue
            named = "\0".join((self.session_id, role, text)).encode()
            turn_id = f"hook-{sha256(named).hexdigest()[:32]}"
            whole = {
                **fields,
                "role": role,
                "session_id": self.session_id,
                "agent_id": assistant,
                "turn_id": turn_id,
            }
            turn = turn_of(text, whole | {"said_at": said_at}, source=f"a hook of {assistant}")
            if turn is not None:
                found.setdefault(turn_id, turn)
        return list(found.values())

    def _said(self) -> Iterator[tuple[str, str, str | None]]:
        """Yields role, words and time of every message, in order."""
        for line in self.messages or ():
            message = line.get("message")
            message = message if isinstance(message, dict) else line
            role = message.get("role") or line.get("type")
            if role in _ROLES and not any(map(line.get, _NOT_SPOKEN)):
                said_at = line.get("timestamp")
                yield role, words_of(message.get("content")), said_at if isinstance(said_at, str) else None
        if self.prompt is not None:
            yield "user", self.prompt, None
        answer = self.last_assistant_message or self.prompt_response
        if answer is not None:
            yield "assistant", answer, self.timestamp
