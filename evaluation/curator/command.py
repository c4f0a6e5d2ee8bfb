"""``cardlog eval curator``: precision and recall of the relations between pairs of statements."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Annotated, Literal

from cyclopts import Parameter

from deploy.options import Json
from ingest.curator.connect import LEAST, judge
from ingest.curator.statements import statement

PREDICATES = ("same_as", "expands", "qualifies", "contradicts", "update")
SETS = ("pairs", "held_out")


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two statements with their relation, from the later to the earlier one. ``none``: nobody may relate them."""

    predicate: str
    earlier: str
    later: str


def labelled(name: str) -> Iterator[LabelledPair]:
    """Yields the pairs of a set. Raises ValueError for a line in another form."""
    for line in files("evaluation.curator").joinpath(f"{name}.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            predicate, earlier, later = (part.strip() for part in line.split("|"))
            yield LabelledPair(predicate, earlier, later)


def found(pair: LabelledPair) -> str:
    """Returns the predicate that the curator finds. `state_change` is a kind of update here."""
    one, two = statement(pair.earlier), statement(pair.later)
    verdict = None if one is None or two is None else judge(one, two)
    if verdict is None or verdict.confidence < LEAST:
        return "none"
    return "update" if verdict.predicate == "state_change" else verdict.predicate


@dataclass(frozen=True, slots=True)
class Score:
    """``right`` of ``found`` relations are right, and ``labelled`` pairs have the relation."""

    right: int
    found: int
    labelled: int

    @property
    def precision(self) -> float | None:
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        return self.right / self.labelled if self.labelled else None


def scores(name: str) -> tuple[dict[str, Score], list[str]]:
    """Returns the score of each predicate on a set, and one line for each mistake."""
    right: Counter[str] = Counter()
    given: Counter[str] = Counter()
    wanted: Counter[str] = Counter()
    mistakes = []
    for pair in labelled(name):
        predicate = found(pair)
        wanted[pair.predicate] += 1
        given[predicate] += 1
        if predicate == pair.predicate:
            right[predicate] += 1
        else:
            mistakes.append(f"{pair.predicate} -> {predicate}: {pair.earlier} | {pair.later}")
    return {each: Score(right[each], given[each], wanted[each]) for each in PREDICATES}, mistakes


def run_curator(
    *,
    on: Annotated[
        Literal["pairs", "held_out"] | None,
        Parameter(name="--set", help="pairs are those of the tuning (default: both)"),
    ] = None,
    mistakes: Annotated[bool, Parameter(help="print every mistake")] = False,
    as_json: Json = False,
) -> int:
    """Precision and recall of the curator's relations, by predicate.

    Reads pairs of statements in English and Chinese that were labelled by hand, with look-alikes that nobody may
    relate. The pairs are statements alone, so the numbers are about reading and judging them.
    """
    document = {}
    for name in (on,) if on else SETS:
        by_predicate, wrong = scores(name)
        document[name] = {
            each: {"precision": score.precision, "recall": score.recall, "labelled": score.labelled}
            for each, score in by_predicate.items()
        }
        if as_json:
            continue
        print(f"{name:<14}{'precision':>10}{'recall':>10}{'right':>7}{'found':>7}{'labelled':>10}")
        for each, score in by_predicate.items():
            shares = f"{_share(score.precision):>10}{_share(score.recall):>10}"
            print(f"  {each:<12}{shares}{score.right:>7}{score.found:>7}{score.labelled:>10}")
        if mistakes:
            print("\n".join(f"    {line}" for line in wrong))
    if as_json:
        print(json.dumps(document))
    return 0


def _share(value: float | None) -> str:
    return "?" if value is None else f"{value:.3f}"
