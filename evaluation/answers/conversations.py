"""The conversations that are read, and the questions about them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from evaluation.answers.keys import Key, key_of
from events.types.turn_contract import parse_turn
from events.types.turns import TurnRecorded

LOCOMO = "locomo"
CATEGORIES = ("multi-hop", "temporal", "open-domain", "single-hop", "update")
_LOCOMO_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
_LOCOMO_TIME = "%I:%M %p on %d %B, %Y"
_PLACE = re.compile(r"D:?(\d+):(\d+)")


class DataError(RuntimeError):
    """The data to measure with cannot be read. The message names the file and the remedy."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a conversation. ``evidence`` are the ids of the turns that answer it.

    ``gold`` is the answer as text. ``key`` says by hand what must be found; without a key, ``gold`` decides.
    """

    question_id: str
    text: str
    category: str
    evidence: frozenset[str]
    gold: str
    key: Key | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns of one user by session, in order, and the questions that are asked after the last turn.

    ``private`` turns come from data that must not be copied, so a recorded reading holds none of their words.
    ``unseen`` conversations are kept apart: nothing is tuned on them.
    """

    name: str
    sessions: tuple[tuple[TurnRecorded, ...], ...]
    questions: tuple[Question, ...]
    private: bool = False
    unseen: bool = False

    @property
    def turns(self) -> int:
        """The number of turns."""
        return sum(map(len, self.sessions))

    @property
    def asked_at(self) -> datetime:
        """The instant of the questions: that of the last turn."""
        return max(turn.said_at for session in self.sessions for turn in session)


def conversations(data: Path | None) -> list[Conversation]:
    """Returns the conversations of the package, then those of LoCoMo when the folder ``data`` holds them.

    Raises :class:`DataError` when a file cannot be read.
    """
    found = own()
    path = None if data is None else data / "locomo" / "locomo_dev.json"
    if path is not None and path.exists():
        found += locomo(path)
    return found


def own() -> list[Conversation]:
    """Returns the Chinese conversations that come with the package."""
    turns, questions = _lines("turns.jsonl"), _lines("questions.jsonl")
    return [
        Conversation(
            name,
            _sessions(row for row in turns if row["conversation"] == name),
            tuple(
                Question(
                    row["id"],
                    row["question"],
                    row["category"],
                    frozenset(row["evidence"]),
                    row["gold"],
                    key_of(row["key"]) if "key" in row else None,
                )
                for row in questions
                if row["conversation"] == name
            ),
        )
        for name in dict.fromkeys(row["conversation"] for row in turns)
    ]


def locomo(path: Path) -> list[Conversation]:
    """Returns the chosen sessions of LoCoMo, with every question whose evidence lies inside.

    ``locomo.json`` beside this module names the sessions, and holds the keys of questions by their number. The words
    of the data are read from ``path`` and are never copied. Raises :class:`DataError` when ``path`` is another file.
    """
    chosen = json.loads(files(__package__).joinpath("locomo.json").read_text("utf-8"))
    try:
        data = json.loads(path.read_text("utf-8"))
        return [
            _locomo_conversation(data[each["index"]], each, chosen["keys"]) for each in chosen["sessions"]
        ]
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise DataError(f"{path} is not the file of LoCoMo that is expected ({error!r})") from error


def _locomo_conversation(
    data: dict[str, Any], chosen: dict[str, Any], keys: dict[str, dict[str, Any]]
) -> Conversation:
    first, last = chosen["first"], chosen["last"]
    rows = []
    for turn in data["turns"]:
        if first <= turn["session"] <= last:
            said = datetime.strptime(turn["session_date_time"], _LOCOMO_TIME).replace(tzinfo=UTC)
            caption = f" [{turn['caption']}]" if turn.get("caption") else ""
            rows.append(
                {
                    "text": turn["text"] + caption,
                    "speaker": turn["speaker"],
                    "session_id": f"session {turn['session']}",
                    "said_at": said.isoformat(),
                    "turn_id": turn["dia_id"],
                }
            )
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
        _sessions(rows),
        tuple(questions),
        private=True,
        unseen=bool(chosen["unseen"]),
    )


def _sessions(rows: Iterable[dict[str, str]]) -> tuple[tuple[TurnRecorded, ...], ...]:
    """Returns the turns by session, checked by the turn contract."""
    sessions: dict[str, list[TurnRecorded]] = {}
    for row in rows:
        fields = {"user_id": "u", **{name: text for name, text in row.items() if name != "conversation"}}
        _, turn = parse_turn(fields, entry_time=datetime.now(UTC), entry_id="")
        sessions.setdefault(turn.session_id, []).append(turn)
    return tuple(map(tuple, sessions.values()))


def _lines(name: str) -> list[dict[str, Any]]:
    text = files(__package__).joinpath(name).read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def chosen_of(found: Sequence[Conversation], names: Sequence[str]) -> Iterator[Conversation]:
    """Yields the conversations with these names, or all when there are no names. Raises :class:`DataError`."""
    known = {each.name: each for each in found}
    for name in names or known:
        if name not in known:
            raise DataError(f"there is no conversation {name}; there are {', '.join(known)}")
        yield known[name]
