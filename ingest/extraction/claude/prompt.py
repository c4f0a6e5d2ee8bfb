"""The prompt: a stable part, then the part that changes with every session batch.

The stable part is rendered once, so its bytes are equal in every request and the server can cache it. Its version is
the author's number and a hash over the stable part, the tool description and the schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any
from zoneinfo import ZoneInfo

from events.language.concepts import all_concepts
from events.types.turn_contract import local_said_at
from events.types.turns import TurnRecorded
from ingest.extraction.claude import schema
from ingest.extraction.extractor_port import SessionBatch
from ingest.extraction.grounding import without_memory_blocks

TOOL = "record_cards"
_DESCRIPTION = (
    "Write down the cards of the turns. Call it exactly once; lists are empty where there is nothing."
)
_NUMBER = re.compile(r'<extraction_prompt version="(\d+)">')
_MOST_ALIASES = 5
_LONGEST_CONTEXT = 600  # Characters of an earlier turn that the model sees.


@cache
def system() -> str:
    """Returns the stable part with the concept keys."""
    text = files("ingest.extraction.claude").joinpath("prompt.xml").read_text("utf-8")
    keys = "\n".join(
        f"{one.key} ({'one' if one.cardinality == 'single_value' else 'many'}): {', '.join(_few(one.aliases))}"
        for one in all_concepts()
    )
    return text.replace("{concept_keys}", keys)


@cache
def version() -> str:
    """Returns ``claude-<number>-<hash>``. It changes with every byte of the stable part or of the schema."""
    number = _NUMBER.search(system())
    assert number is not None, "prompt.xml begins with its version"
    digest = sha256(f"{system()}\0{_DESCRIPTION}\0{schema.TEXT}".encode()).hexdigest()
    return f"claude-{number[1]}-{digest[:8]}"


def tool() -> dict[str, Any]:
    """Returns the tool whose input is the answer."""
    return {"name": TOOL, "description": _DESCRIPTION, "input_schema": schema.SCHEMA}


def question(batch: SessionBatch) -> str:
    """Returns the changing part: known concept keys, earlier turns, the current time and the turns, all as data."""
    parts = []
    if batch.known_concepts:
        parts.append(
            f"<known_concepts>{escape(', '.join(batch.known_concepts), quote=False)}</known_concepts>"
        )
    if batch.preceding:
        earlier = "\n".join(
            _element("turn", recorded.turn, _spoken(recorded.turn)[:_LONGEST_CONTEXT])
            for recorded in batch.preceding
        )
        parts.append(f"<earlier_turns>\n{earlier}\n</earlier_turns>")
    parts.append(f"<current_time>{clock(batch.turns[-1].turn)}</current_time>")
    turns = "\n".join(
        _element("turn", recorded.turn, _spoken(recorded.turn), number)
        for number, recorded in enumerate(batch.turns, 1)
    )
    parts.append(f"<turns>\n{turns}\n</turns>")
    return "\n".join(parts)


def about_tokens(text: str) -> int:
    """Returns a rough number of tokens: one for four ASCII characters, one for each other character."""
    latin = sum(map(str.isascii, text))
    return latin // 4 + len(text) - latin


def clock(turn: TurnRecorded) -> str:
    """Returns the local time of a turn with its zone: ``2026-05-08T16:44:10+08:00 (Asia/Taipei)``."""
    local = local_said_at(turn)
    return f"{local.isoformat(timespec='seconds')} ({_zone(local)})"


def _zone(instant: datetime) -> str:
    zone = instant.tzinfo
    return zone.key if isinstance(zone, ZoneInfo) else instant.tzname() or "UTC"


def _spoken(turn: TurnRecorded) -> str:
    """Returns the words of a turn without memory blocks."""
    return without_memory_blocks(turn.text).strip()


def _element(name: str, turn: TurnRecorded, words: str, number: int | None = None) -> str:
    """Returns a turn as an XML element. All text is escaped, so no words can close the element."""
    attributes = [("role", turn.role), ("said_at", local_said_at(turn).isoformat(timespec="seconds"))]
    if number is not None:
        attributes.insert(0, ("n", str(number)))
    if turn.speaker:
        attributes.append(("speaker", " ".join(turn.speaker.split())))
    head = "".join(f' {key}="{escape(value)}"' for key, value in attributes)
    return f"<{name}{head}>{escape(words, quote=False)}</{name}>"


def _few(aliases: Iterable[str]) -> list[str]:
    """Returns up to five aliases, Latin and Chinese. The model knows many languages and needs only examples."""
    latin = [alias for alias in aliases if alias.isascii()]
    chinese = [alias for alias in aliases if not alias.isascii()]
    return [*latin[:3], *chinese[: _MOST_ALIASES - min(3, len(latin))]]
