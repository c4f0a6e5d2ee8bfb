"""Conversations of LoCoMo as turns, their questions' evidence, and turns pushed into a started Cardlog."""

import re
import time
from datetime import UTC, datetime
from typing import Any

import httpx2

from tests.support.stack import Running

_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


def turns_of(conversation: dict[str, Any]) -> list[dict[str, str]]:
    turns = []
    for turn in conversation["turns"]:
        said = datetime.strptime(turn["session_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        caption = f" [{turn['caption']}]" if turn.get("caption") else ""
        turns.append(
            {
                "user_id": conversation["sample_id"],
                "text": turn["text"] + caption,
                "speaker": turn["speaker"],
                "session_id": f"session {turn['session']}",
                "said_at": said.isoformat(),
                "turn_id": turn["dia_id"],
            }
        )
    return turns


def evidence_of(question: dict[str, Any]) -> set[str]:
    return {f"D{a}:{b}" for text in question["evidence"] for a, b in _EVIDENCE.findall(str(text))}


def push(running: Running, turns: list[dict[str, str]]) -> float:
    """Pushes, waits until all turns are projected, and returns the seconds."""
    began = time.monotonic()
    with httpx2.Client(timeout=60, headers=running.headers) as client:
        for start in range(0, len(turns), 500):
            client.post(f"{running.write_url}/v1/turns", json=turns[start : start + 500]).raise_for_status()
    running.wait(within_s=900)
    return time.monotonic() - began
