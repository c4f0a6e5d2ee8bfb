"""The prompt: a stable part, then the part that changes with every session batch.

The stable part is rendered once, so its bytes are equal in every request and the server can cache it. Its version is
the author's number and a hash over the stable part, the tool description and the schema.
"""

import json
import re
from datetime import date, datetime
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from zoneinfo import ZoneInfo

from events.language.concepts import all_concepts
from events.types.cards import Cardinality
from events.types.turn_contract import local_said_at
from events.types.turns import TurnRecorded
from ingest.extraction.claude import schema
from ingest.extraction.claude.known_labels import KnownLabels
from ingest.extraction.claude.model_client import Prompt
from ingest.extraction.earlier_turns import needed_turns
from ingest.extraction.extractor_port import SessionBatch
from ingest.extraction.memory_blocks import without_memory_blocks

TOOL = "record_cards"
_DESCRIPTION = (
    "Write down the cards of the turns. Call it exactly once; lists are empty where there is nothing."
)
_NUMBER = re.compile(r'<extraction_prompt version="(\d+)">')
_LONGEST_CONTEXT = 240  # Characters of an earlier turn that the model sees.
# The registry has these keys for the rules and for questions. The model treats them as events, which have no keys.
_NO_STATES = frozenset(
    ("activity", "decision", "goal", "meeting", "milestone", "plan", "travelled_to", "wish")
)
# A model reaches these keys through other words. Another stable part would need other recorded readings.
_BY_ALIAS = frozenset(("avoids", "bedtime"))


@cache
def system() -> str:
    """Returns the stable part with the concept keys."""
    text = files("ingest.extraction.claude").joinpath("prompt.xml").read_text("utf-8")
    keys = f"single_value: {', '.join(_keys('single_value'))}\nmulti_value: {', '.join(_keys('multi_value'))}"
    return text.replace("{concept_keys}", keys)


@cache
def version() -> str:
    """Returns ``claude-<number>-<hash>``. It changes with every byte of the stable part or of the schema."""
    number = _NUMBER.search(system())
    assert number is not None, "prompt.xml begins with its version"
    digest = sha256(f"{system()}\0{_DESCRIPTION}\0{schema.TEXT}".encode()).hexdigest()
    return f"claude-{number[1]}-{digest[:8]}"


@cache
def system_with_modes() -> str:
    """Returns the stable part for turns of a user who has modes."""
    section = files("ingest.extraction.claude").joinpath("prompt_modes.xml").read_text("utf-8")
    return f"{system()}\n{section}"


@cache
def modes_version() -> str:
    """Returns ``modes-<hash>``, which changes with every byte that the stable part and the schema have for modes."""
    section = system_with_modes()[len(system()) :]
    return f"modes-{sha256(f'{section}{json.dumps(schema.WITH_MODES)}'.encode()).hexdigest()[:8]}"


def tool(*, with_modes: bool = False) -> dict[str, object]:
    """Returns the tool whose input is the answer."""
    shape = schema.WITH_MODES if with_modes else schema.SCHEMA
    return {"name": TOOL, "description": _DESCRIPTION, "input_schema": shape}


def asking(*, with_modes: bool = False) -> Prompt:
    """Returns what is equal in every call. ``with_modes``: the question names modes, and the answer gives them."""
    return Prompt(system_with_modes() if with_modes else system(), tool(with_modes=with_modes))


def question(batch: SessionBatch) -> str:
    """Returns the changing part, all as data: what is known and open, earlier turns, the current time and the turns.

    Earlier turns are shown only when the first turn leans on them.
    """
    parts = []
    for name, lines in KnownLabels(batch).sections().items():
        if lines:
            parts.append(f"<{name}>\n{lines}\n</{name}>")
    today = local_said_at(batch.turns[-1].turn).date()
    earlier = "\n".join(
        _element(recorded.turn, _clipped(_spoken(recorded.turn)), today) for recorded in needed_turns(batch)
    )
    if earlier:
        parts.append(f"<earlier_turns>\n{earlier}\n</earlier_turns>")
    if batch.modes:
        parts.append(f"<modes>\n{batch.modes.text}\n</modes>")
        if batch.modes.recent:
            recent = escape(", ".join(batch.modes.recent), quote=False)
            parts.append(f"<recent_modes>{recent}</recent_modes>")
    parts.append(f"<current_time>{clock(batch.turns[-1].turn)}</current_time>")
    turns = "\n".join(
        _element(recorded.turn, _spoken(recorded.turn), today, number)
        for number, recorded in enumerate(batch.turns, 1)
    )
    parts.append(f"<turns>\n{turns}\n</turns>")
    return "\n".join(parts)


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


def _element(turn: TurnRecorded, words: str, today: date, number: int | None = None) -> str:
    """Returns a turn as an XML element. All text is escaped, so no words can close the element.

    It names its number, a role other than the user, its speaker, and its instant when it is not of ``today``.
    """
    said_at = local_said_at(turn)
    attributes = {
        "n": str(number or ""),
        "role": "" if turn.role == "user" else turn.role,
        "said_at": "" if said_at.date() == today else said_at.isoformat(timespec="minutes"),
        "speaker": " ".join((turn.speaker or "").split()),
    }
    head = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items() if value)
    return f"<turn{head}>{escape(words, quote=False)}</turn>"


def _keys(cardinality: Cardinality) -> list[str]:
    """Returns the registered keys of states. Their aliases are understood in an answer and need no place here."""
    return [
        one.key
        for one in all_concepts()
        if one.cardinality == cardinality and one.key not in _NO_STATES | _BY_ALIAS
    ]


def _clipped(words: str) -> str:
    """Returns the beginning and the end of a long turn. A question that is answered next is often at the end."""
    if len(words) <= _LONGEST_CONTEXT:
        return words
    half = _LONGEST_CONTEXT // 2
    return f"{words[:half].rstrip()} … {words[-half:].lstrip()}"
