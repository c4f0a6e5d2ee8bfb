"""A recall answers within its deadline when channels fail, and names the channels that are missing."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import psycopg
import pytest
from starlette.testclient import TestClient

from events.http.tokens import Sealer
from events.platform.database import Connection, connect
from events.platform.settings import Settings, SettingsError, variable_of
from events.store import log
from events.types.cards import EventNoted, StateAsserted
from projectors.embedding.embedder import HASH_MODEL, HashEmbedder, Vectors
from projectors.embedding.embedders import Embedders
from projectors.vectors.projector import VectorsProjector
from retrieval.http import read_api
from retrieval.http.read_api import create_app
from retrieval.recall import channel_health
from retrieval.recall.channel_executor import CHANNELS, faults_of
from tests.support.databases import copied, kill_all
from tests.support.projectors.folding import NOW, ORIGIN, apart, fold_live
from tests.support.waiting import eventually


@pytest.fixture(scope="module")
def cards(postgres_url: str, template: str) -> Iterator[str]:
    """A database with a few cards of alex, vectors too. No test here changes it."""
    with copied(postgres_url, template) as database:
        with connect(database, application="test") as connection:
            log.append(
                connection,
                [
                    apart(
                        StateAsserted(
                            content="I live in Lisbon", entity="user", concept_key="residence", value="Lisbon",
                            cardinality="single_value", tags=(), origin=ORIGIN, effective_at=NOW,
                        )
                    ),
                    apart(
                        EventNoted(
                            content="We adopted two kittens yesterday", entity="user", tags=(), origin=ORIGIN,
                            occurred_at=NOW, episode=True,
                        )
                    ),
                ],
            )  # fmt: skip
        fold_live(database)
        fold_live(database, VectorsProjector(Embedders(HashEmbedder)))
        yield database


@pytest.fixture
def connection(cards: str) -> Iterator[Connection]:
    """A connection to the same database."""
    with connect(cards, application="cardlog-test") as opened:
        yield opened


class Asking:
    """A read service over the cards, with fault injection."""

    def __init__(self, client: TestClient) -> None:
        self.client = client

    def recall(
        self, query: str = "where do I live? did we adopt kittens this week?", **more: Any
    ) -> dict[str, Any]:
        answer = self.client.post(
            "/v1/recall", json={"user_id": "alex", "query": query, "as_of": NOW.isoformat(), **more}
        )
        assert answer.status_code == 200, answer.text
        document: dict[str, Any] = answer.json()
        return document


def asking(database: str, **changed: Any) -> TestClient:
    # The overlay is no channel. It gets a long deadline, so that every warning comes from a channel.
    settings = replace(
        Settings(), database_url=database, embed_model=HASH_MODEL, overlay_deadline_ms=30_000, auth="off"
    )
    return TestClient(create_app(replace(settings, **changed)))


@pytest.fixture
def patient() -> dict[str, int]:
    """Deadlines that healthy channels meet on a busy machine."""
    return {f"{name}_deadline_ms": 30_000 for name in CHANNELS}


def test_without_faults_every_channel_is_well(cards: str, patient: dict[str, int]) -> None:
    with asking(cards, **patient) as client:
        answer = Asking(client).recall()
    assert {name: each["status"] for name, each in answer["channels"].items()} == dict.fromkeys(
        CHANNELS, "ok"
    )
    assert answer["warnings"] == []


def test_where_many_recalls_wait_a_question_is_not_embedded(
    cards: str, patient: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, embed, later = time.perf_counter, HashEmbedder.embed_question, [0.0]

    def slow(self: HashEmbedder, text: str) -> Vectors:
        later[0] += 60.0
        return embed(self, text)

    monkeypatch.setattr(time, "perf_counter", lambda: clock() + later[0])
    monkeypatch.setattr(HashEmbedder, "embed_question", slow)
    monkeypatch.setattr(read_api, "WAITS_FOR_A_PLACE_S", 60.0)
    # There is one place. Its holder keeps it long enough for the other recalls to come.
    with (
        asking(cards, pool_size=2, fault_tags="slow:1500", **patient) as client,
        ThreadPoolExecutor(3) as threads,
    ):
        answers = list(threads.map(lambda _: Asking(client).recall(), range(3)))
    semantic = [answer["channels"]["semantic"] for answer in answers]
    # The first one waited for nothing.
    assert {each["status"] for each in semantic} == {"down", "ok"}
    assert all("recalls wait" in each["detail"] for each in semantic if each["status"] == "down")
    for answer in answers:
        assert "I live in Lisbon" in {card["content"] for card in answer["cards"]}


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize(("fault", "status"), [("down", "down"), ("error", "down"), ("slow:60000", "late")])
def test_one_channel_fails_and_the_others_answer(
    cards: str, patient: dict[str, int], channel: str, fault: str, status: str
) -> None:
    # Only the slow channel must be late.
    hasty = {f"{channel}_deadline_ms": 100} if status == "late" else {}
    settings = patient | hasty | {f"fault_{channel}": fault}
    with asking(cards, **settings) as client:
        answer = Asking(client).recall()
    found = {name: each["status"] for name, each in answer["channels"].items()}
    assert found == dict.fromkeys(CHANNELS, "ok") | {channel: status}
    assert {card["content"] for card in answer["cards"]} == {
        "I live in Lisbon",
        "We adopted two kittens yesterday",
    }
    warning, *others = answer["warnings"]
    assert others == []
    assert warning.startswith(f"the {channel} channel is {status}: ")
    if fault != "slow:60000":
        assert variable_of(f"fault_{channel}") in warning


def test_with_all_channels_dead_the_answer_is_empty_and_names_them(
    cards: str, patient: dict[str, int]
) -> None:
    faults = dict(zip(CHANNELS, ["down", "error", "slow:60000"] * 2, strict=False))
    # Only the slow channels must be late.
    hasty = {f"{name}_deadline_ms": 100 for name, fault in faults.items() if fault.startswith("slow")}
    settings = patient | hasty | {f"fault_{name}": fault for name, fault in faults.items()}
    with asking(cards, **settings) as client:
        answer = Asking(client).recall()
    assert answer["cards"] == []
    assert len(answer["warnings"]) == len(CHANNELS)
    # Without a deadline, the server would end a slow query and the channel would be down.
    found = {name: each["status"] for name, each in answer["channels"].items()}
    assert found == {name: "late" if fault.startswith("slow") else "down" for name, fault in faults.items()}


def test_where_all_are_late_they_get_more_time(cards: str) -> None:
    slow = {f"fault_{name}": "slow:400" for name in ("semantic", "tags", "fuzzy")}
    hasty = {f"{name}_deadline_ms": 50 for name in ("semantic", "tags", "fuzzy")}
    with asking(cards, **slow, **hasty, last_resort_ms=30_000) as client:
        answer = Asking(client).recall()
    assert answer["cards"]


def test_channels_that_go_by_content_never_rest_all_at_once(
    cards: str, patient: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel_health, "BUSY", 0)  # a channel rests, however slow the others are
    content = ("semantic", "tags", "fuzzy")
    slow = {f"fault_{name}": "slow:600" for name in content}

    def all_rest() -> bool:
        Asking(client).recall()
        channels = client.get("/v1/channels").json()
        return {channels[name]["status"] for name in content} == {"quarantined"}

    with asking(cards, **patient, **slow, quarantine_over_ms=30) as client:
        with ThreadPoolExecutor(3) as threads:
            list(threads.map(lambda _: Asking(client).recall(), range(9)))
        eventually(all_rest)
        answer = Asking(client).recall()
    assert answer["cards"]


def test_what_was_late_leaves_no_query_behind_on_the_server(cards: str, connection: Connection) -> None:
    with asking(cards, fault_fuzzy="slow:60000", fault_tags="slow:60000", pool_size=8) as client:
        for _ in range(3):
            answer = Asking(client).recall()
            assert answer["channels"]["fuzzy"]["status"] == "late"
        eventually(lambda: not _running(connection))
        assert _longest(connection) < 4.9  # statement_timeout is 5


def test_a_query_that_waits_for_a_lock_is_cancelled_too(
    cards: str, connection: Connection, patient: dict[str, int]
) -> None:
    with asking(cards, **patient | {"fuzzy_deadline_ms": 100}) as client, connection.transaction():
        connection.execute("LOCK TABLE cards.words IN ACCESS EXCLUSIVE MODE")
        answer = Asking(client).recall("where do I live?")
        assert answer["channels"]["fuzzy"]["status"] == "late"
        with psycopg.connect(cards, autocommit=True) as other:
            eventually(lambda: not _running(other))
            assert _longest(other) < 4.9


def _running(connection: Connection) -> list[Any]:
    """Returns the queries that the read service's connections run."""
    return connection.execute(
        "SELECT state, query FROM pg_stat_activity "
        "WHERE datname = current_database() AND application_name = 'cardlog read' AND state <> 'idle'"
    ).fetchall()


