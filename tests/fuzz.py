"""Searches with fresh random examples for what the property tests forbid: ``python -m tests.fuzz``.

Each round is a process of its own over a few files, so that memory stays bounded. A round has one
seed, which repeats it.
"""

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

_FILES_A_ROUND = 6
_PASSED = (0, 5)  # 5: no test of these files is of this search


def command(seed: int, files: list[str]) -> list[str]:
    options = ["--hypothesis-profile=fuzz", f"--hypothesis-seed={seed}", "--timeout=1800"]
    return [sys.executable, "-m", "pytest", "-q", "-m", "hypothesis", *options, *files]


def chunks() -> Iterator[list[str]]:
    """Gives the files with property tests again and again, in another order each time."""
    folders = (Path("tests/unit"), Path("tests/integration"))
    files = sorted(
        str(file)
        for folder in folders
        for file in folder.rglob("test_*.py")
        if "from hypothesis import" in file.read_text("utf-8")
    )
    while True:
        random.shuffle(files)
        yield from (files[start : start + _FILES_A_ROUND] for start in range(0, len(files), _FILES_A_ROUND))


def main() -> int:
    """Returns 1 when a round failed, after it printed the command of each such round."""
    minutes = float(os.environ.get("FUZZ_MINUTES", "10"))
    until = time.monotonic() + 60 * minutes
    failed = []
    for number, files in zip(count(1), chunks(), strict=False):
        seed = random.getrandbits(32)
        asked = command(seed, files)
        print(f"round {number}, seed {seed}: ", end="", flush=True)
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        print(done.stdout.strip().rpartition("\n")[2], flush=True)
        if done.returncode not in _PASSED:
            print(done.stdout, done.stderr, flush=True)
            failed.append(" ".join(asked))
        if time.monotonic() > until:
            break
    print(f"{number} rounds in {minutes:g} minutes, {len(failed)} failed", *failed, sep="\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
