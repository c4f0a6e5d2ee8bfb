"""A licence that is not allowed and a known vulnerability are refused; what cannot be checked is named."""

from __future__ import annotations

import re
import tomllib

import pytest

from scripts import supply_chain
from scripts.supply_chain import locked, normal, read_report, refused_licences
from tests.support.deployed import ROOT

ALLOWED = ("MIT", "Apache-2.0", "ISC License", "ISCL", "MPL-2.0")


@pytest.mark.parametrize(
    "text",
    ["MIT", "mit", "Apache-2.0; MIT", "ISC License (ISCL)", "MPL-2.0 AND (Apache-2.0 OR MIT)"],
)
def test_an_allowed_licence_passes(text: str) -> None:
    assert refused_licences({"a": text}, ALLOWED) == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("GPL-3.0-only", "GPL-3.0-only"),
        ("MIT AND GPL-3.0-only", "GPL-3.0-only"),
        ("MIT OR GPL-3.0-only", "GPL-3.0-only"),
        ("MIT (AGPL-3.0)", "AGPL-3.0"),
        ("UNKNOWN", "UNKNOWN"),
        ("", "UNKNOWN"),
        ("MIT-like", "MIT-like"),
    ],
)
def test_any_other_licence_is_named_with_its_package(text: str, named: str) -> None:
    [fault] = refused_licences({"a": text, "b": "MIT"}, ALLOWED)
    assert fault.startswith(f"a has the licence {named}: ")
    assert "[tool.cardlog.licences]" in fault


def test_a_known_vulnerability_is_named_with_its_remedy() -> None:
    report = {
        "dependencies": [
            {"name": "a", "version": "1.0", "vulns": [{"id": "CVE-2026-1", "fix_versions": ["1.1", "2.0"]}]},
            {"name": "b", "version": "1.0", "vulns": []},
            {"name": "c", "version": "3", "vulns": [{"id": "CVE-2026-2", "fix_versions": []}]},
        ]
    }
    faults = [
        "a 1.0 has the vulnerability CVE-2026-1: use 1.1 or 2.0",
        "c 3 has the vulnerability CVE-2026-2: no version is without it",
    ]
    assert read_report(report) == (faults, "")


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-kafka.lock", "requirements-dev.lock"])
def test_every_package_that_cardlog_asks_for_is_locked(name: str) -> None:
    """Run ``make lock`` where this fails: an image has only the locked packages."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = {normal(re.split(r"[^\w.-]", each, maxsplit=1)[0]) for each in project["dependencies"]}
    assert asked - locked((ROOT / name).read_text("utf-8")) == {"cardlog-client"}  # it is in this repository


def test_a_stated_licence_belongs_to_a_locked_package_and_is_allowed() -> None:
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["cardlog"]["licences"]
    assert rules["stated"].keys() <= locked(supply_chain.LOCK.read_text())
    assert refused_licences(rules["stated"], rules["allowed"]) == []