def _longest(connection: Connection) -> float:
    """Returns the duration in seconds of the longest query among the last query of each connection."""
    row = connection.execute(
        "SELECT extract(epoch FROM max(state_change - query_start))::float8 FROM pg_stat_activity "
        "WHERE datname = current_database() AND application_name IN ('cardlog read', 'cardlog overlay')"
    ).fetchone()
    assert row is not None
    assert row[0] is not None
    return float(row[0])


@pytest.fixture
def alone(patient: dict[str, int]) -> dict[str, Any]:
    """Settings with which only the fuzzy channel has latencies, so that no slow machine makes up for its own.

    A question without a time is nothing for the time and the graph channel, and errors have no latency.
    """
    return patient | {"fault_semantic": "down", "fault_tags": "down"}


def test_a_slow_channel_is_quarantined_seen_and_not_waited_for(cards: str, alone: dict[str, Any]) -> None:
    slow = {"fuzzy_deadline_ms": 100, "last_resort_ms": 100, "quarantine_over_ms": 50}
    with asking(cards, **alone | slow | {"fault_fuzzy": "slow:60000"}) as client:
        service = Asking(client)
        assert service.recall("where do I live?")["channels"]["fuzzy"]["status"] == "late"
        eventually(lambda: service.recall("where do I live?")["channels"]["fuzzy"]["status"] == "quarantined")
        answer = service.recall("did we adopt kittens this week?")
        fuzzy = answer["channels"]["fuzzy"]
        assert fuzzy["status"] == "quarantined"
        assert fuzzy["ms"] == 0
        assert "P95" in fuzzy["detail"]
        assert answer["channels"]["time"]["status"] == "ok"
        assert answer["cards"][0]["content"] == "We adopted two kittens yesterday"
        channels = client.get("/v1/channels").json()
        assert channels["fuzzy"]["status"] == "quarantined"
        assert channels["fuzzy"]["fault"] == "CARDLOG_FAULT_FUZZY"
        assert channels["time"]["status"] == "ok"
        metrics = client.get("/metrics").text
        assert 'cardlog_recall_channel_quarantined{channel="fuzzy"} 1.0' in metrics
        assert 'cardlog_recall_channel_quarantined{channel="time"} 0.0' in metrics
        assert 'cardlog_recall_channel_seconds_count{channel="time"}' in metrics


