"""``cardlog concepts`` lists the concept keys, and the names in the log that look like one key."""

import json

import pytest

from deploy.command import main
from events.language.concepts import all_concepts
from events.platform.database import Connection
from events.store import log
from events.types.cards import StateAsserted
from events.types.envelope import NewEvent
from projectors.cards.projector import CardsProjector
from tests.support.projectors.folding import NOW, ORIGIN, event, fold_live


@pytest.fixture(autouse=True)
def environment(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARDLOG_DATABASE_URL", database)
    monkeypatch.setenv("CARDLOG_REDIS_URL", "redis://127.0.0.1:1")


def fact(user: str, key: str) -> NewEvent:
    payload = StateAsserted(
        content="x", entity="user", concept_key=key, value="x", cardinality="multi_value", tags=(),
        origin=ORIGIN, effective_at=NOW,
    )  # fmt: skip
    return event(payload, user)


def test_similar_keys_of_one_user_are_listed_with_their_uses(
    connection: Connection, capsys: pytest.CaptureFixture[str]
) -> None:
    log.append(
        connection,
        [
            fact("ana", "coffee_habit"), fact("ana", "coffee_habits"), fact("ana", "coffee_habits"),
            fact("bea", "coffee_habits"), fact("bea", "coffee_habit"),
            # An alias of a registered key is that key. Keys of two users are never compared.
            fact("ana", "home_city"), fact("ana", "residence"),
            fact("ana", "morning_routine"), fact("bea", "morning_routines"),
        ],
    )  # fmt: skip
    assert main(["concepts", "--drift", "--json"]) == 1
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert found == [{"keys": ["coffee_habit", "coffee_habits"], "users": 2, "statements": [2, 3]}]
    assert main(["concepts", "--drift", "--user", "bea"]) == 1
    assert "coffee_habit (1)   coffee_habits (1)   users with both: 1" in capsys.readouterr().out


def test_nothing_drifts_in_an_empty_log(connection: Connection, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["concepts", "--drift"]) == 0
    assert capsys.readouterr().out == "0 keys, 0 statements; 0 pairs that may be one concept\n"


def test_the_registry_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["concepts", "--json"]) == 0
    listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["key"] for one in listed] == [one.key for one in all_concepts()]
    assert next(one for one in listed if one["key"] == "residence")["cardinality"] == "single_value"


def test_a_concept_is_created_edited_merged_and_pinned(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: str) -> list[str]:
        fold_live(database, CardsProjector())
        assert main(["concepts", *arguments, "--user", "ada"]) == 0
        return capsys.readouterr().out.splitlines()

    assert run("list") == ["ada has no such concepts"]
    [jwt], [token] = (
        run("create", title, "a signed token", "--alias", f"{title} token", "--related", "OAuth")
        for title in ("JWT", "JOSE")
    )
    jwt, token = jwt.split()[-1], token.split()[-1]
    assert run("edit", jwt, "--definition", "stateless authentication") == [f"edited {jwt}"]
    assert run("merge", token, jwt, "--reason", "one thing") == [f"merged {token} into {jwt}"]
    assert run("pin", jwt) == [f"pinned {jwt}"]
    listed, definition = run("list", "--pinned")
    assert listed == f"{jwt}  JWT, JWT token, JOSE, JOSE token  pinned"
    assert definition.strip() == "stateless authentication"
    run("unpin", jwt)
    assert run("list", "--pinned") == ["ada has no such concepts"]
