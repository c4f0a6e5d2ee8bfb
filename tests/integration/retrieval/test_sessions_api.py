"""Turns, sessions and episodes over HTTP."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from starlette.testclient import TestClient

from deploy.command import main
from events.access import keys
from events.access.principal import SCOPES
from events.platform.database import Connection
from events.platform.key_file import new_key
from events.platform.settings import Settings, variable_of
from events.sealing import sealer as sealing
from events.sealing.key_encryption import LocalKeyEncryption
from events.sealing.sealer import Sealer
from events.store import log
from events.types.cards import CardOrigin, EventNoted
from events.types.extraction import ExtractionFailed
from events.types.turns import TurnRecorded
from ingest.extraction.extraction_events import events_of
from ingest.extraction.extractor_port import SessionBatch
from ingest.recording.recorder import recorded_event
from projectors.cards.projector import CardsProjector
from retrieval.http.read_api import create_app
from tests.support.conversing import day
from tests.support.ingest.rules import EXTRACTOR, turn
from tests.support.projectors.folding import event, fold_live, settings_of
from tests.support.waiting import ALONE

Get = Callable[..., Any]


@pytest.fixture
def get(database: str, connection: Connection) -> Iterator[Get]:
    """Reads with a key that has ``rights``, or every right."""
    sealing.use(Sealer(LocalKeyEncryption([new_key()])))
    short = {"wait_for_ms": 50, "turn_events_s": 1}
    settings = replace(Settings(), database_url=database, **ALONE | short | {"auth": "on"})
    with TestClient(create_app(settings)) as client:

        def ask(path: str, *, answers: int = 200, rights: dict[str, Any] | None = None, **query: Any) -> Any:
            _, key = keys.create(connection, **({"name": "test", "scopes": SCOPES} | (rights or {})))
            header = {"Authorization": f"Bearer {key}"}
            answer = client.get(f"/v1/{path}", params={"user_id": "ada"} | query, headers=header)
            assert answer.status_code == answers, answer.text
            if answer.headers["content-type"].startswith("text/event-stream"):
                return [
                    json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")
                ]
            return answer.json()

        yield ask
    sealing.use(None)


def say(connection: Connection, turn_id: str, at: datetime, session: str, **more: Any) -> None:
    fields: dict[str, Any] = {"text": f"words of {turn_id}", "role": "user", "project_id": "default"} | more
    turn = TurnRecorded(turn_id=turn_id, said_at=at, timezone="UTC", session_id=session, **fields)
    log.append(connection, [recorded_event("ada", turn)])


def note(connection: Connection, turn_id: str, mode: str | None) -> None:
    origin = CardOrigin(
        project_id="default", session_id="s", turn_ids=(turn_id,), said_at=day(1), source_span=None,
        provenance="user_stated", mode=mode,
    )  # fmt: skip
    noted = EventNoted(content=turn_id, entity="user", tags=(), origin=origin, occurred_at=day(1))
    log.append(connection, [event(noted, "ada")])


def erase(connection: Connection, *turn_ids: str) -> None:
    keys_of = [f"turn/{each}" for each in turn_ids]
    rows = connection.execute("SELECT event_id FROM log.events WHERE dedupe_key = ANY (%s)", [keys_of])
    connection.execute("SELECT sealing.destroy_events('ada', %s)", [[row[0] for row in rows.fetchall()]])


def ids(page: Any) -> list[str]:
    return [each["turn_id"] for each in page["turns"]]


def counts(page: Any) -> list[tuple[str, int]]:
    return [(each["session_id"], each["turns"]) for each in page["sessions"]]


def test_a_turn_and_the_turns_of_a_session_are_as_they_were_said(connection: Connection, get: Get) -> None:
    say(connection, "t1", day(1), "a talk", metadata='{"ticket":"A-17"}', speaker="Mia")
    for number in range(2, 6):
        say(connection, f"t{number}", day(number), "a talk", role="assistant")
    say(connection, "t9", day(9), "a talk", project_id="work")
    found = get("turns/t1")
    assert (found["text"], found["speaker"], found["metadata"]) == ("words of t1", "Mia", {"ticket": "A-17"})
    assert datetime.fromisoformat(found["said_at"]) == day(1)
    first = get("sessions/a talk/turns", limit=2)
    assert ids(first) == ["t5", "t4"]
    assert first["turns"][0]["role"] == "assistant"
    second = get("sessions/a talk/turns", limit=2, cursor=first["next_cursor"])
    third = get("sessions/a talk/turns", limit=2, cursor=second["next_cursor"])
    assert (ids(second), ids(third), third["next_cursor"]) == (["t3", "t2"], ["t1"], None)
    assert ids(get("sessions/a talk/turns", project_id="work")) == ["t9"]


def test_ids_with_a_slash_are_found(connection: Connection, get: Get) -> None:
    say(connection, "migrated/1", day(1), "chats/one")
    assert get("turns/migrated%2F1")["turn_id"] == "migrated/1"
    assert ids(get("sessions/chats%2Fone/turns")) == ["migrated/1"]
    say(connection, "migrated/events", day(2), "chats/two")
    assert get("turns/migrated%2Fevents")["turn_id"] == "migrated/events"


def test_sessions_are_listed_the_latest_first(connection: Connection, get: Get) -> None:
    say(connection, "t1", day(1), "one")
    say(connection, "t2", day(5), "two", project_id="work")
    say(connection, "t3", day(3), "one")
    say(connection, "t4", day(2), "three")
    first = get("sessions", limit=2)
    assert counts(first) == [("three", 1), ("one", 2)]
    said = [datetime.fromisoformat(first["sessions"][1][name]) for name in ("first_said_at", "last_said_at")]
    assert said == [day(1), day(3)]
    rest = get("sessions", limit=2, cursor=first["next_cursor"])
    assert (counts(rest), rest["next_cursor"]) == ([("two", 1)], None)
    assert get("sessions", project_id="work") == rest
    assert counts(get("sessions", user_id="eve")) == []


def test_erased_turns_are_absent(connection: Connection, get: Get) -> None:
    for number in range(1, 4):
        say(connection, f"t{number}", day(number), "one")
    say(connection, "t4", day(4), "two")
    erase(connection, "t2", "t3", "t4")
    assert get("turns/t2", answers=404)["field"] == "turn_id"
    page = get("sessions/one/turns", limit=1)
    assert (ids(page), page["next_cursor"]) == (["t1"], None)
    assert counts(get("sessions")) == [("one", 1)]
    assert get("sessions/two/turns", answers=404)["field"] == "session_id"


def test_a_key_sees_the_turns_of_its_users_projects_and_modes(connection: Connection, get: Get) -> None:
    say(connection, "open", day(1), "one")
    say(connection, "private", day(2), "one")
    say(connection, "unread", day(3), "one")
    say(connection, "job", day(4), "two", project_id="work")
    note(connection, "open", None)
    note(connection, "private", "journal")
    fold_live(connection)
    for rights in ({"users": ["carl"]}, {"projects": ["work"]}, {"modes": ["vault"]}):
        assert get("turns/open", rights=rights, answers=404) == get("turns/none", rights=rights, answers=404)
        assert get("sessions/one/turns", rights=rights, answers=404)["field"] == "session_id"
    assert counts(get("sessions", rights={"projects": ["work"]})) == [("two", 1)]
    general: dict[str, Any] = {"modes": ["general"]}
    assert ids(get("sessions/one/turns", rights=general)) == ["open"]
    assert get("turns/private", rights=general, answers=404)["field"] == "turn_id"
    assert counts(get("sessions", rights=general)) == [("one", 1)]


def given_up(connection: Connection, turn_id: str, session: str) -> None:
    key = f"turn/{turn_id}"
    [(position,)] = connection.execute(
        "SELECT position FROM log.events WHERE dedupe_key = %s", [key]
    ).fetchall()
    failed = ExtractionFailed(
        extractor="claude", model="m", prompt_version="1", turn_ids=(turn_id,), turn_positions=(position,),
        reason="no answer is usable", attempts=8,
    )  # fmt: skip
    log.append(connection, [replace(event(failed, "ada"), stream=f"extraction/default/{session}")])


def test_a_stream_of_events_ends_when_the_turn_is_given_up(connection: Connection, get: Get) -> None:
    say(connection, "t1", day(1), "one")
    say(connection, "t2", day(1), "one")
    given_up(connection, "t1", "one")
    first, last = get("turns/t1/events")
    assert first == {"stage": "recorded", "turn_id": "t1"}
    assert (last["stage"], last["reason"]) == ("dead", "the extractor gave the turn up: no answer is usable")
    assert [each["stage"] for each in get("turns/t2/events")] == ["recorded", "late"]


def test_a_stream_of_events_shows_only_turns_in_reach(connection: Connection, get: Get) -> None:
    say(connection, "t1", day(1), "one")
    none = get("turns/none/events", answers=404)
    assert none["field"] == "turn_id"
    for rights in ({"users": ["carl"]}, {"projects": ["work"]}, {"modes": ["vault"]}):
        assert get("turns/t1/events", rights=rights, answers=404) == none
    assert get("turns/t1/events", within_s=0, answers=422)["field"] == "within_s"


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
