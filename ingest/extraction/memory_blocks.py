"""Finds and removes the memory blocks that a turn quotes from a prompt."""

import re

# The blocks that a memory puts into a prompt. A turn that quotes a prompt brings the blocks back. A card that rests on
# such a block would repeat an older card.
_BLOCKS = (
    "state_cards|event_cards|knowledge_cards|knowledge_cards_referenced|relevant_memory|relevant_memories|"
    "memory|memories|aging_facts|contradiction_alert|current_time|recent_notes|user_profile|core_document|"
    "recent_turns|memory_context|core|guard_rules"
)
_CLOSED = re.compile(rf"</(?P<name>{_BLOCKS})\s*>", re.IGNORECASE)
_OPENED = re.compile(rf"<(?P<name>{_BLOCKS})\b[^<>]{{0,200}}>", re.IGNORECASE)
_NOT_NEWLINE = re.compile(r"[^\n]")


def memory_blocks(text: str) -> list[tuple[int, int]]:
    """Returns the spans of the outermost memory blocks, in order. The time is linear in the length of the text.

    An opening tag without its closing tag is a span of its own, because the words after it may be the speaker's.
    """
    if "<" not in text:
        return []
    closings: dict[str, list[int]] = {}
    for closed in _CLOSED.finditer(text):
        closings.setdefault(closed["name"].casefold(), []).append(closed.end())
    spans: list[tuple[int, int]] = []
    reached = 0
    for opened in _OPENED.finditer(text):
        if opened.start() < reached:
            continue
        ends = closings.get(opened["name"].casefold(), [])
        while ends and ends[0] < opened.end():
            ends.pop(0)
        reached = ends[0] if ends else opened.end()
        spans.append((opened.start(), reached))
    return spans


def without_memory_blocks(text: str) -> str:
    """Returns ``text`` with spaces in place of every memory block. Length, lines and offsets stay the same."""
    pieces: list[str] = []
    reached = 0
    for start, end in memory_blocks(text):
        pieces += (text[reached:start], _NOT_NEWLINE.sub(" ", text[start:end]))
        reached = end
    return "".join((*pieces, text[reached:])) if pieces else text
