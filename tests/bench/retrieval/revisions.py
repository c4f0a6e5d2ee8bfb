"""Prints how often what was said later stands above what it changed.

    python tests/bench/retrieval/revisions.py [--model NAME] [--missed]

Each person of ``tests/bench/support/revisions.json`` says something, other things, and days later that it has changed.
The question asks what holds. `above` is the share of questions whose first card with the answer is above the first card
with what was before, `first` the share whose first card has the answer. In the part `of something else`, the later
words change another thing, and the earlier ones are the answer. The floor is BM25 over the same turns. The sentences
are made up for this page, and the rules were changed after some of them were seen.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import numpy as np

from events.platform.settings import variable_of
from projectors.embedding.embedder import DEFAULT_MODEL
from tests.bench.support.locomo import push
from tests.bench.support.provenance import PROVENANCE
from tests.bench.support.scoring import Bm25, counts
from tests.bench.support.stack import measured_stack
from tests.support.stack import Running

PAIRS = Path(__file__).parents[1] / "support" / "revisions.json"
BEGUN = datetime(2026, 6, 1, 10, tzinfo=UTC)
ASKED = BEGUN + timedelta(days=30)
BETWEEN = {
    "chinese": ("今天下雨，心情普通", "午餐吃了牛肉麵", "剛剛看了一部紀錄片", "幫我想個週末計畫", "謝謝你"),
    "english": (
        "Rainy today, feeling meh",
        "Had ramen for lunch",
        "Watched a documentary earlier",
        "Give me an idea for the weekend",
        "Thanks",
    ),
}


def turns_of(user: str, pair: dict[str, str], language: str) -> list[dict[str, str]]:
    said = [(0, pair["earlier"]), *enumerate(BETWEEN[language][:3], 1), (9, pair["later"])]
    said += enumerate(BETWEEN[language][3:], 10)
    return [
        {
            "user_id": user,
            "session_id": f"s{day // 4}",
            "turn_id": f"{user}-{day}",
            "speaker": "user",
            "text": text,
            "said_at": (BEGUN + timedelta(days=day)).isoformat(),
        }
        for day, text in said
    ]


def bm25(texts: Sequence[str], question: str) -> list[str]:
    """Returns the texts that share a word with ``question``, best first."""
    scores = Bm25([counts(text) for text in texts]).score(counts(question))
    return [texts[n] for n in np.argsort(-scores, kind="stable") if scores[n] > 0]


def place_of(words: str, texts: Sequence[str], without: str = "") -> int:
    """Returns the place of the first text with one of ``words`` and without ``without``, or the number of texts."""
    wanted = re.compile("|".join(map(re.escape, words.split("|"))))
    without_this = re.compile("|".join(map(re.escape, without.split("|")))) if without else None
    return next(
        (
            place
            for place, text in enumerate(texts)
            if wanted.search(text) and not (without_this and without_this.search(text))
        ),
        len(texts),
    )


def measure(running: Running, pairs: dict[str, dict[str, list[dict[str, str]]]], *, missed: bool) -> None:
    print(PROVENANCE["revisions"].line("revisions"))
    print(f"{'':<30}{'n':>5}{'above':>8}{'first':>8}{'BM25 above':>12}{'BM25 first':>12}")
    with httpx2.Client(timeout=60, headers=running.headers) as client:
        for part, languages in pairs.items():
            for language, rows in languages.items():
                scores = []
                for number, pair in enumerate(rows):
                    user = f"{part}-{language}-{number}"
                    body = {"user_id": user, "query": pair["question"], "as_of": ASKED.isoformat(), "k": 10}
                    answer = client.post(f"{running.read_url}/v1/recall", json=body).raise_for_status().json()
                    found = [card["content"] for card in answer["cards"]]
                    said = [turn["text"] for turn in turns_of(user, pair, language)]
                    plain = bm25(said, pair["question"])
                    row: list[Any] = []
                    for texts in (found, plain):
                        right = place_of(pair["answer"], texts)
                        row += [right < place_of(pair["other"], texts, pair["answer"]), right == 0]
                    scores.append(row)
                    if missed and not row[0]:
                        print(f"  {pair['question']}: {found[:3]}")
                means = [sum(column) / len(scores) for column in zip(*scores, strict=True)]
                name = f"{part.replace('_', ' ')}, {language}"
                print(
                    f"{name:<30}{len(rows):>5}{means[0]:>8.3f}{means[1]:>8.3f}{means[2]:>12.3f}{means[3]:>12.3f}"
                )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--missed", action="store_true", help="print the questions that are answered wrongly")
    options = parser.parse_args()
    pairs = json.loads(PAIRS.read_text("utf-8"))
    with measured_stack(**{variable_of("embed_model"): options.model}) as running:
        turns = [
            turn
            for part, languages in pairs.items()
            for language, rows in languages.items()
            for number, pair in enumerate(rows)
            for turn in turns_of(f"{part}-{language}-{number}", pair, language)
        ]
        push(running, turns)
        measure(running, pairs, missed=options.missed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
