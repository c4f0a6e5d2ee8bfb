"""Prints how well recall answers everyday questions about chats with an assistant, by kind of question.

    python tests/bench/retrieval/everyday.py [--model NAME] [--people NAME ...] [--missed]

Each file of ``tests/bench/support/everyday`` is a person who chats with an assistant for two months, with questions of
many kinds: lists, plans, advice that needs a fact, corrections, questions in the other language. `@5` and `@10` are the
share of the needed turns among the turns behind the first 5 and 10 cards, `first` the share of questions whose first
card has a needed turn, and `above` the share whose first needed turn is above the turns that mislead. The floor is BM25
over the same turns. The people and their words are made up for this page.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
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

PEOPLE = Path(__file__).parents[1] / "support" / "everyday"
CUTS = (5, 10)


def turns_of(person: dict[str, Any]) -> list[dict[str, str]]:
    return [
        {
            "user_id": person["user"],
            "session_id": turn["session"],
            "turn_id": str(number),
            "role": turn["speaker"],
            "text": turn["text"],
            "said_at": turn["said_at"],
            "timezone": person["timezone"],
        }
        for number, turn in enumerate(person["turns"])
    ]


def telling(person: dict[str, Any], words: str) -> set[str]:
    """Returns the ids of the turns with one of ``words``, which are separated by ``|``."""
    return {
        turn["turn_id"] for turn in turns_of(person) if any(word in turn["text"] for word in words.split("|"))
    }


def bm25(person: dict[str, Any], question: str) -> list[set[str]]:
    """Returns the turns that share a word with ``question``, best first."""
    turns = turns_of(person)
    scores = Bm25([counts(turn["text"]) for turn in turns]).score(counts(question))
    best = np.argsort(-scores, kind="stable")[: max(CUTS)]
    return [{turns[n]["turn_id"]} for n in best if scores[n] > 0]


def score(cards: Sequence[set[str]], needed: Sequence[set[str]], misleading: set[str]) -> tuple[float, ...]:
    """Returns the columns of the table for one question. ``cards`` are the turns behind each card."""
    shares = []
    for cut in CUTS:
        found = set().union(*cards[:cut])
        shares.append(sum(bool(each & found) for each in needed) / len(needed))
    right = set().union(*needed)
    good = next((place for place, card in enumerate(cards) if card & right), len(cards))
    bad = next(
        (place for place, card in enumerate(cards) if card & misleading and not card & right), len(cards)
    )
    return *shares, float(good == 0 and bool(cards)), float(good < bad)


def measure(running: Running, people: Sequence[dict[str, Any]], *, missed: bool) -> None:
    rows: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    with httpx2.Client(timeout=60, headers=running.headers) as client:
        for person in people:
            for asked in person["questions"]:
                body = {
                    "user_id": person["user"], "query": asked["question"], "as_of": person["asked_at"],
                    "timezone": person["timezone"], "k": max(CUTS),
                }  # fmt: skip
                answer = client.post(f"{running.read_url}/v1/recall", json=body).raise_for_status().json()
                needed = [telling(person, words) for words in asked["answers"]]
                misleading = telling(person, asked["wrong"]) if asked.get("wrong") else set()
                found = score([set(card["turn_ids"]) for card in answer["cards"]], needed, misleading)
                row = found + score(bm25(person, asked["question"]), needed, misleading)
                for name in (asked["kind"], person["user"], "all"):
                    rows[name].append(row)
                if missed and found[0] < 1:
                    print(f"{person['user']} {asked['kind']}: {asked['question']} {asked['answers']}")
                    for card in answer["cards"][:5]:
                        print(f"    {card['kind']:<10}{card['content'][:90]}")
    print(PROVENANCE["people"].line("people"))
    columns = ("@5", "@10", "first", "above")
    print(
        f"{'':<14}{'n':>5}"
        + "".join(f"{name:>8}" for name in columns)
        + "".join(f"{'BM25 ' + name:>12}" for name in columns)
    )
    for name, found_rows in rows.items():
        means = np.mean(found_rows, axis=0)
        print(
            f"{name:<14}{len(found_rows):>5}"
            + "".join(f"{mean:>8.3f}" for mean in means[:4])
            + "".join(f"{mean:>12.3f}" for mean in means[4:])
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--people", nargs="*", help="only these (default: all)")
    parser.add_argument(
        "--missed", action="store_true", help="print the questions without all turns in the first 5"
    )
    options = parser.parse_args()
    people = [json.loads(path.read_text("utf-8")) for path in sorted(PEOPLE.glob("*.json"))]
    people = [each for each in people if not options.people or each["user"] in options.people]
    patient = {
        variable_of(f"{name}_deadline_ms"): "10000"
        for name in ("semantic", "tags", "fuzzy", "time", "graph", "overlay")
    }
    patient |= {variable_of("quarantine_over_ms"): "60000", variable_of("embed_model"): options.model}
    with measured_stack(**patient) as running:
        push(running, [turn for person in people for turn in turns_of(person)])
        measure(running, people, missed=options.missed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
