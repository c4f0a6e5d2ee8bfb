"""The pages of the documentation site are fresh, and their links lead somewhere."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from scripts import api_reference, decision_index, pictures
from scripts.docs_site import ROOT, BrokenLinkError, prepare


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


def test_the_pictures_are_fresh(tmp_path: Path) -> None:
    """Run ``make docs`` where this fails."""
    pictures.main(tmp_path)
    assert {file.name: file.read_text("utf-8") for file in pictures.FOLDER.glob("*.svg")} == {
        file.name: file.read_text("utf-8") for file in tmp_path.iterdir()
    }


def test_the_architecture_names_every_room() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    for package in ("events", "ingest", "projectors", "retrieval", "deploy", "evaluation"):
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


def test_every_request_of_the_guides_sends_a_key() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    requests = [
        (page.name, line)
        for page in pages
        for line in page.read_text("utf-8").splitlines()
        if line.startswith("curl ") and "/v1/" in line and ":8703/" not in line  # the proxy has the key
    ]
    assert requests, "the guides hold requests"
    assert [each for each in requests if "-H @data/api.key" not in each[1]] == []