def test_a_channel_that_is_quick_again_comes_back_without_anybody_waiting(
    cards: str, connection: Connection, alone: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel_health, "PROBE_EVERY_S", 0.05)
    # On a busy machine a quick channel takes up to a second.
    slow = {"fuzzy_deadline_ms": 1100, "last_resort_ms": 1100, "quarantine_over_ms": 1000}
    with asking(cards, **alone | slow) as client:
        service = Asking(client)
        with connection.transaction():
            connection.execute("LOCK TABLE cards.words IN ACCESS EXCLUSIVE MODE")
            eventually(
                lambda: service.recall("where do I live?")["channels"]["fuzzy"]["status"] == "quarantined"
            )
        fuzzy = eventually(
            lambda: (
                (each := service.recall("where do I live?")["channels"]["fuzzy"])["status"] == "ok" and each
            )
        )
        assert fuzzy["hits"] >= 0


def test_a_connection_that_hangs_costs_its_channels_deadlines_and_no_more(cards: str) -> None:
    """There are more late channels than connections. A channel that gets no connection is late, and is not blamed."""
    faults = {f"fault_{name}": "slow:60000" for name in CHANNELS}
    with asking(cards, pool_size=1, **faults) as client:
        answer = Asking(client).recall()
    # Without the deadlines, the server would end the slow queries and their channels would be down.
    assert {each["status"] for each in answer["channels"].values()} == {"late"}


