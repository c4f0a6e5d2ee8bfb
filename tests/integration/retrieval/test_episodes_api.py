"""Episodes over HTTP: the words of turns that a topic or a place of the core document finds, with their scores."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from deploy.command import main
from events.platform.database import Connection
from events.platform.settings import variable_of
from events.store import log
from ingest.extraction.extraction_events import events_of
from ingest.extraction.extractor_port import SessionBatch
from ingest.recording.recorder import recorded_event
from projectors.cards.projector import CardsProjector
from retrieval.http.read_api import create_app
from tests.support.ingest.rules import EXTRACTOR, turn
from tests.support.projectors.folding import fold_live, settings_of
from tests.support.waiting import ALONE

SAID = (
    "I started yoga three times a week for stress.",
    "I have been diagnosed with type 2 diabetes.",
    "I live in Lisbon and the tram stops at my door.",
    "我最近試了飯後散步，早上的血糖降了不少。",
)


@pytest.fixture
def read(
    database: str, redis_url: str, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> Iterator[TestClient]:
    monkeypatch.setenv(variable_of("database_url"), database)
    for number, text in enumerate(SAID):
        one = turn(text, number)
        one = replace(one, turn=replace(one.turn, session_id=f"s{number}"))
        batch = SessionBatch((one,))
        events = events_of(batch, EXTRACTOR.extract(batch), EXTRACTOR)
        log.append(connection, [recorded_event("u1", one.turn), *events])
    settings = settings_of(database, redis_url=redis_url, **ALONE)
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        assert client.get("/v1/memory/u1/episodes").json() == {"episodes": []}
        fold_live(database, CardsProjector())
        yield client


def test_topics_paths_and_importance_make_the_score(
    read: TestClient, capsys: pytest.CaptureFixture[str]
) -> None:
    def asked(**query: Any) -> list[dict[str, Any]]:
        answer = read.get("/v1/memory/u1/episodes", params=query)
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["episodes"]
        for each in found:
            told = each["explanation"]
            assert (
                each["score"]
                == 3 * len(told["topics"]) + 4 * len(told["paths"]) + told["importance"]
                == told["topic_points"] + told["path_points"] + told["importance"]
            )
        assert [each["score"] for each in found] == sorted((each["score"] for each in found), reverse=True)
        return found

    first = asked(topics="yoga,stress")[0]
    assert (first["content"], first["explanation"]["topics"]) == (SAID[0], ["yoga", "stress"])
    first = asked(paths="/healthProfile/conditions/0", k=2)[0]
    assert (first["content"], first["explanation"]["paths"]) == (SAID[1], ["/healthProfile/conditions/0"])
    assert "/healthProfile/conditions" in first["related_paths"]
    [sugars] = [each for each in asked(topics=["血糖"]) if each["explanation"]["topics"]]
    assert sugars["content"] == SAID[3]
    assert "/profile/residence" in asked(paths="/profile")[0]["related_paths"]
    assert len(asked(k=2)) == 2
    assert asked(project_id="elsewhere") == []
    for query, field in (
        ({"k": 0}, "k"),
        ({"paths": "healthProfile"}, "paths"),
        ({"topics": "x" * 300}, "topics"),
        ({"topics": [f"{number}" for number in range(60)]}, "topics"),
        ({"topic": "yoga"}, "topic"),
    ):
        answer = read.get("/v1/memory/u1/episodes", params=query)
        assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert main(["episodes", "--user", "u1", "--topics", "stress,yoga", "-k", "1"]) == 0
    shown = capsys.readouterr().out
    assert SAID[0] in shown
    assert "topic stress +3" in shown
