"""Each mode has its own model for cards and questions. A missing model is reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from events.types.cards import EventNoted
from projectors.embedding.embedder import HashEmbedder, Vectors
from projectors.embedding.embedders import Embedders, embedders_of
from projectors.generations.generations import ProjectorBlockedError
from projectors.vectors.projector import VectorsProjector
from retrieval.http.read_api import create_app
from tests.support.projectors.folding import NOW, ORIGIN, apart, count, fold_live, rebuild
from tests.support.waiting import PATIENT

SAID = (
    ("The harbour was closed for repairs", None),
    ("The harbour class closes its socket", "code"),
    ("The harbour looked sad to me", "journal"),
)


@pytest.fixture
def said(connection: Connection) -> None:
    log.append(
        connection,
        [
            apart(
                EventNoted(
                    content=text, entity="user", tags=(), origin=replace(ORIGIN, mode=mode),
                    occurred_at=NOW, episode=True,
                )
            )
            for text, mode in SAID
        ],
    )  # fmt: skip


def settings_of(database: str, modes: str) -> Settings:
    return replace(Settings(), database_url=database, modes=modes, **PATIENT)


def fold(settings: Settings) -> None:
    fold_live(settings.database_url)
    fold_live(settings.database_url, VectorsProjector(embedders_of(settings)))


def recall(settings: Settings, **more: Any) -> dict[str, Any]:
    with TestClient(create_app(settings)) as client:
        body = {"user_id": "alex", "query": "harbour", "as_of": NOW.isoformat(), **more}
        answer = client.post("/v1/recall", json=body)
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


def by_meaning(answer: dict[str, Any]) -> set[str]:
    """Returns the answered cards that the semantic channel found."""
    return {card["content"] for card in answer["cards"] if "semantic" in card["channels"]}


def models(connection: Connection, dimension: int) -> list[tuple[str, int]]:
    rows = connection.execute(
        f"SELECT model, count(*) FROM vectors.card_vectors_{dimension} GROUP BY model ORDER BY model".encode()
    )
    return [(model, number) for model, number in rows.fetchall()]


@pytest.mark.usefixtures("said")
def test_a_mode_is_embedded_and_asked_with_its_own_model(database: str, connection: Connection) -> None:
    settings = settings_of(database, "code=hash-768, journal")
    fold(settings)
    assert models(connection, 384) == [("hash", 2)]
    assert models(connection, 768) == [("hash-768", 1)]
    for mode, found in (("general", SAID[0][0]), ("code", SAID[1][0]), ("journal", SAID[2][0])):
        answer = recall(settings, mode=mode)
        assert by_meaning(answer) == {found}, mode
        assert answer["channels"]["semantic"]["hits"] == 1
        assert answer["warnings"] == []


@pytest.mark.usefixtures("said")
def test_a_question_without_a_mode_is_put_to_every_model(database: str) -> None:
    settings = settings_of(database, "code=hash-768, journal=hash-1024")
    fold(settings)
    answer = recall(settings)
    assert by_meaning(answer) == {text for text, _ in SAID}
    assert answer["channels"]["semantic"]["hits"] == 3


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
def test_cards_whose_model_is_missing_wait_for_it_and_nothing_is_lost(
    database: str, connection: Connection
) -> None:
    fold_live(database)
    missing = VectorsProjector(embedders_of(settings_of(database, "code=no/such-model")))
    with pytest.raises(ProjectorBlockedError, match="for the mode code: no embedding model no/such-model"):
        rebuild(database, missing)
    fold_live(database, VectorsProjector(embedders_of(settings_of(database, "code=hash-768"))))
    assert (count(connection, "vectors.card_vectors_384"), models(connection, 768)) == (2, [("hash-768", 1)])


@pytest.mark.usefixtures("said")
def test_a_rebuild_gives_a_mode_its_new_model_and_embeds_nothing_else_again(
    database: str, connection: Connection
) -> None:
    embedded: list[str] = []

    class Noting(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            embedded.extend(texts)
            return super().embed(texts)

    fold_live(database)
    fold_live(database, VectorsProjector(Embedders(Noting)))
    assert sorted(embedded) == sorted(text for text, _ in SAID)
    embedded.clear()
    rebuild(database, VectorsProjector(Embedders(Noting, {"code": lambda: Noting(1024)})))
    assert embedded == [SAID[1][0]]
    assert (models(connection, 384), models(connection, 1024)) == ([("hash", 2)], [("hash-1024", 1)])


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
    origin = replace(ORIGIN, mode="code")
    log.append(
        connection,
        [
            apart(
                EventNoted(
                    content=later, entity="user", tags=(), origin=origin, occurred_at=NOW, episode=True
                )
            )
        ],
    )
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
        # The list shows the name that the card was made with, and filters by it.
        listed = client.get("/v1/cards", params={"user_id": "alex", "mode": "code"}).json()
        assert [(card["content"], card["mode"]) for card in listed["cards"]] == [(SAID[1][0], "code")]
    # The mode comes back with its cards.
    again = settings_of(database, before)
    assert [card["content"] for card in recall(again, mode="code")["cards"]] == [SAID[1][0]]
    assert [card["content"] for card in recall(again, mode="general")["cards"]] == [SAID[0][0]]


@pytest.mark.usefixtures("said")
def test_cards_from_before_a_mode_had_its_own_model_are_found_by_meaning_at_once(database: str) -> None:
    fold(settings_of(database, "code, journal"))
    after = settings_of(database, "code=hash-768, journal")
    answer = recall(after, mode="code")
    assert by_meaning(answer) == {SAID[1][0]}
    assert answer["channels"]["semantic"]["status"] == "ok"


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
