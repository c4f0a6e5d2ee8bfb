"""``cardlog eval people``: the precision and the recall of merges at each threshold, and the chosen point."""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations, pairwise
from pathlib import Path

from deploy.options import Json
from evaluation.people.dialogues import Dialogue, dialogues
from events.people.evidence import APPLIED, PROPOSED, SCORES
from events.people.mentions import answered, handle_of, read
from events.people.person import Handle, fold

_DATA = "CARDLOG_EVAL_DATA"
_SAID = datetime(2026, 1, 1, tzinfo=UTC)
THRESHOLDS = tuple(sorted({*SCORES.values(), PROPOSED, APPLIED}, reverse=True))


@dataclass(frozen=True, slots=True)
class Point:
    """Merges at one threshold: pairs of names made one person, the right ones of them, and all that should be."""

    threshold: float
    right: int
    merged: int
    same: int

    @property
    def precision(self) -> float | None:
        return self.right / self.merged if self.merged else None

    @property
    def recall(self) -> float | None:
        return self.right / self.same if self.same else None

    def document(self) -> dict[str, float | int | None]:
        return {
            "threshold": self.threshold, "precision": self.precision, "recall": self.recall,
            "right": self.right, "merged": self.merged, "same": self.same,
        }  # fmt: skip


def curve(read_from: Iterable[Dialogue]) -> dict[str, list[Point]]:
    """Returns the points of each set and of all, with the highest threshold first."""
    counts: dict[tuple[str, float], list[int]] = {}
    for dialogue in read_from:
        for threshold in THRESHOLDS:
            made = merges_of(dialogue, threshold)
            for name in (dialogue.name.partition("/")[0], "all"):
                of = counts.setdefault((name, threshold), [0, 0, 0])
                of[0] += len(made & dialogue.same)
                of[1] += len(made)
                of[2] += len(dialogue.same)
    found: dict[str, list[Point]] = {}
    for (name, threshold), numbers in counts.items():
        found.setdefault(name, []).append(Point(threshold, *numbers))
    return found


def merges_of(dialogue: Dialogue, threshold: float) -> frozenset[frozenset[str]]:
    """Returns the pairs of names that are one person, when proposals of ``threshold`` and above are applied."""
    handles = {handle_of(name): name for name in dialogue.names}
    known = [
        Handle(handle=handle, name=name, certain=True, since=_SAID, until=_SAID)
        for handle, name in handles.items()
    ]
    links = [link for line in dialogue.lines for link in read(line.text).links]
    links += [
        link
        for called, said in pairwise(dialogue.lines)
        for link in answered(called, said.speaker or "nobody")
    ]
    people = fold(dialogue.name, known, links, (), threshold)
    return frozenset(
        frozenset(handles[each] for each in pair)
        for person in people.people
        for pair in combinations((each for each in person.handles if each in handles), 2)
    )


def run_people(*, as_json: Json = False) -> int:
    """Precision and recall of merges of people, as a curve over the threshold.

    Reads the dialogues of DialogRE (English, Chinese) and of Character Identification in the folder of
    CARDLOG_EVAL_DATA. The names are those of the labels, so the numbers are about merging and not about finding names.
    Exit status 1 without the data.
    """
    folder = Path(os.environ.get(_DATA, "../shared/eval"))
    found = curve(dialogues(folder))
    if not found:
        print(f"{folder}/people is not there: set {_DATA} to a folder with people/")
        return 1
    if as_json:
        print(json.dumps({name: [each.document() for each in points] for name, points in found.items()}))
        return 0
    print(f"{'':<14}{'threshold':>10}{'precision':>11}{'recall':>8}{'right':>7}{'merged':>8}{'same':>6}")
    for name, points in found.items():
        for each in points:
            mark = "  <- applied" if each.threshold == APPLIED else ""
            print(
                f"{name:<14}{each.threshold:>10.2f}{_share(each.precision):>11}{_share(each.recall):>8}"
                f"{each.right:>7}{each.merged:>8}{each.same:>6}{mark}"
            )
    return 0


def _share(value: float | None) -> str:
    return "?" if value is None else f"{value:.3f}"