def test_connections_that_died_in_the_pool_cost_nobody_an_answer(
    cards: str, connection: Connection, patient: dict[str, int]
) -> None:
    with asking(cards, token_key="of the test", **patient) as client:
        service = Asking(client)
        card = service.recall("where do I live?")["cards"][0]
        alex = {"user_id": "alex"}
        token = Sealer(b"of the test").seal({"alex": 1})
        paths = ["", "/aggregate?group_by=kind", f"/{card['card_id']}", f"/{card['card_id']}/history"]
        paths += [f"/{card['card_id']}/{what}" for what in ("relations", "latest")]
        for path in [f"/v1/cards{path}" for path in paths] + ["/v1/arbitrations", "/readyz"]:
            kill_all(connection)
            asked = {} if path == "/readyz" else alex | dict(parse_qsl(urlsplit(path).query))
            answer = client.get(path, params=asked)
            assert answer.status_code == 200, (path, answer.text)
        for more in ({}, {"wait_for": token}):
            kill_all(connection)
            recalled = service.recall("where do I live?", **more)
            statuses = {name: each["status"] for name, each in recalled["channels"].items()}
            assert statuses == dict.fromkeys(CHANNELS, "ok"), recalled["warnings"]
            assert recalled["warnings"] == []
            assert recalled["cards"][0]["content"] == card["content"]


def test_a_server_that_is_too_slow_is_not_called_away(cards: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_api, "ANSWERS_WITHIN_S", 1.0)
    settings = replace(Settings(), database_url=cards, embed_model=HASH_MODEL, auth="off")
    with connect(cards, application="test", autocommit=False) as connection:
        connection.execute("LOCK TABLE cards.arbitrations")  # only the resolution of the cards reads it
        with TestClient(create_app(settings)) as client:
            answer = client.post("/v1/recall", json={"user_id": "alex", "query": "where do I live?"})
    assert answer.status_code == 503
    assert answer.json()["detail"] == "Postgres did not answer in time; the cards cannot be read now"


@pytest.mark.parametrize("text", ["slow", "slow:", "slow:x", "dead", "down:5", "slow:-1"])
def test_a_fault_that_cannot_be_read_is_refused_by_name(text: str) -> None:
    with pytest.raises(SettingsError, match=r"CARDLOG_FAULT_TAGS.*slow:<milliseconds>"):
        faults_of(replace(Settings(), fault_tags=text))


def test_fault_injection_is_off_unless_set_and_is_logged(
    cards: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert faults_of(Settings()) == {}
    create_app(replace(Settings(), database_url=cards))
    assert "FAULT" not in caplog.text
    create_app(replace(Settings(), database_url=cards, fault_time="down"))
    assert "CARDLOG_FAULT_TIME" in caplog.text
