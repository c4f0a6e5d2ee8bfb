"""Each mode has its own model for cards and questions. A missing model is reported."""

from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from projectors.embedding.embedders import embedders_of
from projectors.vectors.projector import VectorsProjector
from retrieval.http.read_api import create_app
from tests.support.projectors.folding import NOW, apart, fold_live
from tests.support.retrieval.channels import asking, noted
from tests.support.waiting import ALONE

SAID = (
    ("The harbour was closed for repairs", None),
    ("The harbour class closes its socket", "code"),
    ("The harbour looked sad to me", "journal"),
)


@pytest.fixture
def said(connection: Connection) -> None:
    log.append(connection, [apart(noted(text, mode=mode)) for text, mode in SAID])


def settings_of(database: str, modes: str) -> Settings:
    return replace(Settings(), database_url=database, modes=modes, **ALONE)


def fold(settings: Settings) -> None:
    fold_live(settings.database_url)
    fold_live(settings.database_url, VectorsProjector(embedders_of(settings)))


def recall(settings: Settings, **more: Any) -> dict[str, Any]:
    with asking(settings.database_url, modes=settings.modes) as ask:
        return ask("harbour", **{"as_of": NOW.isoformat()} | more)


def by_meaning(answer: dict[str, Any]) -> set[str]:
    """Returns the answered cards that the semantic channel found."""
    return {card["content"] for card in answer["cards"] if "semantic" in card["channels"]}


@pytest.mark.usefixtures("said")
def test_a_missing_model_is_reported_and_costs_only_its_own_mode(database: str) -> None:
    fold(settings_of(database, ""))
    settings = settings_of(database, "code=no/such-model, journal")
    answer = recall(settings, mode="code")
    semantic = answer["channels"]["semantic"]
    assert (semantic["status"], semantic["hits"]) == ("ok", 1)  # the vector of before answers
    assert "for the mode code: no embedding model no/such-model in" in semantic["detail"]
    assert [card["content"] for card in answer["cards"]] == [SAID[1][0]]
    assert recall(settings, mode="journal")["channels"]["semantic"]["status"] == "ok"
    everywhere = recall(settings)
    semantic = everywhere["channels"]["semantic"]
    assert (semantic["status"], semantic["hits"] > 0) == ("ok", True)
    assert "no/such-model" in semantic["detail"]
    [warning] = everywhere["warnings"]
    assert warning.startswith("the semantic channel answers in part: for the mode code: no embedding model")


@pytest.mark.usefixtures("said")
@pytest.mark.parametrize("left", ["", "journal"])
def test_cards_of_a_mode_that_left_the_settings_are_found_by_meaning_at_once(
    database: str, connection: Connection, left: str
) -> None:
    fold(settings_of(database, "code=hash-768, journal"))
    after = settings_of(database, left)
    fold(after)
    answer = recall(after)
    assert by_meaning(answer) == {text for text, _ in SAID}
    assert answer["channels"]["semantic"]["status"] == "ok"
    if not left:
        assert by_meaning(recall(after, mode="code")) == {SAID[1][0]}
    # Later cards of the name join the general space, and both are found.
    later = "The harbour module has a bug"
    log.append(connection, [apart(noted(later, mode="code"))])
    fold(after)
    assert by_meaning(recall(after)) >= {later, SAID[1][0]}


@pytest.mark.usefixtures("said")
@pytest.mark.parametrize("before", ["code=hash-768, journal", "code, journal"])
def test_cards_of_a_mode_that_left_the_settings_belong_to_the_general_mode(
    database: str, before: str
) -> None:
    fold(settings_of(database, before))
    after = settings_of(database, "journal")
    for answer in (recall(after, mode="general"), recall(after, modes=["general", "journal"])):
        found = {card["content"]: card["mode"] for card in answer["cards"]}
        assert found[SAID[1][0]] == "general"
        assert SAID[1][0] in by_meaning(answer)
    assert {card["content"] for card in recall(after, mode="general")["cards"]} == {SAID[0][0], SAID[1][0]}
    assert [card["content"] for card in recall(after, mode="journal")["cards"]] == [SAID[2][0]]
    with TestClient(create_app(after)) as client:
        body = {"user_id": "alex", "query": "harbour", "mode": "code"}
        refused = client.post("/v1/recall", json=body)
        assert (refused.status_code, refused.json()["field"]) == (422, "mode")
        assert "general, journal" in refused.json()["detail"]
        # The list shows the name that the card was made with, and filters by it.
        listed = client.get("/v1/cards", params={"user_id": "alex", "mode": "code"}).json()
        assert [(card["content"], card["mode"]) for card in listed["cards"]] == [(SAID[1][0], "code")]
    # The mode comes back with its cards.
    again = settings_of(database, before)
    assert [card["content"] for card in recall(again, mode="code")["cards"]] == [SAID[1][0]]
    assert [card["content"] for card in recall(again, mode="general")["cards"]] == [SAID[0][0]]


@pytest.mark.usefixtures("said")
def test_the_missing_model_of_a_removed_mode_is_named_with_the_remedy_only_where_it_matters(
    database: str, connection: Connection
) -> None:
    fold(settings_of(database, "code=hash-768, journal"))
    connection.execute(
        "UPDATE vectors.spaces SET name = 'acme/gone', fingerprint = 'acme/gone' WHERE slot = 'code'"
    )
    connection.execute("UPDATE vectors.card_vectors_768 SET model = 'acme/gone'")
    after = settings_of(database, "journal")
    answer = recall(after)
    assert by_meaning(answer) == {SAID[0][0], SAID[2][0]}
    [warning] = answer["warnings"]
    assert "acme/gone" in warning
    assert "cardlog reembed" in warning
    assert recall(after, mode="general")["warnings"] == [warning]
    assert recall(after, mode="journal")["warnings"] == []
