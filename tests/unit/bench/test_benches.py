"""Every bench can be imported, so a renaming cannot break a bench that is seldom run."""

import importlib
from pathlib import Path

import pytest

import tests.bench

FOLDER = Path(tests.bench.__path__[0])
NAMES = sorted(
    ".".join(path.relative_to(FOLDER).with_suffix("").parts)
    for path in FOLDER.rglob("*.py")
    if path.stem != "__init__"
)


@pytest.mark.parametrize("name", NAMES)
def test_a_bench_can_be_imported(name: str) -> None:
    importlib.import_module(f"tests.bench.{name}")
