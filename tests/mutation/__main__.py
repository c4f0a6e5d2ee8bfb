"""Removes each guard of ``guards.toml`` in a copy of the checkout, and expects its tests to fail.

``python -m tests.mutation [name…] [--jobs 2]``: all guards, or those whose names hold one of the words. The working
tree is never changed. A guard counts as caught when its tests pass with it, and one of them fails without it. A guard
whose text is not found exactly once ends the run before any test, because the list is then older than the code.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("guards.toml")


@dataclass(frozen=True, slots=True)
class Guard:
    """``old`` in ``file`` is the guard. ``new`` takes its place. ``tests`` then fail."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def removed_from(self, root: Path) -> str:
        """Returns the text of the file without the guard. Raises ValueError when the list does not fit the code."""
        text = (root / self.file).read_text("utf-8")
        if (found := text.count(self.old)) != 1:
            raise ValueError(f"{self.name}: {self.file} holds the text to replace {found} times, not once")
        changed = text.replace(self.old, self.new)
        if self.file.endswith(".py"):
            compile(changed, self.file, "exec")
        return changed


def misfits(chosen: Iterable[Guard], root: Path = ROOT) -> list[str]:
    """Returns one line for each guard that the code does not hold, and for each named test that does not exist."""
    found = []
    for each in chosen:
        try:
            each.removed_from(root)
        except (OSError, ValueError, SyntaxError) as error:
            found.append(str(error))
        for file, _, test in (name.partition("::") for name in each.tests):
            text = (root / file).read_text("utf-8") if (root / file).is_file() else ""
            if f"def {test}(" not in text and (test or not text):
                found.append(f"{each.name}: there is no test {file}::{test}")
    return found


def guards() -> list[Guard]:
    """Returns the guards of the list."""
    return [
        Guard(name, each["file"], each["old"], each["new"], tuple(each["tests"]))
        for name, each in tomllib.loads(LIST.read_text("utf-8")).items()
    ]


@contextmanager
def copies(count: int) -> Iterator[SimpleQueue[Path]]:
    """Yields copies of the files that git knows, as they are in the working tree."""
    named = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True, text=True,
    ).stdout.split("\0")  # fmt: skip
    free: SimpleQueue[Path] = SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="cardlog-mutation-") as folder:
        for number in range(count):
            copy = Path(folder) / str(number)
            for name in filter(None, named):
                if (ROOT / name).is_file():
                    (copy / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(ROOT / name, copy / name)
            (copy / ".venv").symlink_to(ROOT / ".venv")
            free.put(copy)
        yield free


def tested(root: Path, tests: Sequence[str]) -> tuple[int, str]:
    """Runs the tests in ``root``. Returns (number that failed or -1 when they did not run, last lines)."""
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests],
        cwd=root, capture_output=True, text=True, timeout=1800,
        env={**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    lines = ran.stdout.strip().splitlines() or ran.stderr.strip().splitlines() or [""]
    why = next((line for line in lines if line.startswith("E  ")), lines[-1])
    failed = re.search(r"(\d+) (?:failed|error)", lines[-1])  # a set-up that fails notices, too
    if ran.returncode == 0:
        return 0, lines[-1]
    return (int(failed[1]), why) if failed and ran.returncode == 1 else (-1, why)


def check(guard: Guard, free: SimpleQueue[Path]) -> tuple[str, str]:
    """Removes ``guard`` in a copy that is free. Returns (verdict, what the tests said)."""
    root = free.get()
    path = root / guard.file
    kept = path.read_bytes()
    try:
        path.write_text(guard.removed_from(root), "utf-8")
        failed, why = tested(root, guard.tests)
        return ("caught" if failed > 0 else "NOT CAUGHT" if failed == 0 else "BROKEN"), why
    except subprocess.TimeoutExpired:
        return "caught", "the tests do not end without it"
    finally:
        path.write_bytes(kept)
        free.put(root)


def main() -> int:
    """Returns 0 when every chosen guard is caught."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutation", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("words", nargs="*", help="run only the guards whose names hold one of these words")
    parser.add_argument("--jobs", type=int, default=2, help="guards at the same time")
    given = parser.parse_args()
    chosen = [each for each in guards() if not given.words or any(word in each.name for word in given.words)]
    if wrong := misfits(chosen) or ([] if chosen else ["no guard has such a name"]):
        print(*wrong, sep="\n", file=sys.stderr)
        return 2
    with copies(given.jobs) as free, ThreadPoolExecutor(given.jobs) as pool:
        root = free.get()
        failed, why = tested(root, sorted({test for each in chosen for test in each.tests}))
        if failed:
            print(f"the tests must pass with the guards first: {why}", file=sys.stderr)
            return 2
        free.put(root)
        missed = 0
        results = pool.map(lambda each: check(each, free), chosen)
        for each, (verdict, why) in zip(chosen, results, strict=True):
            missed += verdict != "caught"
            print(f"{verdict:<10} {each.name:<60} {why.strip()[:100]}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} guards are caught")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
