"""Grow every chain through the real way, ask at each depth, print the table and draw the curve.

Turns go into the Redis stream as an app pushes them, and become cards behind a whole Cardlog with servers of
its own; questions go over HTTP, as of the instant the history has reached.
"""

import argparse
import json
import time
from pathlib import Path

from tests.aging.chains import DEPTHS, MECHANISMS, chains
from tests.aging.growth import grow
from tests.aging.plot import draw
from tests.bench.support.stack import measured_stack

# The test measures what a memory keeps and not its speed, so a busy machine must not silence a channel.
_PATIENT = {f"CARDLOG_{channel}_DEADLINE_MS": "10000" for channel in ("SEMANTIC", "TAGS", "FUZZY", "TIME")}


def main() -> int:
    """Exits with 1 when a goal is missed."""
    parser = argparse.ArgumentParser(prog="make aging", description=__doc__)
    parser.add_argument("--chains", type=int, default=10, help="chains of each mechanism (10)")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--plot", type=Path, default=Path("aging.png"), help="where the curve is drawn")
    parser.add_argument("--misses", action="store_true", help="print every wrong answer")
    parser.add_argument("--json", action="store_true", help="print the numbers as a JSON line, too")
    options = parser.parse_args()
    told = chains(options.chains, options.seed)
    began = time.monotonic()
    with measured_stack(**_PATIENT) as running:
        scores = grow(running, told, note=print)
    print(scores.table())
    print(
        f"{sum(scores.asked.values())} questions of {len(told)} chains, {sum(len(p) for c in told for p in c.parts)} "
        f"turns, {time.monotonic() - began:.0f} s"
    )
    if options.misses:
        print("\n".join(scores.misses))
    draw(scores, options.plot)
    print(f"drawn in {options.plot}")
    if options.json:
        print(
            json.dumps(
                {name: [scores.recall(name, depth) for depth in range(len(DEPTHS))] for name in MECHANISMS}
            )
        )
    for missed in scores.missed_goals():
        print(f"MISSED: {missed}")
    return 1 if scores.missed_goals() else 0


if __name__ == "__main__":
    raise SystemExit(main())
