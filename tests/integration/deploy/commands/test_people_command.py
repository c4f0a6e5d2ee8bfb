"""``cardlog people`` from the command line: noted, merged, split, and told apart."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deploy.command import main
from events.platform.settings import variable_of
from projectors.cards.projector import CardsProjector
from tests.support.projectors.folding import fold_live


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main(["people", *arguments, "--user", "ada"])
    captured = capsys.readouterr()
    return status, captured.out + captured.err


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    status, text = run(capsys, *arguments, "--json")
    assert status == 0, text
    return json.loads(text)


def test_people_are_noted_merged_split_and_told_apart(
    database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable_of("database_url"), database)
    fold_live(database, CardsProjector())
    noor = told(capsys, "note", "Noor", "--kinship", "colleague")["person_id"]
    whole = told(capsys, "note", "Noora Haddad")["person_id"]
    told(capsys, "alias", noor, "noor@example.org", "--kind", "handle")
    assert told(capsys, "merge", noor, whole, "--reason", "she said so")["merged"]
    _, shown = run(capsys, "list")
    assert "Noora Haddad, Noor, noor@example.org (colleague)" in shown
    told(capsys, "split", noor, whole)
    told(capsys, "distinct", noor, whole)
    status, refused = run(capsys, "merge", noor, whole)
    assert status != 0
    assert "two people" in refused
    assert "Noora" in run(capsys, "show", whole)[1]
    assert run(capsys, "timeline", whole)[0] == 0
