"""The evaluation sets of a person with an assistant, of friends, and of meetings told line by line."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.bench.support.recall_data import Asked, EvalSet

_FIELDS = ("turn_id", "session_id", "role", "said_at", "text")


CHATS = Path(__file__).parents[1] / "chats"
"""The chats that were written for this project."""


def chats(path: Path) -> EvalSet:
    """Chats of 8 to 130 turns with an assistant or among friends, a user each."""
    turns, questions = [], []
    for chat in map(json.loads, path.read_text("utf-8").splitlines()):
        for row in chat["turns"]:
            role = "role" if row["role"] in ("user", "assistant") else "speaker"
            turns.append(
                {
                    "user_id": chat["id"], "turn_id": row["id"], "session_id": row["session"],
                    "said_at": row["said_at"], "text": row["text"], role: row["role"],
                }
            )  # fmt: skip
        for row in chat["questions"]:
            at = datetime.fromisoformat(row["asked_at"])
            right, old = frozenset(row["turns"]), frozenset(row["old"])
            fresh = right if old else frozenset[str]()
            questions.append(Asked(chat["id"], row["q"], right, row["kind"], at, fresh=fresh, stale=old))
    return EvalSet(f"chats-{path.stem}", turns, questions)


def beam(folder: Path) -> EvalSet:
    """Long chats with an assistant, a user each, asked an hour after the last turn."""
    turns, questions = [], []
    for path in _numbered(folder):
        chat = json.loads(path.read_text("utf-8"))
        turns += [_turn(turn, path.stem) for turn in chat["turns"]]
        at = datetime.fromisoformat(max(turn["said_at"] for turn in chat["turns"])) + timedelta(hours=1)
        for row in chat["questions"]:
            questions.append(
                Asked(
                    path.stem, row["question"], frozenset(row["evidence"]), row["type"], at,
                    fresh=frozenset(row.get("new", ())), stale=frozenset(row.get("old", ())),
                )
            )  # fmt: skip
    return EvalSet("beam", turns, questions)


def realmem(folder: Path) -> EvalSet:
    """Project chats over months. A question may be answered by the turns before it; a record is a session."""
    turns, questions = [], []
    for path in sorted(folder.glob("*.json")):
        chat = json.loads(path.read_text("utf-8"))
        turns += [_turn(turn, path.stem) for turn in chat["turns"]]
        for row in chat["questions"]:
            questions.append(
                Asked(
                    path.stem, row["question"], frozenset(row["evidence_sessions"]), row["type"],
                    datetime.fromisoformat(row["asked_at"]), earlier=row["turns_before"],
                )
            )  # fmt: skip
    return EvalSet("realmem", turns, questions)


def aging(folder: Path) -> EvalSet:
    """Meetings of twenty weeks. Each week is a user of its own, who knows the meetings up to that week."""
    turns: list[dict[str, str]] = []
    questions = []
    for path in sorted(folder.glob("*.json")):
        told = json.loads(path.read_text("utf-8"))
        for week in sorted({row["after_session"] for row in told["questions"]}):
            turns += [
                _turn(turn, f"{path.stem}/{week}")
                for turn in told["turns"]
                if int(turn["session_id"].lstrip("s")) <= week
            ]
        for row in told["questions"]:
            gold, other = row.get("gold_value"), row.get("distractor_value")
            questions.append(
                Asked(
                    f"{path.stem}/{row['after_session']}", row["question"], frozenset(), path.stem,
                    datetime.fromisoformat(row["asked_at"]),
                    wanted=tuple(row.get("keywords") or ([gold] if gold else [])),
                    unwanted=(other,) if other else (),
                )
            )  # fmt: skip
    return EvalSet("aging", turns, questions)


def _numbered(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"), key=lambda path: int(path.stem))


def _turn(turn: dict[str, Any], user_id: str) -> dict[str, str]:
    return {name: turn[name] for name in _FIELDS if name in turn} | {"user_id": user_id}
