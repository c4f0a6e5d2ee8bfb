"""Conversations of LoCoMo as turns, their questions' evidence, and turns pushed into a started Cardlog."""

import re
import time
from typing import Any

from evaluation.answers.outside import locomo_row
from tests.support.stack import Running

_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


def turns_of(conversation: dict[str, Any]) -> list[dict[str, str]]:
    return [locomo_row(turn) | {"user_id": conversation["sample_id"]} for turn in conversation["turns"]]


def evidence_of(question: dict[str, Any]) -> set[str]:
    return {f"D{a}:{b}" for text in question["evidence"] for a, b in _EVIDENCE.findall(str(text))}


def push(running: Running, turns: list[dict[str, str]]) -> float:
    """Pushes, waits until all turns are projected, and returns the seconds."""
    began = time.monotonic()
    for start in range(0, len(turns), 500):
        running.push(*turns[start : start + 500])
    running.wait(within_s=900)
    return time.monotonic() - began
