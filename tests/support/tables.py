"""Examples of a test that stand in a file of their own, one a line."""

from __future__ import annotations

from pathlib import Path


def rows(beside: str, name: str) -> list[list[str]]:
    r"""Returns the cells of each line of the file ``name`` in the folder of the test ``beside``.

    A tab separates two cells, and ``\n`` in a cell is the end of a line. Lines that begin with ``# `` are comments.
    """
    lines = Path(beside).with_name(name).read_text("utf-8").splitlines()
    return [
        [cell.replace("\\n", "\n") for cell in line.split("\t")]
        for line in lines
        if line and not line.startswith("# ")
    ]


def texts(beside: str, name: str) -> list[str]:
    """Returns the first cell of each line."""
    return [row[0] for row in rows(beside, name)]
