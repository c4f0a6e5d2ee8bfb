"""``cardlog people`` from the command line: noted, merged, split, and told apart."""

import pytest

from events.platform.settings import variable_of
from projectors.cards.projector import CardsProjector
from tests.support.projectors.folding import fold_live
from tests.support.verbs import Verb


@pytest.fixture
def people(capsys: pytest.CaptureFixture[str]) -> Verb:
    return Verb(capsys, "people", "--user", "ada")


def test_people_are_noted_merged_split_and_told_apart(
    database: str, monkeypatch: pytest.MonkeyPatch, people: Verb
) -> None:
    monkeypatch.setenv(variable_of("database_url"), database)
    fold_live(database, CardsProjector())
    noor = people.told("note", "Noor", "--kinship", "colleague")["person_id"]
    whole = people.told("note", "Noora Haddad")["person_id"]
    people.told("alias", noor, "noor@example.org", "--kind", "handle")
    assert people.told("merge", noor, whole, "--reason", "she said so")["merged"]
    _, shown = people("list")
    assert "Noora Haddad, Noor, noor@example.org (colleague)" in shown
    people.told("split", noor, whole)
    people.told("distinct", noor, whole)
    status, refused = people("merge", noor, whole)
    assert status != 0
    assert "two people" in refused
    assert "Noora" in people("show", whole)[1]
    assert people("timeline", whole)[0] == 0
