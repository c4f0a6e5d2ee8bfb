"""Conversations of public data that is not part of the project: it is read from its folder and never copied."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from evaluation.answers.conversations import Conversation, DataError, Question, own, sessions_of
from evaluation.answers.keys import Key, key_of

LOCOMO = "locomo"
_LOCOMO_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
_LOCOMO_TIME = "%I:%M %p on %d %B, %Y"
_PLACE = re.compile(r"D:?(\d+):(\d+)")
_CHATS = ("17", "19")
_CHAT_TURNS = 300
_CHAT_CATEGORIES = {
    "information_extraction": "single-hop",
    "knowledge_update": "update",
    "multi_session_reasoning": "multi-hop",
    "temporal_reasoning": "temporal",
}
"""The kinds of questions about a chat whose answer can stand in cards."""
_PERSON_TURNS = 40
_PERSON_LANGUAGE = "en"
_PERSON = 1  # the second one has changes, too
_PATTERN = re.compile(r"[\\.?*+\[\](){}^$]")


def conversations(data: Path | None) -> list[Conversation]:
    """Returns the conversations of the package, then those of the sets that the folder ``data`` holds.

    Raises :class:`DataError` when a file cannot be read.
    """
    found = own()
    for name, load in _SETS.items():
        path = None if data is None else data / name
        if path is not None and path.exists():
            try:
                found += load(path)
            except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
                raise DataError(f"{path} is not the data that is expected ({error!r})") from error
    return found


def locomo(path: Path) -> list[Conversation]:
    """Returns the chosen sessions of LoCoMo, with every question whose evidence lies inside.

    ``locomo.json`` beside this module names the sessions, and holds the keys of questions by their number. The words
    of the data are read from ``path`` and are never copied.
    """
    chosen = json.loads(files(__package__).joinpath("locomo.json").read_text("utf-8"))
    data = json.loads(path.read_text("utf-8"))
    return [_locomo_conversation(data[each["index"]], each, chosen["keys"]) for each in chosen["sessions"]]


def locomo_row(turn: dict[str, Any]) -> dict[str, str]:
    """Returns a turn of LoCoMo in the fields of the turn contract."""
    said = datetime.strptime(turn["session_date_time"], _LOCOMO_TIME).replace(tzinfo=UTC)
    caption = f" [{turn['caption']}]" if turn.get("caption") else ""
    return {
        "text": turn["text"] + caption,
        "speaker": turn["speaker"],
        "session_id": f"session {turn['session']}",
        "said_at": said.isoformat(),
        "turn_id": turn["dia_id"],
    }


def _locomo_conversation(
    data: dict[str, Any], chosen: dict[str, Any], keys: dict[str, dict[str, Any]]
) -> Conversation:
    first, last = chosen["first"], chosen["last"]
    rows = [locomo_row(turn) for turn in data["turns"] if first <= turn["session"] <= last]
    questions = []
    for number, row in enumerate(data["qa"]):
        places = {(int(a), int(b)) for text in row["evidence"] for a, b in _PLACE.findall(str(text))}
        category = _LOCOMO_CATEGORIES.get(row["category"])
        if category is not None and places and all(first <= session <= last for session, _ in places):
            question_id = f"{chosen['index']}/{number}"
            key = keys.get(question_id)
            questions.append(
                Question(
                    question_id,
                    row["question"],
                    category,
                    frozenset(f"D{a}:{b}" for a, b in places),
                    str(row["answer"]),
                    None if key is None else key_of(key),
                )
            )
    return Conversation(
        f"{LOCOMO}-{chosen['index']}",
        sessions_of(rows),
        tuple(questions),
        "locomo, unseen" if chosen["unseen"] else LOCOMO,
    )


def chats(folder: Path) -> list[Conversation]:
    """Returns two chats of a person with an assistant, with the questions whose answer can stand in cards.

    A chat is its first turns, and a question belongs to it when all its evidence lies among them.
    """
    return [_chat(name, json.loads((folder / f"{name}.json").read_text("utf-8"))) for name in _CHATS]


def _chat(name: str, data: dict[str, Any]) -> Conversation:
    turns = data["turns"][:_CHAT_TURNS]
    inside = {turn["turn_id"] for turn in turns}
    questions = [
        Question(
            f"{name}/{number}",
            row["question"],
            _CHAT_CATEGORIES[row["type"]],
            frozenset(row["evidence"]),
            row["answer"],
        )
        for number, row in enumerate(data["questions"])
        if row["type"] in _CHAT_CATEGORIES and row["evidence"] and inside.issuperset(row["evidence"])
    ]
    return Conversation(f"beam-{name}", sessions_of(turns), tuple(questions), "beam")


def everyday(path: Path) -> list[Conversation]:
    """Returns one person of short everyday chats. A question whose answer is no plain text is left out."""
    persons: list[list[dict[str, Any]]] = [[]]
    for case in json.loads(path.read_text("utf-8")):
        if case["lang"] == _PERSON_LANGUAGE and case["kind"] != "c":
            if sum(len(each["turns"]) for each in persons[-1]) >= _PERSON_TURNS:
                persons.append([])
            persons[-1].append(case)
    turns = [turn for case in persons[_PERSON] for turn in case["turns"]]
    turns.sort(key=lambda turn: datetime.fromisoformat(turn["said_at"]))
    questions = []
    for case in persons[_PERSON]:
        for number, row in enumerate(case["questions"]):
            says = row.get("all") or ["|".join(row["accept"])]
            if not any(_PATTERN.search(text) for text in (*says, row.get("stale") or "")):
                key = Key(says=tuple(says), outdated=(row["stale"],) if row.get("stale") else ())
                question = _everyday_question(f"{case['user_id']}/{number}", row, case, key)
                questions += [question] if question.evidence else []
    return [
        Conversation(
            f"everyday-{_PERSON_LANGUAGE}-{_PERSON}", sessions_of(turns), tuple(questions), "everyday"
        )
    ]


def _everyday_question(question_id: str, row: dict[str, Any], case: dict[str, Any], key: Key) -> Question:
    wanted = [text.casefold() for choice in key.says for text in choice.split("|")]
    evidence = {
        turn["turn_id"] for turn in case["turns"] if any(text in turn["text"].casefold() for text in wanted)
    }
    category = "update" if key.outdated else "single-hop"
    return Question(question_id, row["question"], category, frozenset(evidence), "", key)


_SETS: dict[str, Callable[[Path], list[Conversation]]] = {
    "locomo/locomo_dev.json": locomo,
    "beam": chats,
    "everyday/set.json": everyday,
}
