"""The curve: recall against depth, one line a mechanism."""

import math
from pathlib import Path

from tests.aging.chains import DEPTHS, MECHANISMS
from tests.aging.scoring import Scores


def draw(scores: Scores, path: Path) -> None:
    """Write a PNG to ``path``."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    steps = range(scores.depths)
    for mechanism, marker in zip(MECHANISMS, "osD^", strict=True):
        recalls = [scores.recall(mechanism, step) for step in steps]
        axes.plot(
            steps,
            [math.nan if recall is None else recall for recall in recalls],
            marker=marker,
            label=mechanism,
            alpha=0.8,
        )
    axes.set_xticks(
        list(steps),
        [
            f"d{step}\n{depth.turns} turns\n{depth.days} days"
            for step, depth in zip(steps, DEPTHS, strict=True)
        ],
    )
    axes.set_ylim(0, 1.05)
    axes.set_ylabel("current value in the top 5,\nnothing superseded above it")
    axes.set_title("Recall against depth")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower left")
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
