"""Fits the linear model of the ranking on the evaluation sets, and shows how it does on persons that it has not seen.

    CARDLOG_EVAL_DATA=<folder> python tests/bench/retrieval/fit_ranking.py [--keep FOLDER] [--write FILE]

Each card that answers a question is compared with all found cards that do not. The loss is the negative logarithm of
its softmax among them (a conditional logit), with a small penalty on large coefficients (ridge). A wrong card far below
the right one therefore costs nothing. A set counts as much as any other one, and a question as much as any other one of
its set. The persons are dealt into five parts (of a set of one person, the questions). Each part is asked with the
coefficients of the other four; `±` is the standard error over persons. The coefficients that are written are those of
all persons.
"""

import argparse
import json
import pickle
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import UUID
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from projectors.cards.card import Card
from retrieval.recall.ask import Ask
from retrieval.recall.fusion import Evidence
from retrieval.recall.ranking.asked import Asked as Common
from retrieval.recall.ranking.candidate import Candidate
from retrieval.recall.ranking.linear import Linear, shipped
from retrieval.recall.ranking.places import candidates_of, ranked
from retrieval.recall.recall import Recall, asked_for
from tests.bench.retrieval.quality import (
    SETS,
    Kept,
    Orders,
    Place,
    chosen_sets,
    filled,
    folder_of,
    scores,
    with_recall,
)
from tests.bench.support.provenance import PROVENANCE
from tests.bench.support.recall_data import Asked, EvalSet, record_of

FOLDS = 5
_ONE_PERSON = ("lifebench",)
RIDGE = 5.0
BEFORE: dict[str, float] = json.loads(Path(__file__).with_name("before.json").read_text())["means"]
"""What the ranking of constants, which is in the history alone, reached on the same cards."""
_CHOSEN = (
    "fact asked for",
    "said by the assistant",
    "layer",
    "mode of the session",
    "reference",
    "pasted",
    "last",
    "superseded",
    "spelling place",
)
"""Features that at most one evaluation set has, or that keep a promise. Their coefficients are chosen."""


@dataclass
class Sample:
    """One question: the cards that were found for it, with their evidence and the keys of their terms."""

    name: str
    question: Asked
    asked: Common
    evidence: Mapping[UUID, Evidence]
    terms: Mapping[UUID, frozenset[int]]
    cards: Mapping[UUID, Card]

    @cached_property
    def candidates(self) -> list[Candidate]:
        return candidates_of(self.evidence, self.cards, self.terms, self.asked)

    @property
    def person(self) -> str:
        return f"{self.name}/{self.question.user_id}"

    @property
    def fold(self) -> int:
        return crc32((self.question.text if self.name in _ONE_PERSON else self.person).encode()) % FOLDS

    def right(self, card: Card) -> bool:
        if self.question.evidence:
            return not self.question.evidence.isdisjoint(record_of(turn) for turn in card.turn_ids)
        return any(word.casefold() in card.content.casefold() for word in self.question.wanted)


async def samples_of(recall: Recall, chosen: Sequence[EvalSet]) -> list[Sample]:
    found: list[Sample] = []
    known: dict[UUID, Card] = {}
    for asked in chosen:
        orders = Orders(asked)
        for question in asked.questions:
            ask = Ask(user_id=question.user_id, query=question.text, now=question.at, as_of=question.at, k=20)
            seen, _ = await recall.find(ask)
            cards = {
                card_id: known.setdefault(card_id, card)
                for card_id, card in seen.cards.items()
                if orders.may_answer(question, card)
            }
            common = asked_for(seen, ask)
            terms = {card_id: seen.terms.get(card_id, frozenset()) for card_id in cards}
            found.append(Sample(asked.name, question, common, seen.evidence, terms, cards))
        print(f"{asked.name}: {len(asked.questions)} questions", file=sys.stderr, flush=True)
    return found


@dataclass
class Choices:
    """For each right card, its rivals: the features of each rival minus those of the right card.

    ``starts`` are the first rows of the choices, and ``weights`` and ``folds`` belong to the choices.
    """

    differences: NDArray[np.float64]
    starts: NDArray[np.int64]
    weights: NDArray[np.float64]
    folds: NDArray[np.int64]


def choices_of(samples: Sequence[Sample], names: Sequence[str]) -> Choices:
    rows, starts, weights, folds, sets, total = [], [], [], [], [], 0
    columns = {name: number for number, name in enumerate(names)}
    for sample in samples:
        found = sample.candidates
        table = np.zeros((len(found), len(names)))
        for row, each in enumerate(found):
            for name, value in each.features.items():
                if name in columns:
                    table[row, columns[name]] = value
        right = np.array([sample.right(each.card) for each in found], bool)
        if not right.any() or right.all():
            continue
        # Only the best-found card of each turn has to be high: the others share its place.
        best: dict[tuple[str, ...], int] = {}
        for row in np.flatnonzero(right).tolist():
            best.setdefault(tuple(sorted(found[row].card.turn_ids)), row)
        for row in best.values():
            rows.append(table[~right] - table[row])
            starts.append(total)
            total += len(rows[-1])
            weights.append(1 / len(best))
            folds.append(sample.fold)
            sets.append(sample.name)
    given, of_set = np.array(weights), np.array(sets)
    for name in set(sets):
        given[of_set == name] *= 1000 / given[of_set == name].sum()
    return Choices(np.concatenate(rows), np.array(starts), given, np.array(folds))


