"""Prints the quality of recall on every evaluation set, beside plain floors over the same turns.

    CARDLOG_EVAL_DATA=<folder> python tests/bench/retrieval/quality.py [--sets beam …] [--keep FOLDER] [--categories]

The columns are Cardlog (`ours`), BM25, BM25 of the user's turns alone, vectors (`dense`), and BM25 with vectors by
reciprocal ranks (`RRF`). The rows are how often the first place is right; evidence recall at 5, 10 and 20; for changed
facts, how often the newer one is above the older; for meetings, how often the first card and the first five hold a word
that answers. The ranking is fitted on these sets, so `ours` is a figure on training data; `fit_ranking.py` prints those
of persons left out.

With `--keep`, the folder keeps the turns, the cards and the floors, and the next run only asks the questions. A folder
is made for one version of the extractor: use another folder after a change there.
"""

import argparse
import asyncio
import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from pgvector.psycopg import register_vector

from events.platform.database import statement
from events.platform.settings import Settings, variable_of
from projectors.embedding.embedder import DEFAULT_MODEL, Embedder, Vectors, open_embedder
from retrieval.context.context import context_of
from retrieval.http.wiring import open_recall
from retrieval.pool import open_pool
from retrieval.recall.ask import Ask
from retrieval.recall.recall import Recall
from tests.bench.support.assistant_data import CHATS, aging, beam, chats, realmem
from tests.bench.support.baselines import Baselines
from tests.bench.support.locomo import push
from tests.bench.support.provenance import PROVENANCE
from tests.bench.support.recall_data import Asked, EvalSet, lifebench, locomo, memdaily, record_of
from tests.bench.support.revision_data import everyday, statebench
from tests.bench.support.stack import eval_data
from tests.support.stack import start, stop

CUTS = (5, 10, 20)
SYSTEMS = ("ours", "BM25", "BM25 user", "dense", "RRF")
SETS: dict[str, tuple[Callable[[Path], EvalSet], tuple[str, ...]]] = {
    "locomo": (locomo, ("locomo", "locomo_dev.json")),
    "beam": (beam, ("beam",)),
    "realmem": (realmem, ("realmem",)),
    "aging": (aging, ("aging",)),
    "lifebench": (lifebench, ("lifebench_zh",)),
    "memdaily": (memdaily, ("memdaily_zh",)),
    "everyday": (everyday, ("everyday", "set.json")),
    "statebench": (statebench, ("statebench",)),
    "chats-en": (chats, (str(CHATS / "en.jsonl"),)),
    "chats-zh": (chats, (str(CHATS / "zh.jsonl"),)),
}
_ELEMENT = re.compile(r'<(state|event|knowledge|reference) n="\d+"([^>]*)>(.*?)</\1>', re.DOTALL)
# The answer of a set whose later turns are stored too is searched deeper, and the later turns are then left out.
_DEEPER = 3


@dataclass(frozen=True)
class Place:
    """One place of an answer: the turns behind it, its words, and if it is marked as perhaps over."""

    turns: tuple[str, ...]
    text: str
    marked: bool = False


Answer = list[Place]


def scores(question: Asked, answer: Answer) -> dict[str, float]:
    """Returns every measure that fits the question, each from 0 to 1."""
    found: dict[str, float] = {}
    records = [{record_of(turn) for turn in place.turns} for place in answer]
    if question.evidence:
        found["first"] = float(bool(records and question.evidence & records[0]))
        for cut in CUTS:
            behind = set().union(*records[:cut])
            found[f"R@{cut}"] = len(question.evidence & behind) / len(question.evidence)
        of_evidence = zip(answer[:5], records, strict=False)
        right = [place.marked for place, record in of_evidence if record & question.evidence]
        if right and not (question.fresh or question.unwanted):
            found["evidence marked in the first 5"] = sum(right) / len(right)
    if question.fresh:
        fresh = _first(records, question.fresh)
        found["changed facts: R@5"] = found["R@5"]
        found["changed facts: fresh first"] = float(
            fresh < _first(records, question.stale) and fresh < len(records)
        )
    if question.wanted:
        name = "value" if question.unwanted else "keyword"
        words = [_holds(place.text, question.wanted) for place in answer]
        found |= {f"{name} in the first {cut}": float(any(words[:cut])) for cut in (1, 5)}
    if question.unwanted:
        gold = next((n for n, place in enumerate(answer) if _holds(place.text, question.wanted)), None)
        old = next(
            (n for n, place in enumerate(answer) if _holds(place.text, question.unwanted)), len(answer)
        )
        found["value above the older one"] = float(gold is not None and gold <= old)
        found["older value unmarked in the first 5"] = _unmarked(question, answer[:5])
    return found


