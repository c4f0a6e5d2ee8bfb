"""Prints the quality of recall on every evaluation set, beside plain floors over the same turns.

    CARDLOG_EVAL_DATA=<folder> python tests/bench/retrieval/quality.py [--sets beam …] [--keep FOLDER]

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
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import psycopg
from pgvector.psycopg import register_vector

from events.platform.database import statement
from events.platform.settings import Settings, variable_of
from projectors.cards.card import Card
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
from tests.support.waiting import PATIENT

T = TypeVar("T")
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


class Orders:
    """The places of the turns of a set, each in the list of its user."""

    def __init__(self, asked: EvalSet) -> None:
        self._of: dict[str, dict[str, int]] = defaultdict(dict)
        for turn in asked.turns:
            of_user = self._of[turn["user_id"]]
            of_user[turn["turn_id"]] = len(of_user)

    def may_answer(self, question: Asked, card: Card) -> bool:
        """True when all turns of the card are among those that may answer."""
        order, limit = self._of[question.user_id], question.earlier
        return limit is None or all(order.get(turn, 0) < limit for turn in card.turn_ids)


async def ours(recall: Recall, asked: EvalSet) -> list[Answer]:
    """The places of Cardlog's answers, one list for each question."""
    orders = Orders(asked)
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
        places = [
            Place(tuple(each.card.turn_ids), each.card.content, each.perhaps_no_longer is not None)
            for each in answer.cards
            if orders.may_answer(question, each.card)
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


def show(asked: EvalSet, answers: Sequence[dict[str, dict[str, float]]]) -> None:
    print(PROVENANCE[asked.name].line(asked.name))
    print(f"{'':<36}{'n':>6}" + "".join(f"{name:>11}" for name in SYSTEMS))
    for measure in dict.fromkeys(name for answer in answers for name in answer["ours"]):
        rows = [answer for answer in answers if measure in answer["ours"]]
        means = [np.mean([row[system].get(measure, np.nan) for row in rows]) for system in SYSTEMS]
        line = "".join(f"{mean:>11.3f}" for mean in means)
        print(f"  {measure:<34}{len(rows):>6}{line}", flush=True)


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


def chosen_sets(names: Sequence[str], users: int | None = None) -> list[EvalSet]:
    """The named sets that the folder of evaluation data holds."""
    found = []
    for name in names:
        load, parts = SETS[name]
        if path := eval_data(*parts):
            found.append(of_users(load(path), users))
    return found


@contextmanager
def filled(kept: Kept, chosen: Sequence[EvalSet], model: str = DEFAULT_MODEL) -> Iterator[Settings]:
    """Pushes the sets into the stack of a folder. Yields the settings of a recall that waits for every channel."""
    patient: dict[str, Any] = {name: value for name, value in PATIENT.items() if name.endswith("_ms")}
    running = start(kept.folder / "data", **{variable_of("embed_model"): model})
    try:
        for asked in chosen:
            kept.push(running, asked)
        yield replace(
            Settings(),
            **patient,
            embed_model=model,
            database_url=running.admin_database_url,
            redis_url=running.redis_url,
        )
    finally:
        stop(running)


def with_recall(settings: Settings, work: Callable[[Recall], Coroutine[Any, Any, T]]) -> T:
    """Returns the result of ``work`` on the recall of the service, in this process."""

    async def run() -> T:
        pool = open_pool(settings, "bench")
        await pool.open(wait=True)
        recall = open_recall(settings, pool)
        recall.warm()
        try:
            return await work(recall)
        finally:
            await recall.close()
            await pool.close()

    return asyncio.run(run())


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
    options = parser.parse_args()
    chosen = chosen_sets(options.sets, options.users)
    if not chosen:
        return 0

    async def answers(recall: Recall) -> list[tuple[list[Answer], list[dict[str, float]]]]:
        return [(await ours(recall, asked), await prompts(recall, asked)) for asked in chosen]

    with folder_of(options.keep) as folder, filled(kept := Kept(folder), chosen, options.model) as settings:
        found = with_recall(settings, answers)
        embedder = open_embedder(options.model)
        vectors = kept.vectors(settings.database_url, embedder)
        beside = [kept.floors(asked, vectors, embedder.embed_question) for asked in chosen]
    for asked, (places, shown), others in zip(chosen, found, beside, strict=True):
        rows = [
            {"ours": scores(question, answer) | prompt, **floor}
            for question, answer, prompt, floor in zip(asked.questions, places, shown, others, strict=True)
        ]
        show(asked, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
