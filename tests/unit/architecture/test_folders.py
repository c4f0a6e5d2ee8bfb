"""Every folder holds at most fifteen files at its root."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.deployed import ROOT

MOST = 15
PACKAGES = ("events", "ingest", "projectors", "retrieval", "deploy", "tests")


def overfull(folder: Path) -> Iterator[str]:
    """Names every folder below ``folder``, itself included, that holds more than ``MOST`` files at its root."""
    if folder.name == "__pycache__":
        return
    found = list(folder.iterdir())
    files = sum(path.is_file() for path in found)
    if files > MOST:
        yield f"{folder} holds {files} files: move some of them into a folder of their own, {MOST} may stay"
    for path in sorted(found):
        if path.is_dir():
            yield from overfull(path)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_folder_holds_more_than_fifteen_files(package: str) -> None:
    assert list(overfull(ROOT / package)) == []


def test_a_folder_with_sixteen_files_is_named_with_its_number(tmp_path: Path) -> None:
    (inner := tmp_path / "outer" / "inner").mkdir(parents=True)
    (tmp_path / "outer" / "__pycache__").mkdir()
    for number in range(MOST):
        (inner / f"{number}.sql").touch()
        (tmp_path / "outer" / "__pycache__" / f"{number}.pyc").touch()
    (tmp_path / "outer" / "__pycache__" / "more.pyc").touch()
    assert list(overfull(tmp_path)) == []
    (inner / "one more.txt").touch()
    [message] = overfull(tmp_path)
    assert message.startswith(f"{inner} holds 16 files")
