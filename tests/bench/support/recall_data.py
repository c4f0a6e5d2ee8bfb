"""The evaluation sets as turns to push and questions with the turns that answer them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from tests.bench.support.locomo import evidence_of, turns_of

_CHINA = timezone(timedelta(hours=8))


@dataclass(frozen=True)
class Asked:
    """A question of one user; ``evidence`` are the ids of the records that answer it.

    ``earlier`` is the number of the user's first turns that may answer; None means all of them. ``fresh`` and ``stale``
    are the records that told a fact last and before. ``wanted`` are words any of which answers, and ``unwanted`` words
    of a value that has changed.
    """

    user_id: str
    text: str
    evidence: frozenset[str]
    category: str
    at: datetime
    earlier: int | None = None
    fresh: frozenset[str] = frozenset()
    stale: frozenset[str] = frozenset()
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()


@dataclass(frozen=True)
class EvalSet:
    """Turns and questions; a turn id is its record's, with ``#`` and a number where a record is several turns."""

    name: str
    turns: list[dict[str, str]]
    questions: list[Asked]


def record_of(turn_id: str) -> str:
    """The record a turn belongs to."""
    return turn_id.partition("#")[0]


def locomo(path: Path) -> EvalSet:
    """Long English conversations, a user each."""
    turns, questions = [], []
    for conversation in json.loads(path.read_text("utf-8")):
        said = turns_of(conversation)
        turns += said
        last = datetime.fromisoformat(max(turn["said_at"] for turn in said))
        for question in conversation["qa"]:
            if evidence := frozenset(evidence_of(question)):
                questions.append(
                    Asked(
                        conversation["sample_id"],
                        question["question"],
                        evidence,
                        str(question["category"]),
                        last,
                    )
                )
    return EvalSet("locomo", turns, questions)


def memdaily(folder: Path) -> EvalSet:
    """Chinese daily messages. All people of a file are one user, so that each distracts from the others."""
    turns: list[dict[str, str]] = []
    questions = []
    for path in sorted(folder.glob("*.json")):
        for number, person in enumerate(json.loads(path.read_text("utf-8"))):
            for message in person["message_list"]:
                turns.append(
                    {
                        "user_id": path.stem,
                        "text": message["message"],
                        "session_id": str(number),
                        "said_at": _when(message["time"]).isoformat(),
                        "turn_id": f"{number}-{message['mid']}",
                    }
                )
            for question in person["question_list"]:
                if question["question"] == "[ERRORQ]" or question["answer"] == "[ERRORA]":
                    continue
                known = {message["mid"] for message in person["message_list"]}
                evidence = frozenset(
                    f"{number}-{step}" for step in question["target_step_id"] if step in known
                )
                if evidence:
                    questions.append(
                        Asked(path.stem, question["question"], evidence, path.stem, _when(question["time"]))
                    )
    return EvalSet("memdaily", turns, questions)


def lifebench(folder: Path) -> EvalSet:
    """One person's year: each record is a turn, and each utterance of a chat is a turn."""
    turns = []
    for kind in ("agent_chat", "sms", "note", "calendar"):
        for record in json.loads((folder / f"{kind}.json").read_text("utf-8")):
            at = datetime.fromisoformat(record.get("datetime") or record["date"]).replace(tzinfo=_CHINA)
            name = f"{kind}/{record['phone_id']}"
            for number, (role, text) in enumerate(_said(record)):
                turns.append(
                    {
                        "user_id": "lifebench",
                        "text": text,
                        "role": role,
                        "session_id": name if kind == "agent_chat" else kind,
                        "said_at": at.isoformat(),
                        "turn_id": f"{name}#{number}",
                    }
                )
    turns.sort(key=lambda turn: turn["said_at"])
    known = {record_of(turn["turn_id"]) for turn in turns}
    questions = []
    for question in json.loads((folder / "QA_clean.json").read_text("utf-8")):
        named = {f"{item['type']}/{item['id']}" for item in question.get("evidence", [])}
        if evidence := frozenset(named & known):
            questions.append(
                Asked(
                    "lifebench", question["question"], evidence, question["question_type"],
                    datetime(2025, 12, 31, 23, 0, tzinfo=_CHINA),
                )
            )  # fmt: skip
    return EvalSet("lifebench", turns, questions)


def _said(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "conversation" in record:
        for turn in record["conversation"].values():
            for who in ("user", "assistant"):
                if who in turn:
                    yield who, turn[who]["content"]
        return
    fields = ("title", "content", "description", "message_content")
    yield "user", " ".join(record[field] for field in fields if record.get(field))


def _when(text: str) -> datetime:
    day, _, clock = text.split()
    return datetime.strptime(f"{day} {clock}", "%Y年%m月%d日 %H:%M").replace(tzinfo=_CHINA)
