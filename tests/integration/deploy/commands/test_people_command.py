"""``cardlog people`` from the command line: noted, merged, split, and told apart."""

import pytest

from events.platform.database import Connection
from events.platform.settings import variable_of
from events.store import log
from events.types.cards import StateAsserted
from projectors.cards.projector import CardsProjector
from projectors.people import PeopleProjector
from tests.support.projectors.folding import NOW, ORIGIN, event, fold_live
from tests.support.retrieval.channels import noted
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


def test_a_timeline_tells_the_same_words_once(
    database: str, connection: Connection, monkeypatch: pytest.MonkeyPatch, people: Verb
) -> None:
    monkeypatch.setenv(variable_of("database_url"), database)
    words = "My sister Noor works at Acme."
    job = StateAsserted(
        content=words, entity="Noor", concept_key="employer", value="Acme", cardinality="single_value", tags=(),
        origin=ORIGIN, effective_at=NOW,
    )  # fmt: skip
    log.append(connection, [event(each, user="ada") for each in (noted(words), job)])
    fold_live(database)
    fold_live(database, PeopleProjector())
    [noor] = people.told("list")["people"]
    assert "2 mentions" in people("list")[1]
    assert len(people.told("timeline", noor["person_id"])["entries"]) == 2
    assert people("timeline", noor["person_id"])[1].count(words) == 1
