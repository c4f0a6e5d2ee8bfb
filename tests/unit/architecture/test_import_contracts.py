"""The import contracts refuse the imports that they exist to refuse."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.deployed import ROOT

_TOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
CONFIGURATION, PLACES = _TOOLS["importlinter"], {"cardlog_client": "clients/python/cardlog_client"}
# For each contract, by the beginning of its name: modules, and imports that the contract forbids them.
DOWN = "Imports go down only"
BREAKING = [
    (DOWN, "events/store/log.py", "import ingest"),
    (DOWN, "ingest/recording/recorder.py", "import projectors"),
    (DOWN, "projectors/registry.py", "import ingest"),
    (DOWN, "projectors/registry.py", "import retrieval"),
    (DOWN, "retrieval/query/scope.py", "import deploy"),
    (DOWN, "deploy/progress.py", "import scripts"),
    (DOWN, "deploy/progress.py", "import evaluation"),
    (DOWN, "evaluation/command.py", "import scripts"),
    (DOWN, "cardlog_client/errors.py", "import events"),
    ("Only the command and the proxy know the client", "retrieval/query/scope.py", "import cardlog_client"),
    (
        "Time expressions and numbers stand alone",
        "events/language/timex/lunar.py",
        "import events.language.values",
    ),
    ("Inside events", "events/types/codec.py", "import events.health.heartbeat"),
    ("Inside ingest", "ingest/recording/intake.py", "import ingest.api.commands"),
    ("Inside extraction", "ingest/extraction/rules/drafts.py", "import ingest.extraction.workers"),
    ("Inside projectors", "projectors/generations/generations.py", "import projectors.rebuild.rebuild"),
    ("Inside retrieval", "retrieval/pool/connections.py", "import retrieval.http.read_api"),
    ("Inside deploy", "deploy/progress.py", "import deploy.command"),
]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of every module and of the configuration, to be changed."""
    for package in CONFIGURATION["root_packages"]:
        folder = ROOT / PLACES.get(package, package)
        for path in folder.rglob("*.py"):
            target = tmp_path / package / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    shutil.copyfile(ROOT / "pyproject.toml", tmp_path / "pyproject.toml")
    return tmp_path


def add(copy: Path, module: str, line: str) -> None:
    with (copy / module).open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")


def checked(copy: Path) -> tuple[str, dict[str, str]]:
    """What ``lint-imports`` says of ``copy``, and for each contract whether it is KEPT or BROKEN."""
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--no-logo"],
        cwd=copy, env=os.environ | {"COLUMNS": "500"}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    verdicts = dict(re.findall(r"^(.+) (KEPT|BROKEN)(?: \(.*\))?$", done.stdout, re.MULTILINE))
    assert set(verdicts) == {contract["name"] for contract in CONFIGURATION["contracts"]}, done.stdout
    assert (done.returncode != 0) == ("BROKEN" in verdicts.values())
    return done.stdout, verdicts


def test_one_import_breaks_its_own_contract_alone(copy: Path) -> None:
    add(copy, "projectors/registry.py", "import retrieval")
    assert [name for name, word in checked(copy)[1].items() if word == "BROKEN"] == [DOWN]


def test_every_contract_can_be_broken(copy: Path) -> None:
    for _, module, line in BREAKING:
        add(copy, module, line)
    said, verdicts = checked(copy)
    for contract, word in verdicts.items():
        assert any(contract.startswith(name) for name, _, _ in BREAKING), (
            f"add an import that breaks {contract!r}"
        )
        assert word == "BROKEN", contract
    for name, module, line in BREAKING:
        if name == DOWN:
            assert f"{module.partition('/')[0]} is not allowed to {line}" in said


def test_make_check_runs_the_contracts_and_the_types() -> None:
    rule = (ROOT / "Makefile").read_text("utf-8").partition("\ncheck:")[2].partition("\n\n")[0]
    assert "/lint-imports " in rule
    assert "-m mypy" in rule
