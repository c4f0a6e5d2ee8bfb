"""An installation as a wheel makes it: it has no evaluation, and other packages can disturb it."""

import shutil
import tomllib
from pathlib import Path

import pytest

from tests.support.deployed import ROOT
from tests.support.stack import typed


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the packages of the wheel and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    client = ROOT / "clients" / "python" / "cardlog_client"
    for source in (*(ROOT / name.rstrip("*") for name in tools["packages"]["find"]["include"]), client):
        shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.mark.parametrize(
    "words", [[], ["answers"], ["answers", "--only", "tw-friends"], ["record", "--to", "here"]]
)
def test_it_says_in_one_sentence_what_is_missing_and_where_it_is(installed: Path, words: list[str]) -> None:
    done = typed("eval", *words, cwd=installed)
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("cardlog eval: ")
    assert "run this verb from a checkout, after `make setup`" in line


def test_other_verbs_need_no_evaluation(installed: Path) -> None:
    for words in (
        ["eval", "--help"],
        ["completion", "bash"],
        ["capacity", "--users", "9", "--turns-per-day", "1"],
    ):
        done = typed(*words, cwd=installed)
        assert (done.returncode, done.stderr) == (0, ""), words
        assert done.stdout


def test_an_absent_package_is_named(installed: Path, tmp_path: Path) -> None:
    shutil.copytree(installed, tmp_path / "incomplete")
    (tmp_path / "incomplete" / "cardlog_client" / "__init__.py").write_text("import absent_package\n")
    done = typed("recall", "hello", cwd=tmp_path / "incomplete")
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert "No module named 'absent_package'" in line


@pytest.mark.parametrize("left", ["from .events import Events\n", "", None])
def test_a_package_of_the_same_name_is_refused_in_one_sentence(
    installed: Path, tmp_path: Path, left: str | None
) -> None:
    """PyPI's ``Events`` writes its own ``events/__init__.py``, and removes it when it is uninstalled."""
    shutil.copytree(installed, tmp_path / "disturbed")
    first = tmp_path / "disturbed" / "events" / "__init__.py"
    first.unlink()
    if left is not None:
        first.write_text(left)
        first.with_name("events.py").write_text("class Events: ...\n")
    done = typed("status", cwd=tmp_path / "disturbed")
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert "uninstall PyPI's `Events` and install Cardlog again" in line
