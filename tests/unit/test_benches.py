"""Measurements are made seldom, and should be there when they are."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import tests.bench

NAMES = sorted(path.stem for path in Path(tests.bench.__path__[0]).glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("name", NAMES)
def test_a_bench_knows_all_that_it_measures(name: str) -> None:
    importlib.import_module(f"tests.bench.{name}")
