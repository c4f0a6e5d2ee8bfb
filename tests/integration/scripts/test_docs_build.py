"""The documentation site builds with every page and no broken link. It loads nothing from other hosts."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from scripts.docs_site import ROOT, prepare

_LOADED = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>")


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """Builds ``docs`` in the folder into ``site``."""
    shutil.copy(ROOT / "zensical.toml", folder)
    return subprocess.run(
        [Path(sys.executable).with_name("zensical"), "build", "--strict"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    prepare(ROOT, folder / "docs")
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_a_reader_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = sorted((site / "site").rglob("*.html"))
    assert len(pages) >= len(list((site / "docs").rglob("*.md"))) > 40
    for page in pages:
        assert not _LOADED.findall(page.read_text("utf-8")), page.name


def test_every_page_but_the_records_is_in_the_navigation(site: Path) -> None:
    def named(entries: Any) -> set[str]:
        if isinstance(entries, str):
            return {entries}
        values = entries.values() if isinstance(entries, dict) else entries
        return set().union(*map(named, values))

    nav = named(tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]["nav"])
    pages = {str(page.relative_to(site / "docs")) for page in (site / "docs").rglob("*.md")}
    assert nav == {page for page in pages if not re.match(r"decisions/\d", page)}