def _unmarked(question: Asked, places: Sequence[Place]) -> float:
    """1 if a place shows the replaced value, and neither the new one nor the mark of a card that yields."""
    return float(
        any(
            not place.marked and _holds(place.text, question.unwanted)
            for place in places
            if not _holds(place.text, question.wanted)
        )
    )


def _first(records: Sequence[set[str]], wanted: frozenset[str]) -> int:
    return next((n for n, record in enumerate(records) if record & wanted), len(records))


def _holds(text: str, words: Sequence[str]) -> bool:
    folded = text.casefold()
    return any(word.casefold() in folded for word in words)


async def ours(recall: Recall, asked: EvalSet) -> list[Answer]:
    """The places of Cardlog's answers, one list for each question."""
    orders: dict[str, dict[str, int]] = defaultdict(dict)
    for turn in asked.turns:
        orders[turn["user_id"]][turn["turn_id"]] = len(orders[turn["user_id"]])
    answers = []
    for question in asked.questions:
        most = max(CUTS)
        answer = await recall.answer(
            Ask(
                user_id=question.user_id,
                query=question.text,
                now=question.at,
                as_of=question.at,
                k=most if question.earlier is None else _DEEPER * most,
            )
        )
        order = orders[question.user_id]
        places = [
            Place(tuple(each.card.turn_ids), each.card.content, each.perhaps_no_longer is not None)
            for each in answer.cards
            if question.earlier is None
            or all(order.get(turn, 0) < question.earlier for turn in each.card.turn_ids)
        ]
        answers.append(places[:most])
    return answers


async def prompts(recall: Recall, asked: EvalSet) -> list[dict[str, float]]:
    """What a prompt shows of replaced values, for each question about one. The prompt is that of ``/v1/context``."""
    found: list[dict[str, float]] = []
    for question in asked.questions:
        if not question.unwanted:
            found.append({})
            continue
        ask = Ask(user_id=question.user_id, query=question.text, now=question.at, as_of=question.at, k=5)
        text = context_of(await recall.answer(ask), None).text
        places = [Place((), unescape(each[3]), "newer=" in each[2]) for each in _ELEMENT.finditer(text)]
        found.append(
            {
                "older value unmarked in the prompt": _unmarked(question, places),
                "value in the prompt": float(any(_holds(place.text, question.wanted) for place in places)),
            }
        )
    return found


def floors(
    asked: EvalSet, vectors: Callable[[Sequence[str]], Vectors], of_question: Callable[[str], Vectors]
) -> list[dict[str, Answer]]:
    """The places of each floor's answers, one mapping for each question."""
    by_user: dict[str, list[dict[str, str]]] = defaultdict(list)
    for turn in asked.turns:
        by_user[turn["user_id"]].append(turn)
    rankers = {user: Baselines(turns, vectors, of_question) for user, turns in by_user.items()}
    found = []
    for question in asked.questions:
        turns = by_user[question.user_id]
        ranked = rankers[question.user_id].rankings(question, max(CUTS))
        found.append(
            {
                name: [Place((turns[n]["turn_id"],), turns[n]["text"]) for n in places]
                for name, places in ranked.items()
            }
        )
    return found


def show(asked: EvalSet, answers: Sequence[dict[str, dict[str, float]]], *, categories: bool) -> None:
    print(PROVENANCE[asked.name].line(asked.name))
    print(f"{'':<36}{'n':>6}" + "".join(f"{name:>11}" for name in SYSTEMS))
    groups: dict[str, list[int]] = {"all": []}
    for number, question in enumerate(asked.questions):
        groups["all"].append(number)
        if categories:
            groups.setdefault(question.category, []).append(number)
    for group, numbers in groups.items():
        measures = dict.fromkeys(name for n in numbers for name in answers[n]["ours"])
        for measure in measures:
            rows = [answers[n] for n in numbers if measure in answers[n]["ours"]]
            means = [np.mean([row[system].get(measure, np.nan) for row in rows]) for system in SYSTEMS]
            line = "".join(f"{mean:>11.3f}" for mean in means)
            print(f"  {group + ': ' + measure:<34}{len(rows):>6}{line}", flush=True)


