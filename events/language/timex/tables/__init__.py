"""The tables of the calendar: holidays, eras, lunar years. A line that begins with # is a comment."""

from __future__ import annotations

from importlib import resources


def rows(name: str) -> list[list[str]]:
    """Returns the rows of a table in this folder, each as its columns, which tabs separate."""
    text = resources.files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if line and line[0] != "#"]
