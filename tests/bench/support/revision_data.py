"""The evaluation sets of facts that change: everyday chats, and timelines of corrections."""

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.bench.support.recall_data import Asked, EvalSet


def everyday(path: Path) -> EvalSet:
    """Short everyday chats, a user each, and again in persons of about 40 turns. Cases without a fact are left out."""
    turns: list[dict[str, str]] = []
    questions: list[Asked] = []
    cases = [case for case in json.loads(path.read_text("utf-8")) if case["kind"] != "c"]
    persons: dict[str, list[list[dict[str, Any]]]] = {}
    for case in cases:
        several = persons.setdefault(case["lang"], [[]])
        if sum(len(each["turns"]) for each in several[-1]) >= 40:
            several.append([])
        several[-1].append(case)
    users = [([case], case["user_id"]) for case in cases]
    users += [
        (group, f"{lang}-{number}")
        for lang, several in persons.items()
        for number, group in enumerate(several)
    ]
    for group, user in users:
        said = sorted(
            (turn for case in group for turn in case["turns"]),
            key=lambda turn: datetime.fromisoformat(turn["said_at"]),
        )
        turns += [turn | {"user_id": user} for turn in said]
        for case in group:
            questions += [_everyday_question(question, case, user) for question in case["questions"]]
    return EvalSet("everyday", turns, questions)


def _everyday_question(row: dict[str, Any], case: dict[str, Any], user: str) -> Asked:
    right = row.get("all") or row["accept"]
    good = {turn["turn_id"] for turn in case["turns"] if any(_has(each, turn["text"]) for each in right)}
    stale = row.get("stale")
    old = {turn["turn_id"] for turn in case["turns"] if stale and _has(stale, turn["text"])} - good
    return Asked(
        user,
        row["question"],
        frozenset(good),
        case["kind"],
        datetime.fromisoformat(row["as_of"]),
        fresh=frozenset(good if old else ()),
        stale=frozenset(old),
    )


def statebench(folder: Path) -> EvalSet:
    """Timelines of corrections, a user each. A write that no turn says is told as a turn of the user.

    The evidence of a question are the earlier turns with a phrase that the answer must mention, and ``stale`` are those
    with a phrase that it must not mention. A question without evidence is left out.
    """
    turns: list[dict[str, str]] = []
    questions: list[Asked] = []
    for path in sorted(folder.glob("*.jsonl")):
        for row in map(json.loads, path.read_text("utf-8").splitlines()):
            told, asked = _timeline(row)
            turns += told
            questions += asked
    return EvalSet("statebench", turns, questions)


def _timeline(row: dict[str, Any]) -> tuple[list[dict[str, str]], list[Asked]]:
    said: list[dict[str, str]] = []
    questions = []
    spoken = {each["text"] for each in row["events"] if each["type"] == "conversation_turn"}

    def say(event: dict[str, Any], text: str, role: str) -> None:
        said.append(
            {
                "user_id": row["id"],
                "turn_id": str(len(said)),
                "session_id": "s",
                "role": role,
                "said_at": _aware(event["ts"]),
                "text": text,
            }
        )

    for event in row["events"]:
        if event["type"] == "conversation_turn":
            say(event, event["text"], event["speaker"])
        elif event["type"] == "query":
            truth = event["ground_truth"]
            good = {turn["turn_id"] for turn in said if _any(truth["must_mention"], turn["text"])}
            bad = {turn["turn_id"] for turn in said if _any(truth["must_not_mention"], turn["text"])}
            fresh, stale = good - bad, bad - good
            if fresh:
                questions.append(
                    Asked(
                        row["id"],
                        event["prompt"],
                        frozenset(fresh),
                        row["track"],
                        datetime.fromisoformat(_aware(event["ts"])),
                        earlier=len(said),
                        fresh=frozenset(fresh if stale else ()),
                        stale=frozenset(stale),
                        wanted=tuple(truth["must_mention"]),
                        unwanted=tuple(truth["must_not_mention"]),
                    )
                )
        else:
            for write in event["writes"]:
                value = str(write["value"])
                if not any(value in text or text in value for text in spoken):
                    say(event, value, "user")
    return said, questions


def _aware(instant: str) -> str:
    return instant if "+" in instant or instant.endswith("Z") else f"{instant}+00:00"


def _any(phrases: list[Any], text: str) -> bool:
    return any(str(phrase).casefold() in text.casefold() for phrase in phrases)


def _has(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None
