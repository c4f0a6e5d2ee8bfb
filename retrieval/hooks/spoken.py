"""What was said, as the APIs of models and assistants write it, and the turns that it becomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from events.types.turn_contract import MAX_TEXT_BYTES, TurnInvalidError, fields_of, parse_turn

MAX_QUESTION_BYTES = 16 * 1024
_ALWAYS = frozenset(("core", "current_time"))
"""The blocks of a prompt without any memory."""


def words_of(content: object, kind: str = "text") -> str:
    """Returns the words of a message: a text, or its parts of one ``kind``. Calls of tools and results are no words."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == kind)
    return "\n".join(text for text in texts if isinstance(text, str))


def cut(text: str, most: int) -> str:
    """Returns at most ``most`` bytes of the text, in whole characters."""
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


def turn_of(words: str, fields: Mapping[str, object]) -> dict[str, str] | None:
    """Returns the turn of ``words`` with further ``fields``, or None when it breaks the turn contract.

    Words above the limit of the contract are cut there.
    """
    try:
        turn = fields_of({**fields, "text": cut(words, MAX_TEXT_BYTES)})
        parse_turn(turn, entry_time=datetime.now(UTC), entry_id="0-0")
    except TurnInvalidError:
        return None
    return turn


def knows_something(blocks: Iterable[str]) -> bool:
    """True when a prompt with blocks of these names tells something of the memory."""
    return any(name not in _ALWAYS for name in blocks)
