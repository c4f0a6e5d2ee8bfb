"""Examples of a test that stand in a file of their own, one a line."""

import json
import re
import types
from collections.abc import Callable
from datetime import datetime
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

import pytest

_Test = TypeVar("_Test", bound=Callable[..., None])
LongText = NewType("LongText", str)
"""A text of repeated pieces. Its cell is ``so ×9000 | I moved``: nine thousand times "so ", and then "I moved"."""
_ESCAPE = re.compile(r"\\(n|t|u[0-9a-f]{4})")
_HEADING = re.compile(r"\[test_\w+\]")
_LINE_ENDS = {"n": "\n", "t": "\t"}


def rows(beside: str, name: str) -> list[list[str]]:
    r"""Returns the cells of each line of the file ``name`` in the folder of the test ``beside``.

    A tab separates two cells, and ``\n``, ``\t`` and ``\u200b`` in a cell are characters. Lines that begin with ``# ``
    are comments.
    """
    lines = Path(beside).with_name(name).read_text("utf-8").split("\n")
    return [_cells(line) for line in lines if line and not line.startswith("# ")]


def texts(beside: str, name: str) -> list[str]:
    """Returns the first cell of each line."""
    return [row[0] for row in rows(beside, name)]


def examples(test: _Test) -> _Test:
    """Runs a test with each example that stands under its name in the text file of its module.

    The line ``[name of the test]`` comes first, then a line with the names of the arguments, then one line an example.
    The annotation of an argument says how a cell is read: ``yes`` is true, ``a | b`` are two items, ``-`` is None where
    None is allowed, and ``""`` is an empty text. A cell of any other type is JSON.
    """
    return examples_and()(test)


def examples_and(*more: Any) -> Callable[[_Test], _Test]:
    """Runs a test with its examples as ``examples`` does, and with ``more``, which no line can hold."""

    def mark(test: _Test) -> _Test:
        file, hints = Path(test.__code__.co_filename), get_type_hints(test)
        own = iter(rows(str(file), f"{file.stem}.txt"))
        while next(own) != [f"[{test.__name__}]"]:
            pass
        names = next(own)
        read = [
            [_read(cell, hints[name]) for name, cell in zip(names, row, strict=True)]
            for row in takewhile(lambda row: not _HEADING.fullmatch(row[0]), own)
        ]
        marked: _Test = pytest.mark.parametrize(
            names, [*read, *([each] if len(names) == 1 else each for each in more)], ids=_id_of
        )(test)
        return marked

    return mark


def _cells(line: str) -> list[str]:
    return [_ESCAPE.sub(_character, cell) for cell in line.split("\t")]


def _character(escape: re.Match[str]) -> str:
    return _LINE_ENDS.get(escape[1]) or chr(int(escape[1][1:], 16))


def _id_of(value: object) -> str | None:
    """The beginning of a long text. pytest names a test with all other values itself."""
    return ascii(value[:40]) if isinstance(value, str) and len(value) > 100 else None


def _read(cell: str, hint: Any) -> Any:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType) and types.NoneType in parts:
        [hint] = (each for each in parts if each is not types.NoneType)
        return None if cell == "-" else _read(cell, hint)
    if hint is str or origin is Literal:
        return "" if cell == '""' else cell
    if hint is LongText:
        pieces = (piece.rpartition("×") for piece in cell.split(" | "))
        return "".join(text * int(times) if mark else times for text, mark, times in pieces)
    if hint is bool:
        return {"yes": True, "no": False}[cell]
    if hint is datetime:
        return datetime.fromisoformat(cell)
    if origin in (list, tuple, set) and set(parts) <= {str, ...}:
        return origin(cell.split(" | ") if cell else ())
    return hint(cell) if hint in (int, float) else json.loads(cell, strict=False)
