"""The documentation site holds every page and no broken link. It loads nothing from other hosts."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deploy.tools import api_reference, decision_index, pictures
from deploy.tools.docs_site import ROOT, BrokenLinkError, prepare

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
    assert len(pages) > 60
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


def test_a_broken_link_fails_the_build(site: Path, tmp_path: Path) -> None:
    for number, link in enumerate(("recall.md#no-such-heading", "no-such-page.md")):
        folder = tmp_path / str(number)
        shutil.copytree(site / "docs", folder / "docs")
        with (folder / "docs" / "turns.md").open("a") as page:
            page.write(f"\n[broken]({link})\n")
        assert build(folder).returncode != 0, link


def test_a_link_to_a_file_that_does_not_exist_is_named(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(
        "[there](docs/a.md) [gone](deploy/gone.py) [web](https://example.org)"
    )
    (tmp_path / "docs" / "a.md").write_text(
        "[up](../README.md) [gone](b.md#part)\n```\n[code](none.md)\n```\n"
    )
    with pytest.raises(BrokenLinkError) as raised:
        prepare(tmp_path, tmp_path / "build")
    assert str(raised.value).splitlines() == [
        "README.md: deploy/gone.py does not exist",
        "docs/a.md: b.md#part does not exist",
    ]


def test_links_follow_the_pages_and_files_beside_the_site_become_text(tmp_path: Path) -> None:
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "Makefile").write_text("")
    (tmp_path / "README.md").write_text("[a](docs/deep/a.md#x) [`make`](Makefile) [deep](docs/deep)")
    (tmp_path / "docs" / "deep" / "a.md").write_text("[up](../../README.md)")
    (tmp_path / "docs" / "deep" / "README.md").write_text("# Deep")
    prepare(tmp_path, tmp_path / "build")
    assert (tmp_path / "build" / "index.md").read_text() == "[a](deep/a.md#x) `make` [deep](deep/README.md)"
    assert (tmp_path / "build" / "deep" / "a.md").read_text() == "[up](../index.md)"


def test_the_reference_names_every_operation_and_every_field() -> None:
    for name, document in api_reference.documents().items():
        page = api_reference.page(document, 8700)
        for path, methods in document["paths"].items():
            for method in methods:
                assert f"## `{method.upper()} {path}`" in page, name
        for schema, held in document["components"]["schemas"].items():
            section = page.partition(f"\n### {schema}\n")[2].partition("\n### ")[0]
            assert set(held.get("properties", ())) == set(re.findall(r"^\| `([^`]+)`", section, re.M)), schema


def test_the_index_of_decisions_is_fresh() -> None:
    """Run ``make docs`` where this fails."""
    assert decision_index.refreshed() == (decision_index.FOLDER / "README.md").read_text("utf-8")


def test_the_index_takes_titles_and_statuses_from_the_records(tmp_path: Path) -> None:
    rows = "| [0001](0001-old.md) | Old | accepted | 2020-01-01 |\n| [0002](0002-gone.md) | Gone | x | 2020-01-02 |\n"
    (tmp_path / "README.md").write_text(f"# D\n\n|---|---|---|---|\n{rows}\nThe end.\n")
    (tmp_path / "0001-new.md").write_text("# 1. New\n\n**Status.** Replaced by 3.\n")
    (tmp_path / "0003-later.md").write_text("# 3. Later\n")
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    assert decision_index.refreshed(tmp_path) == (
        "# D\n\n|---|---|---|---|\n| [0001](0001-new.md) | New | replaced by 3 | 2020-01-01 |\n"
        f"| [0003](0003-later.md) | Later | accepted | {today} |\n\nThe end.\n"
    )


def test_the_pictures_are_fresh(tmp_path: Path) -> None:
    """Run ``make docs`` where this fails."""
    pictures.main(tmp_path)
    assert {file.name: file.read_text("utf-8") for file in pictures.FOLDER.iterdir()} == {
        file.name: file.read_text("utf-8") for file in tmp_path.iterdir()
    }


def test_the_architecture_names_every_room() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    for package in ("events", "ingest", "projectors", "retrieval", "deploy"):
        for room in (ROOT / package).iterdir():
            if room.is_dir() and room.name != "__pycache__":
                assert f"`{package}/{room.name}/`" in page


def test_make_docs_leaves_the_cache_of_the_repository_alone() -> None:
    """The cache holds the embedding model, and zensical empties the ``.cache`` beside its configuration."""
    recipe = subprocess.run(
        ["make", "--dry-run", "docs"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    [line] = [line for line in recipe.stdout.splitlines() if "zensical build" in line]
    assert line.startswith("cp zensical.toml build/ && cd build && ")
