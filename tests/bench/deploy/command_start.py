"""Measures the processor time of a whole process of the command, as the median of several.

    python tests/bench/deploy/command_start.py [--runs 7] [--before CHECKOUT]

Processor time hardly depends on what else the machine does; times by the clock do. ``--before`` is another checkout of
Cardlog to compare with: its code runs with this Python and its packages. A running Cardlog is started for `status`.
The floor is a Python that does nothing.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.stack import clean_environment, start, stop

ROOT = Path(__file__).resolve().parents[3]


def cpu(words: list[str], runs: int, folder: Path) -> float:
    """Milliseconds of processor time, user and system, of ``words`` run in ``folder``. The first run is not counted."""
    spent = []
    for _ in range(runs + 1):
        process = subprocess.Popen(
            words,
            cwd=folder,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        spent.append((used.ru_utime + used.ru_stime) * 1000)
    return statistics.median(spent[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--before", type=Path, default=None)
    options = parser.parse_args()
    checkouts = [each for each in (options.before, ROOT) if each is not None]
    print(f"floor, python -c pass: {cpu([sys.executable, '-c', 'pass'], options.runs, ROOT):.0f} ms")
    with tempfile.TemporaryDirectory() as scratch:
        running = start(Path(scratch) / "data")
        try:
            data = ["--data", str(running.data)]
            verbs = {
                "--version": ["--version"],
                "--help": ["--help"],
                "when yesterday": ["when", "yesterday"],
                "recal (a slip)": ["recal"],
                "recall --help": ["recall", "--help"],
                "status, nothing runs": ["status", "--data", scratch],
                "status": ["status", *data],
                "recall": ["recall", "where do I live?", "--user", "u1", *data],
                "ref list": ["ref", "list", "--user", "u1", *data],
                "wait": ["wait", *data],
                "env": ["env", *data],
                "doctor": ["doctor", *data],
            }
            print(
                "| command, ms of processor time | " + " | ".join(["before", "now"][-len(checkouts) :]) + " |"
            )
            print("|---|" + "---|" * len(checkouts))
            for name, words in verbs.items():
                found = [
                    cpu([sys.executable, "-m", "deploy.command", *words], options.runs, each)
                    for each in checkouts
                ]
                print(f"| `cardlog {name}` | " + " | ".join(f"{each:.0f}" for each in found) + " |")
        finally:
            stop(running)


if __name__ == "__main__":
    main()
