"""The curve of merges counts pairs of names, and falls with wrong ones."""

from __future__ import annotations

from evaluation.people.command import curve
from evaluation.people.dialogues import Dialogue
from events.types.cards import Utterance


def test_the_curve_counts_pairs_by_threshold() -> None:
    lines = (Utterance("Ro, are you there?", "Max Weiler"), Utterance("Yes!", "Romy Adler"))
    same = frozenset(map(frozenset, [("Max", "Max Weiler"), ("Romy Adler", "Rom"), ("Kit", "Boss")]))
    names = ("Boss", "Kit", "Max", "Max Weiler", "Rom", "Romy Adler", "Mr. Adler")
    points = {each.threshold: each for each in curve([Dialogue("one/1", names, lines, same)])["all"]}
    assert (points[0.95].right, points[0.95].merged, points[0.95].same) == (1, 1, 3)
    assert (points[0.6].precision, points[0.6].recall) == (0.5, 2 / 3)
