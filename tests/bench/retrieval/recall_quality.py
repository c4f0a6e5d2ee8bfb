"""Measures the worth of each channel end to end: turns are pushed and folded, and recall answers.

    CARDLOG_EVAL_DATA=<folder> python tests/bench/retrieval/recall_quality.py [--sets locomo memdaily lifebench]
    [--by-category]

Evidence recall@5/@10/@20 of all channels, of each alone, of all but each, and with misspelt questions: two letters of
one English name or word swapped, one Chinese character of the question replaced. The floor, BM25 over characters for
the Chinese sets, is computed in the same run. Weights were chosen on the first two conversations of LoCoMo.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from events.language.chinese_script import has_cjk
from events.platform.settings import Settings
from retrieval.cards.past import fold_of
from retrieval.channels.channel import Channel
from retrieval.channels.graph import GraphChannel
from retrieval.http.wiring import open_channel_executor, open_channels
from retrieval.modes.reader import ModeReader
from retrieval.pool.connections import open_pool
from retrieval.recall.card_resolution import CardResolver
from retrieval.recall.overlay import Overlay
from retrieval.recall.ranking.linear import load
from retrieval.recall.recall import Ask, Recall
from retrieval.recall.user_sizes import UserSizes
from tests.bench.retrieval.locomo import push
from tests.bench.retrieval.locomo_offline import by_terms
from tests.bench.support.recall_data import Asked, EvalSet, lifebench, locomo, memdaily, record_of
from tests.bench.support.stack import eval_data, measured_stack

CUTS = (5, 10, 20)
Rows = dict[str, list[list[float]]]
SETS: dict[str, tuple[Callable[[Path], EvalSet], tuple[str, ...]]] = {
    "locomo": (locomo, ("locomo", "locomo_dev.json")),
    "memdaily": (memdaily, ("memdaily_zh",)),
    "lifebench": (lifebench, ("lifebench_zh",)),
}


def found(question: Asked, turns: Sequence[Sequence[str]]) -> list[float]:
    """The share of the evidence among the records behind the first cards, at each cut-off."""
    records = [{record_of(turn) for turn in each} for each in turns]
    return [len(question.evidence & set().union(*records[:cut])) / len(question.evidence) for cut in CUTS]


async def measure(recall: Recall, asked: EvalSet, *, rewrite: Callable[[str], str] = str) -> Rows:
    rows: Rows = defaultdict(list)
    for question in asked.questions:
        ask = Ask(user_id=question.user_id, query=rewrite(question.text), now=question.at, k=max(CUTS))
        answer = await recall.answer(ask)
        shares = found(question, [each.card.turn_ids for each in answer.cards])
        for group in {"all", question.category, question.user_id}:
            rows[group].append(shares)
    return rows


def floor(asked: EvalSet) -> Rows:
    """BM25 over characters, without an installation or training."""
    turns = defaultdict(list)
    for turn in asked.turns:
        turns[turn["user_id"]].append(turn)
    channels = {
        user: by_terms([characters(turn["text"]) for turn in said], characters)
        for user, said in turns.items()
    }
    rows: Rows = defaultdict(list)
    for question in asked.questions:
        order = np.argsort(-channels[question.user_id](question.text), kind="stable")[: max(CUTS)]
        shares = found(question, [[turns[question.user_id][index]["turn_id"]] for index in order.tolist()])
        for group in {"all", question.category, question.user_id}:
            rows[group].append(shares)
    return rows


def characters(text: str) -> dict[str, float]:
    counts: dict[str, float] = defaultdict(float)
    for character in text:
        if character.isalnum():
            counts[character] += 1.0
    return counts


def misspelt(text: str) -> str:
    """Returns the question with one typo in its longest word, or one replaced Chinese character, always the same."""
    chance = random.Random(text)
    if has_cjk(text):
        places = [place for place, character in enumerate(text) if has_cjk(character)]
        place = chance.choice(places)
        return text[:place] + chr(0x4E00 + chance.randrange(5000)) + text[place + 1 :]
    word = max(text.split(), key=len)
    if len(word) < 5:
        return text
    place = chance.randrange(1, len(word) - 2)
    return text.replace(word, word[:place] + word[place + 1] + word[place] + word[place + 2 :], 1)


def show(name: str, rows: Rows, *, by_category: bool = False) -> None:
    for category, shares in sorted(rows.items(), key=lambda item: item[0] != "all"):
        if category == "all" or by_category:
            means = np.mean(shares, axis=0)
            title = name if category == "all" else f"  {category}"
            print(
                f"{title:<34}" + "".join(f"{mean:>8.3f}" for mean in means) + f"{len(shares):>7}", flush=True
            )


async def ablation(settings: Settings, asked: EvalSet, *, by_category: bool, quick: bool) -> None:
    pool = open_pool(settings, "bench")
    await pool.open(wait=True)
    channels: list[Channel] = open_channels(settings)
    for channel in channels:
        channel.warm()

    reading, overlay = CardResolver(pool, fold_of(settings)), Overlay(settings)

    def recall(chosen: Sequence[Channel], graph: bool) -> Recall:
        return Recall(
            UserSizes(pool),
            open_channel_executor(settings, pool),
            chosen,
            GraphChannel() if graph else None,
            reading,
            overlay,
            ModeReader(pool, {}),
            load(""),
        )

    try:
        show("all channels", await measure(recall(channels, True), asked), by_category=by_category)
        show("all, misspelt", await measure(recall(channels, True), asked, rewrite=misspelt))
        for channel in [] if quick else channels:
            others = [each for each in channels if each is not channel]
            show(f"all but {channel.name}", await measure(recall(others, True), asked))
            show(f"{channel.name} alone", await measure(recall([channel], False), asked))
        show("all but graph", await measure(recall(channels, False), asked))
    finally:
        await overlay.close()
        await pool.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--by-category", action="store_true", help="also by category and by user")
    parser.add_argument(
        "--quick", action="store_true", help="only all channels, misspelt, and without the graph"
    )
    parser.add_argument("--url", help="a database that holds the sets already")
    options = parser.parse_args()
    chosen = []
    for name in options.sets:
        load, parts = SETS[name]
        if path := eval_data(*parts):
            chosen.append(load(path))
    patient: dict[str, Any] = {
        f"{name}_deadline_ms": 10_000 for name in ("semantic", "tags", "fuzzy", "time", "graph")
    }
    settings = replace(Settings(), **patient, quarantine_over_ms=100_000)

    def run(url: str) -> None:
        for asked in chosen:
            print(f"{asked.name:<34}" + "".join(f"{f'R@{cut}':>8}" for cut in CUTS) + f"{'n':>7}")
            if asked.name != "locomo":
                show("floor: BM25 over characters", floor(asked), by_category=options.by_category)
            asyncio.run(
                ablation(
                    replace(settings, database_url=url),
                    asked,
                    by_category=options.by_category,
                    quick=options.quick,
                )
            )

    if options.url:
        run(options.url)
    elif chosen:
        with measured_stack() as running:
            for asked in chosen:
                push(running, asked.turns)
            run(running.admin_database_url)
    return 0


if __name__ == "__main__":
    sys.exit(main())
