"""A command without options finds the running Cardlog."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest

from deploy.instance import Instance, NoInstanceError, announce, find
from events.platform.settings import Settings


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home and a working directory of this test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CARDLOG_DATA", raising=False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def running(data: Path) -> Instance:
    """A Cardlog on ``data`` whose process is this one, as it announces itself."""
    data.mkdir(parents=True)
    (data / "lock").touch()
    process = psutil.Process()
    found = Instance(
        write_url="w", read_url="r", redis_url="redis://x", database_url=f"postgresql://x/{data.parent.name}",
        pid=os.getpid(), started=process.create_time(), data=str(data),
    )  # fmt: skip
    announce(found)
    return found


def test_the_only_one_that_runs_is_meant(tmp_path: Path) -> None:
    there = running(tmp_path / "there" / "data")
    assert find(Settings())[1] == there


def test_the_data_folder_here_is_preferred(tmp_path: Path) -> None:
    here = running(Path("data").resolve())
    running(tmp_path / "there" / "data")
    assert find(Settings())[1] == here


def test_a_data_folder_here_that_does_not_run_is_not_taken_for_another(tmp_path: Path) -> None:
    there = running(tmp_path / "there" / "data")
    Path("data").mkdir()
    Path("data", "lock").touch()
    with pytest.raises(NoInstanceError, match="on data does not run") as refused:
        find(Settings())
    assert there.data in str(refused.value)
    assert find(Settings(), Path(there.data))[1] == there


def test_any_folder_called_data_is_no_cardlog(tmp_path: Path) -> None:
    there = running(tmp_path / "there" / "data")
    Path("data").mkdir()
    assert find(Settings())[1] == there
