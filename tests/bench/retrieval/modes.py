"""Prints how well questions across all modes find their card, beside the lexical fallback.

    PYTHONPATH=. python tests/bench/retrieval/modes.py

One memory has 120 turns of five modes with three embedding models, in English and in Chinese (modes.txt beside this
file), and 72 questions, each about one turn. A question names all modes. `ranks` is the answer of Cardlog: each model
has a list of its own, and the lists are joined by rank. `lexical` is the same recall without the semantic channel:
words, entities, times and importance. `oracle` asks in the mode of the turn and shows what the mode alone is worth.
A question is `shared` when it shares a word of four letters, or two Chinese characters in a row, with its turn, else
`apart`. The columns are recall at 1, 5 and 10, and the mean reciprocal
rank among the first ten.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from events.platform.settings import variable_of
from projectors.embedding.embedder import DEFAULT_MODEL
from tests.support.stack import Running, start, stop
from tests.support.web import WEB

USER, FOUND = "ada", 10
_PIECES = re.compile(r"[a-z]{4,}|[\u4e00-\u9fff]+")


@dataclass(frozen=True)
class Asked:
    """A question about the turn ``turn_id`` of ``mode``. ``shared``: it has words of the turn."""

    text: str
    turn_id: str
    mode: str
    shared: bool


@dataclass
class Told:
    """What the file holds."""

    models: dict[str, str] = field(default_factory=dict)
    turns: list[dict[str, str]] = field(default_factory=list)
    questions: list[Asked] = field(default_factory=list)


def pieces(text: str) -> set[str]:
    """Returns the words of four letters or more, and the pairs of Chinese characters."""
    found: set[str] = set()
    for piece in _PIECES.findall(text.lower()):
        found |= {piece} if piece.isascii() else {piece[at : at + 2] for at in range(len(piece) - 1)}
    return found


def read() -> Told:
    """Returns the turns and questions of the file."""
    told, mode = Told(), ""
    for line in Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines()[1:]:
        sign, _, rest = line.partition(" ")
        if sign == "#":
            mode, _, model = rest.partition(" ")
            told.models[mode] = "" if model == DEFAULT_MODEL else model
        elif sign == "?":
            turn = told.turns[-1]
            shared = bool(pieces(rest) & pieces(turn["text"]))
            told.questions.append(Asked(rest, turn["turn_id"], mode, shared))
        else:
            name = f"t{len(told.turns)}"
            told.turns.append(
                {"user_id": USER, "turn_id": name, "session_id": name, "mode": mode, "text": line}
            )
    return told


def rank(running: Running, asked: Asked, **more: Any) -> int | None:
    """Returns the place of the card of the turn, or None when it is not among the first ten."""
    cards = running.recall(USER, asked.text, k=FOUND, **more)["cards"]
    return next((place for place, card in enumerate(cards, 1) if asked.turn_id in card["turn_ids"]), None)


def line(name: str, ranks: list[int | None]) -> str:
    """Returns the scores of one row."""
    found = [place for place in ranks if place is not None]
    at = [sum(place <= cut for place in found) / len(ranks) for cut in (1, 5, 10)]
    mean = sum(1 / place for place in found) / len(ranks)
    return f"{name:24} {len(ranks):4}  " + "  ".join(f"{score:.3f}" for score in (*at, mean))


def run() -> int:
    """Measures, and prints the table."""
    told = read()
    ranks: dict[str, list[int | None]] = {}
    patient = {
        variable_of("semantic_deadline_ms"): "10000",
        variable_of("quarantine_over_ms"): "60000",
        variable_of("embed_model"): DEFAULT_MODEL,
    }
    systems: dict[str, tuple[dict[str, str], Callable[[Asked], dict[str, Any]]]] = {
        "ranks": ({}, lambda _: {"modes": "all"}),
        "oracle": ({}, lambda asked: {"mode": asked.mode}),
        "lexical": ({variable_of("fault_semantic"): "down"}, lambda _: {"modes": "all"}),
    }
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        for name, (settings, more) in systems.items():
            running = start(data, **patient, **settings)
            try:
                if name == "ranks":
                    _tell(running, told)
                ranks[name] = [rank(running, asked, **more(asked)) for asked in told.questions]
            finally:
                stop(running)
    print(
        f"{len(told.turns)} turns, {len(told.questions)} questions\n{'':24}    n    R@1    R@5   R@10    MRR"
    )
    chinese = [not asked.text.isascii() for asked in told.questions]
    parts = {
        "all": [True] * len(chinese),
        "shared": [asked.shared for asked in told.questions],
        "apart": [not asked.shared for asked in told.questions],
        "English": [not each for each in chinese],
        "Chinese": chinese,
    }
    parts |= {mode: [asked.mode == mode for asked in told.questions] for mode in told.models}
    for part, chosen in parts.items():
        for name, places in ranks.items():
            of_part = [place for place, taken in zip(places, chosen, strict=True) if taken]
            print(line(f"{part}, {name}", of_part))
    return 0


def _tell(running: Running, told: Told) -> None:
    for mode, model in told.models.items():
        if mode != "general":
            declared = WEB.put(
                f"{running.write_url}/v1/modes/{mode}",
                json={"user_id": USER, "embedder": model},
                headers=running.headers,
            )
            assert declared.status_code == 200, declared.text
    sent = WEB.post(f"{running.write_url}/v1/turns", json=told.turns, headers=running.headers)
    assert sent.status_code == 202, sent.text
    running.wait()


if __name__ == "__main__":
    sys.exit(run())