def fit(choices: Choices, without: int | None = None) -> NDArray[np.float64]:
    """Returns the coefficients with the least loss over the choices outside a fold, by Newton's method."""
    weights = np.where(choices.folds == without, 0.0, choices.weights)
    choice = np.repeat(np.arange(len(weights)), np.diff(np.append(choices.starts, len(choices.differences))))
    differences = choices.differences
    found = np.zeros(differences.shape[1])

    def loss(at: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The loss, and the share of the softmax that each rival has."""
        ahead = differences @ at
        most = np.maximum(np.maximum.reduceat(ahead, choices.starts), 0.0)
        each = np.exp(ahead - most[choice])
        whole = np.add.reduceat(each, choices.starts) + np.exp(-most)
        return float(weights @ (np.log(whole) + most) + RIDGE / 2 * at @ at), each / whole[choice]

    now, shares = loss(found)
    for _ in range(30):
        weighted = shares * weights[choice]
        gradient = differences.T @ weighted + RIDGE * found
        means = np.add.reduceat(differences * shares[:, None], choices.starts)
        hessian = (differences * weighted[:, None]).T @ differences - (means * weights[:, None]).T @ means
        step = np.linalg.solve(hessian + RIDGE * np.eye(len(found)), gradient)
        length, before = 1.0, now
        while length > 1e-4:
            now, shares = loss(found - length * step)
            if now <= before:
                break
            length /= 2
        found -= length * step
        if before - now < 1e-7 * abs(before):
            break
    return found


def measured(sample: Sample, model: Linear) -> dict[str, float]:
    ranking = ranked(sample.candidates, sample.asked, model)
    turns = {each.card_id: list(each.card.turn_ids) for each in sample.candidates}
    for left_out, kept in ranking.same.items():
        turns[kept] = [*turns[kept], *turns[left_out]]
    return scores(
        sample.question,
        [
            Place(tuple(turns[each.card_id]), each.card.content, each.card_id in ranking.newer)
            for each in ranking.placed[:20]
        ],
    )


def show(title: str, found: Sequence[tuple[Sample, dict[str, float]]]) -> None:
    print(f"{title:<46}{'n':>6}{'mean':>9}{'±':>7}{'before':>9}")
    rows: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for sample, told in found:
        for measure, value in told.items():
            rows[f"{sample.name}: {measure}"][sample.person].append(value)
    for name, persons in sorted(rows.items()):
        every = [value for values in persons.values() for value in values]
        means = [float(np.mean(values)) for values in persons.values()]
        error = np.std(means, ddof=1) / np.sqrt(len(means)) if len(means) > 1 else float("nan")
        before = f"{BEFORE[name]:>9.3f}" if name in BEFORE else ""
        print(f"  {name:<44}{len(every):>6}{np.mean(every):>9.3f}{error:>7.3f}{before}", flush=True)


def model_of(names: Sequence[str], values: NDArray[np.float64], chosen: Mapping[str, float]) -> Linear:
    return Linear({**chosen, **dict(zip(names, values.tolist(), strict=True))}, "fitted")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--keep", type=Path, help="a folder that keeps the found cards for the next run")
    parser.add_argument("--write", type=Path, help="the file of coefficients to write")
    options = parser.parse_args()
    chosen = chosen_sets(options.sets)
    if not chosen:
        return 0
    with folder_of(options.keep) as folder:
        kept_samples = folder / "samples.pickle"
        if kept_samples.exists():
            samples: list[Sample] = pickle.loads(kept_samples.read_bytes())
        else:
            with filled(Kept(folder), chosen) as settings:
                samples = with_recall(settings, lambda recall: samples_of(recall, chosen))
            kept_samples.write_bytes(pickle.dumps(samples))
    samples = [sample for sample in samples if sample.name in options.sets]
    given = {name for sample in samples for each in sample.candidates for name in each.features}
    names = sorted(given - set(_CHOSEN))
    model = shipped()
    fixed = {name: model.coefficients.get(name, 0.0) for name in _CHOSEN}
    choices = choices_of(samples, names)
    held_out = []
    for fold in range(FOLDS):
        values = fit(choices, fold)
        unseen = [each for each in samples if each.fold == fold]
        held_out += [(each, measured(each, model_of(names, values, fixed))) for each in unseen]
    for name in dict.fromkeys(sample.name for sample in samples):
        print(PROVENANCE[name].line(name))
    show("persons left out", held_out)
    values = fit(choices)
    print("\ncoefficients")
    for name, value in sorted(zip(names, values, strict=True), key=lambda each: -abs(each[1])):
        print(f"  {name:<30}{value:>8.3f}")
    if options.write:
        document: dict[str, Any] = {
            "version": 3,
            "date": datetime.now(UTC).date().isoformat(),
            "sets": sorted({sample.name for sample in samples}),
            "fitted": {name: round(float(value), 3) for name, value in zip(names, values, strict=True)},
            "chosen": fixed,
        }
        options.write.write_text(json.dumps(document, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
