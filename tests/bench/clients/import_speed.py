"""How long an app waits for ``import cardlog_client``, and the floor: its one package, ``import httpx2``.

    python tests/bench/clients/import_speed.py [runs]

Each run is a process of its own. The shortest run counts, because other jobs only make a run longer.
"""

import subprocess
import sys

GOAL_MS = 150
_TIMED = """
import time
began, busy = time.perf_counter(), time.process_time()
import {}
print(1e3 * (time.perf_counter() - began), 1e3 * (time.process_time() - busy))
"""


def shortest(package: str, runs: int) -> tuple[float, float]:
    """Returns the shortest time and the least processor time of an import, in milliseconds."""
    lines = [
        subprocess.run(
            [sys.executable, "-c", _TIMED.format(package)], capture_output=True, text=True, check=True
        )
        for _ in range(runs)
    ]
    times, busy = zip(*(map(float, each.stdout.split()) for each in lines), strict=True)
    return min(times), min(busy)


def main() -> int:
    """Prints both imports, and returns 1 when the client takes longer than its goal."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    for package in ("httpx2", "cardlog_client"):
        taken, busy = shortest(package, runs)
        print(f"import {package:<16}{taken:7.0f} ms, {busy:4.0f} ms of processor time")
    return int(taken > GOAL_MS)


if __name__ == "__main__":
    sys.exit(main())
