"""The map of a mode has a point for each card with a vector, within what the key may see."""

from typing import Any

from starlette.testclient import TestClient

from events.platform.database import Connection
from events.store import log
from events.types.envelope import NewEvent
from projectors.embedding.embedder import HashEmbedder
from projectors.embedding.embedders import Embedders
from projectors.vectors.projector import VectorsProjector
from retrieval.http.read_api import create_app
from tests.support.databases import Place
from tests.support.projectors.folding import apart, fold_live, settings_of
from tests.support.retrieval.channels import noted
from tests.support.waiting import ALONE


def said(content: str, user: str = "alex", mode: str | None = None) -> NewEvent:
    return apart(noted(content, mode=mode), user)


def drawn(database: Place, **query: Any) -> Any:
    with TestClient(create_app(settings_of(database, **ALONE))) as read:
        answer = read.get("/v1/cards/map", params={"user_id": "alex", "project_id": "*"} | query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_mode_is_drawn_with_the_cards_that_were_recorded_last(connection: Connection) -> None:
    texts = [f"The harbour has crane {number}" for number in range(6)]
    log.append(connection, [said(each) for each in texts])
    log.append(connection, [said("I fixed the parser", mode="code"), said("not of alex", "bo")])
    fold_live(connection)
    fold_live(connection, VectorsProjector(Embedders(HashEmbedder)))
    log.append(connection, [said("x" * 200)])
    fold_live(connection)  # the last card has no vector yet
    found = drawn(connection, mode="general")
    assert {each["content"] for each in found["points"]} == set(texts)
    assert (found["missing"], found["cut"]) == (1, False)
    assert found["embedder"]
    assert 0 < found["shown"] <= 1
    assert all(-1000 <= each[axis] <= 1000 for each in found["points"] for axis in ("x", "y"))
    assert [each["content"] for each in drawn(connection, mode="code")["points"]] == ["I fixed the parser"]
    few = drawn(connection, mode="general", limit=3)
    assert (len(few["points"]), few["missing"], few["cut"]) == (2, 1, True)


def test_a_map_without_vectors_is_empty(connection: Connection) -> None:
    log.append(connection, [said("The harbour has a crane")])
    fold_live(connection)
    fold_live(connection, VectorsProjector(Embedders(HashEmbedder)))
    assert drawn(connection, mode="code") == {
        "embedder": None,
        "points": [],
        "shown": 0,
        "missing": 0,
        "cut": False,
    }
