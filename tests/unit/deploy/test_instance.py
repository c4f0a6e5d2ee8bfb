"""A command without options finds the running Cardlog."""

import os
import stat
from pathlib import Path

import psutil
import pytest

from deploy.command import main
from deploy.instance import Instance, NoInstanceError, announce, find
from deploy.security.private_files import private_folder
from deploy.stack import Stack
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
    return announced(data)


def announced(data: Path) -> Instance:
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


def test_a_link_in_place_of_the_ready_file_is_replaced_and_never_followed(tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("precious")
    data = tmp_path / "data"
    data.mkdir()
    (data / "ready.json").symlink_to(target)
    instance = announced(data)
    assert target.read_text() == "precious"
    ready = data / "ready.json"
    assert not ready.is_symlink()
    assert stat.S_IMODE(ready.stat().st_mode) == 0o600
    assert find(Settings(), data)[1] == instance
    ready.rename(tmp_path / "elsewhere")
    ready.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NoInstanceError):
        find(Settings(), data)


def test_a_data_folder_that_others_may_write_to_is_refused_and_one_of_the_group_is_closed(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o777)
    stack = Stack(Settings(), data, port_write=0, port_read=0, stopping=lambda: False)
    with pytest.raises(RuntimeError, match="chmod go-w"):
        stack.start()
    assert list(data.iterdir()) == []
    data.chmod(0o775)
    private_folder(data)
    assert stat.S_IMODE(data.stat().st_mode) == 0o755
    (data / "file").touch()
    with pytest.raises(RuntimeError, match="it is a file; choose another with --data"):
        private_folder(data / "file")


def test_a_grant_is_for_the_cardlog_of_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CARDLOG_DATABASE_URL", "postgresql://127.0.0.1:1/another")
    assert main(["grant", "--data", str(tmp_path / "absent"), "--role", "app", "--print"]) == 1
    assert f"no Cardlog runs on {tmp_path / 'absent'}" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["status", "doctor"])
def test_a_cardlog_that_does_not_run_is_no_wrong_command_line(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([verb, "--data", str(tmp_path)]) == 1
    assert f"no Cardlog runs on {tmp_path}" in capsys.readouterr().err
