"""Loads tests of another project from a folder, with its own parts swapped. Nothing of them is copied."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pytest

from tests.support.tables import rows

FOLDER = os.environ.get("CARDLOG_TEST_SUITES", "")
"""Where the tests are."""


class Anything(ModuleType):
    """A module of another project that is not there. It has every name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def swapped_tests(
    file: str,
    modules: Mapping[str, ModuleType],
    swapped: Mapping[str, object],
) -> Iterator[tuple[str, Any]]:
    """Yields the tests of a file by their names, with the name of its folder in front. Skips where it is absent.

    ``modules`` stand for modules that the file imports, ``swapped`` for names in the file. A test of
    ``left_out.txt`` is skipped with its reason.
    """
    if not FOLDER:
        pytest.skip("CARDLOG_TEST_SUITES names no folder of tests", allow_module_level=True)
    path = Path(FOLDER) / file
    if not path.exists():
        pytest.skip(f"{path} is not there", allow_module_level=True)
    names: dict[str, Any] = {"__name__": f"foreign.{path.parent.name}.{path.stem}"}
    with patch.dict(sys.modules, modules):
        exec(compile(path.read_text("utf-8"), str(path), "exec"), names)
    names.update({name: each for name, each in swapped.items() if name in names})
    left_out = {test: reason for of, test, reason in rows(__file__, "left_out.txt") if of == file}
    unknown = left_out.keys() - names.keys()
    assert not unknown, f"{file} has no {unknown}"
    where = f"{path.parent.name}_{path.stem}".replace("-", "_")
    for name, test in names.items():
        if name.startswith("test_"):
            marked = pytest.mark.skip(left_out[name])(test) if name in left_out else test
            yield f"test_{where}__{name.removeprefix('test_')}", marked
