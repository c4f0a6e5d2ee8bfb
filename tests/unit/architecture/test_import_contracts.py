"""The import contracts refuse the imports that they exist to refuse."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.deployed import ROOT

CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
# For each contract, by the beginning of its name: a module, and an import that the contract forbids it.
BREAKING = {
    "Time expressions and numbers stand alone": (
        "events/language/timex/lunar.py",
        "import events.language.values",
    ),
    "Imports go down only": ("events/store/log.py", "import ingest"),
    "ingest stands on events alone": ("ingest/recording/recorder.py", "import projectors"),
    "projectors stand on events alone": ("projectors/registry.py", "import retrieval"),
    "retrieval never reaches up": ("retrieval/query/scope.py", "import deploy"),
    "Inside events": ("events/types/codec.py", "import events.health.heartbeat"),
    "Inside ingest": ("ingest/recording/intake.py", "import ingest.api.commands"),
    "Inside extraction": ("ingest/extraction/rules/drafts.py", "import ingest.extraction.workers"),
    "Inside projectors": ("projectors/generations/generations.py", "import projectors.rebuild.rebuild"),
    "Inside retrieval": ("retrieval/pool/connections.py", "import retrieval.http.read_api"),
    "Inside deploy": ("deploy/progress.py", "import deploy.command"),
}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of every module and of the configuration, to be changed."""
    for package in CONFIGURATION["root_packages"]:
        for path in (ROOT / package).rglob("*.py"):
            target = tmp_path / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    shutil.copyfile(ROOT / "pyproject.toml", tmp_path / "pyproject.toml")
    return tmp_path


def add(copy: Path, name: str) -> None:
    module, line = BREAKING[name]
    with (copy / module).open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")


def checked(copy: Path) -> tuple[int, dict[str, str]]:
    """The exit status of ``lint-imports`` in ``copy``, and for each contract whether it is KEPT or BROKEN."""
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--no-logo"],
        cwd=copy, env=os.environ | {"COLUMNS": "500"}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    lines = [line.rpartition(" ") for line in done.stdout.splitlines()]
    verdicts = {name: word for name, _, word in lines if word in ("KEPT", "BROKEN")}
    assert set(verdicts) == {contract["name"] for contract in CONFIGURATION["contracts"]}, done.stdout
    return done.returncode, verdicts


def test_adding_a_contract_breaking_import_fails_the_check(copy: Path) -> None:
    status, verdicts = checked(copy)
    assert (status, set(verdicts.values())) == (0, {"KEPT"})
    add(copy, "projectors stand on events alone")
    status, verdicts = checked(copy)
    assert status != 0
    assert [name for name, word in verdicts.items() if word == "BROKEN"] == [
        "projectors stand on events alone"
    ]


def test_every_contract_can_be_broken(copy: Path) -> None:
    for name in BREAKING:
        add(copy, name)
    _, verdicts = checked(copy)
    for contract, word in verdicts.items():
        assert any(contract.startswith(name) for name in BREAKING), f"add an import that breaks {contract!r}"
        assert word == "BROKEN", contract


def test_make_check_runs_the_contracts_and_the_types() -> None:
    rule = (ROOT / "Makefile").read_text("utf-8").partition("\ncheck:")[2].partition("\n\n")[0]
    assert "/lint-imports " in rule
    assert "-m mypy" in rule
