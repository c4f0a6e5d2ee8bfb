"""Turn-level evidence recall on LoCoMo through the whole system: queue, log, folds, recall over HTTP.

For each question, the share of its evidence turns among the turns behind the first k cards; the mean over
questions, by category (1 multi-hop, 2 temporal, 3 open-domain, 4 single-hop, 5 adversarial).
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2

from tests.bench.support.stack import eval_data, measured_stack
from tests.support.stack import Running

CUTS = (5, 10, 20)
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


def measure(
    running: Running, conversations: list[dict[str, Any]], cuts: tuple[int, ...] = CUTS
) -> dict[str, list[float]]:
    """Mean evidence recall at each cut, by category and over all."""
    found: dict[str, list[list[float]]] = defaultdict(list)
    with httpx2.Client(timeout=60, headers=running.headers) as client:
        for conversation in conversations:
            last = max(turn["said_at"] for turn in turns_of(conversation))
            for question in conversation["qa"]:
                evidence = evidence_of(question)
                if not evidence:
                    continue
                answer = client.post(
                    f"{running.read_url}/v1/recall",
                    json={
                        "user_id": conversation["sample_id"],
                        "query": question["question"],
                        "k": max(cuts),
                        "as_of": last,
                    },
                ).json()
                ranks = [
                    len(
                        evidence.intersection(
                            *[set().union(*[card["turn_ids"] for card in answer["cards"][:cut]])]
                        )
                    )
                    / len(evidence)
                    for cut in cuts
                ]
                found[str(question["category"])].append(ranks)
                found["all"].append(ranks)
    return {
        category: [sum(column) / len(rows) for column in zip(*rows, strict=True)] + [len(rows)]
        for category, rows in sorted(found.items())
    }


def push(running: Running, turns: list[dict[str, str]]) -> float:
    """Pushes, waits until all turns are projected, and returns the seconds."""
    began = time.monotonic()
    with httpx2.Client(timeout=60, headers=running.headers) as client:
        for start in range(0, len(turns), 500):
            client.post(f"{running.write_url}/v1/turns", json=turns[start : start + 500]).raise_for_status()
    running.wait(within_s=900)
    return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=int, default=None, help="only the first so many")
    options = parser.parse_args()
    path: Path | None = eval_data("locomo", "locomo_dev.json")
    if path is None:
        return
    conversations = json.loads(path.read_text())[: options.conversations]
    turns = [turn for conversation in conversations for turn in turns_of(conversation)]
    with measured_stack() as running:
        seconds = push(running, turns)
        print(
            f"{len(turns)} turns of {len(conversations)} conversations, cards with vectors after {seconds:.1f} s "
            f"({len(turns) / seconds:.0f} turns/s)"
        )
        began = time.monotonic()
        table = measure(running, conversations)
        asked = int(table["all"][-1])
        print(
            f"{asked} questions, {(time.monotonic() - began) / asked * 1000:.1f} ms each, one after the other"
        )
        print(f"{'category':<10}" + "".join(f"{f'R@{cut}':>8}" for cut in CUTS) + f"{'n':>7}")
        for category, row in table.items():
            print(f"{category:<10}" + "".join(f"{value:>8.3f}" for value in row[:-1]) + f"{int(row[-1]):>7}")


if __name__ == "__main__":
    main()