class Kept:
    """What a folder keeps between runs: a stack's data, the names of the sets in it, and the floors' answers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._pushed = folder / "pushed.json"

    @property
    def pushed(self) -> list[str]:
        return json.loads(self._pushed.read_text()) if self._pushed.exists() else []

    def push(self, running: Any, asked: EvalSet) -> None:
        if asked.name not in self.pushed:
            seconds = push(running, asked.turns)
            print(f"{asked.name}: {len(asked.turns)} turns in {seconds:.0f} s", file=sys.stderr, flush=True)
            self._pushed.write_text(json.dumps([*self.pushed, asked.name]))

    def floors(
        self,
        asked: EvalSet,
        vectors: Callable[[Sequence[str]], Vectors],
        of_question: Callable[[str], Vectors],
    ) -> list[dict[str, dict[str, float]]]:
        path = self.folder / f"floors-{asked.name}.json"
        if path.exists():
            kept: list[dict[str, dict[str, float]]] = json.loads(path.read_text())
            return kept
        found = [
            {name: scores(question, answer) for name, answer in each.items()}
            for question, each in zip(asked.questions, floors(asked, vectors, of_question), strict=True)
        ]
        path.write_text(json.dumps(found))
        return found

    @staticmethod
    def vectors(url: str, embedder: Embedder) -> Callable[[Sequence[str]], Vectors]:
        """A function that embeds texts, each once a run. It takes the vectors that the database has already."""
        known = dict[str, Any]()

        def embed(texts: Sequence[str]) -> Vectors:
            missing = [text for text in dict.fromkeys(texts) if text not in known]
            if missing:
                known.update(_stored(url, embedder.fingerprint, missing))
                fresh = [text for text in missing if text not in known]
                known.update(zip(fresh, embedder.embed(fresh), strict=True))
            return np.stack([known[text] for text in texts])

        return embed


def _stored(url: str, model: str, texts: Sequence[str]) -> dict[str, Any]:
    hashes = {sha256(text.encode()).digest(): text for text in texts}
    with psycopg.connect(url) as connection:
        register_vector(connection)
        rows = connection.execute(
            statement("projectors.vectors", "cached"), {"model": model, "hashes": list(hashes)}
        )
        return {hashes[bytes(row[0])]: row[1].to_numpy() for row in rows}


@contextmanager
def folder_of(given: Path | None) -> Iterator[Path]:
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="cardlog-quality-") as made:
        yield Path(made)


def of_users(asked: EvalSet, most: int | None) -> EvalSet:
    users = set(list(dict.fromkeys(turn["user_id"] for turn in asked.turns))[:most])
    return replace(
        asked,
        turns=[turn for turn in asked.turns if turn["user_id"] in users],
        questions=[each for each in asked.questions if each.user_id in users],
    )


async def answers_of(
    settings: Settings, chosen: Sequence[EvalSet]
) -> list[tuple[list[Answer], list[dict[str, float]]]]:
    pool = open_pool(settings, "bench")
    await pool.open(wait=True)
    recall = open_recall(settings, pool)
    recall.warm()
    try:
        return [(await ours(recall, asked), await prompts(recall, asked)) for asked in chosen]
    finally:
        await recall.close()
        await pool.close()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--keep", type=Path, help="a folder that keeps cards and floors for the next run")
    parser.add_argument("--users", type=int, help="only so many users of each set, in a folder of their own")
    parser.add_argument(
        "--model", default=DEFAULT_MODEL, help="the embedding model; a folder is for one model"
    )
    parser.add_argument("--categories", action="store_true", help="also by the category of the question")
    options = parser.parse_args()
    chosen = []
    for name in options.sets:
        load, parts = SETS[name]
        if path := eval_data(*parts):
            chosen.append(of_users(load(path), options.users))
    if not chosen:
        return 0
    patient: dict[str, Any] = {
        f"{name}_deadline_ms": 20_000 for name in ("semantic", "tags", "fuzzy", "time", "graph")
    }
    with folder_of(options.keep) as folder:
        kept = Kept(folder)
        running = start(folder / "data", **{variable_of("embed_model"): options.model})
        try:
            for asked in chosen:
                kept.push(running, asked)
            settings = replace(
                Settings(),
                **patient,
                quarantine_over_ms=100_000,
                embed_model=options.model,
                database_url=running.admin_database_url,
                redis_url=running.redis_url,
            )
            found = asyncio.run(answers_of(settings, chosen))
            embedder = open_embedder(options.model)
            vectors = kept.vectors(running.admin_database_url, embedder)
            beside = [kept.floors(asked, vectors, embedder.embed_question) for asked in chosen]
        finally:
            stop(running)
    for asked, (answers, shown), others in zip(chosen, found, beside, strict=True):
        rows = [
            {"ours": scores(question, answer) | prompt, **floor}
            for question, answer, prompt, floor in zip(asked.questions, answers, shown, others, strict=True)
        ]
        show(asked, rows, categories=options.categories)
    return 0


if __name__ == "__main__":
    sys.exit(main())
