"""The conversations that are read, and the questions about them."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from evaluation.answers.keys import Key, key_of
from events.types.turn_contract import parse_turn
from events.types.turns import TurnRecorded

OWN = "own"
CATEGORIES = ("multi-hop", "temporal", "open-domain", "single-hop", "update")


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

    ``group`` is the set whose figures are printed together. Nothing is tuned on a set whose name ends in "unseen".
    """

    name: str
    sessions: tuple[tuple[TurnRecorded, ...], ...]
    questions: tuple[Question, ...]
    group: str = OWN

    @property
    def private(self) -> bool:
        """True for data that must not be copied: a recorded reading holds no sentence of it."""
        return self.group != OWN

    @property
    def turns(self) -> int:
        """The number of turns."""
        return sum(map(len, self.sessions))

    @property
    def asked_at(self) -> datetime:
        """The instant of the questions: that of the last turn."""
        return max(turn.said_at for session in self.sessions for turn in session)


def own() -> list[Conversation]:
    """Returns the Chinese conversations that come with the package."""
    turns, questions = _lines("turns.jsonl"), _lines("questions.jsonl")
    return [
        Conversation(
            name,
            sessions_of(row for row in turns if row["conversation"] == name),
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


def sessions_of(rows: Iterable[dict[str, str]]) -> tuple[tuple[TurnRecorded, ...], ...]:
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
