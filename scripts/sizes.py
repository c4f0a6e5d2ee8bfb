"""Prints how large each commit is: ``python scripts/sizes.py REV [REV ...]``, one column a commit.

A branchy function is one that ruff finds over 15 branches (C901). Blank lines and comments count as lines.
"""

import io
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path

_PACKAGES = ("events", "ingest", "projectors", "retrieval", "deploy")
_OTHERS = ("clients", "evaluation", "scripts", "tests", "docs")


def sizes(tree: Path) -> dict[str, int]:
    """Returns the counts of the checkout in ``tree`` by name, in the order of the table."""
    product = [path for package in _PACKAGES for path in (tree / package).rglob("*.py")]
    sql = [path for package in _PACKAGES for path in (tree / package).rglob("*.sql")]
    text = "\n".join(path.read_text() for path in product)
    counts = {f"lines of {package}": _lines((tree / package).rglob("*.py")) for package in _PACKAGES}
    counts["lines of the product"] = sum(counts.values())
    counts |= {f"lines of {other}": _lines((tree / other).rglob("*.py")) for other in _OTHERS[:-1]}
    counts["words of docs"] = sum(len(path.read_text().split()) for path in (tree / "docs").rglob("*.md"))
    counts["pages of docs"] = sum(1 for _ in (tree / "docs").rglob("*.md"))
    counts["folders of the product"] = len({path.parent for path in product})
    counts["SQL files"] = len(sql)
    counts["lines of SQL"] = _lines(sql)
    counts["dict[str, Any]"] = text.count("dict[str, Any]")
    counts["Any"] = len(re.findall(r"\bAny\b", text))
    counts["JSONResponse"] = text.count("-> JSONResponse")
    counts["functions over 15 branches"] = _branchy(tree)
    return counts


def _lines(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text().splitlines()) for path in paths)


def _branchy(tree: Path) -> int:
    command = [
        str(Path(sys.executable).with_name("ruff")),
        "check",
        "--isolated",
        "--select",
        "C901",
        "--config",
        "lint.mccabe.max-complexity = 15",
    ]
    folders = [package for package in _PACKAGES if (tree / package).is_dir()]
    found = subprocess.run(  # noqa: S603 - a fixed command
        [*command, "--ignore-noqa", "--output-format", "concise", *folders],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.count("C901")


def main() -> None:
    """Prints the table of the commits that the command line names."""
    columns = []
    for revision in sys.argv[1:] or ["HEAD"]:
        command = ["git", "archive", "--end-of-options", revision]
        archive = subprocess.run(command, capture_output=True, check=True).stdout  # noqa: S603 - the developer's own words
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(fileobj=io.BytesIO(archive)) as files:
                files.extractall(folder, filter="data")
            columns.append(sizes(Path(folder)))
    for name in columns[0]:
        print(f"{name:28}", *(f"{column.get(name, 0):>9,}" for column in columns))


if __name__ == "__main__":
    main()
