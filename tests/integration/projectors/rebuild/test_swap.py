"""A swap of generations disturbs nobody, and tables of another version wait for it."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from deploy.commands.operate.doctor import doctor
from events.health.health_status import read_health
from events.platform.database import Connection, connect
from events.store import log
from projectors.cards.projector import CardsProjector
from projectors.embedding.embedder import HashEmbedder
from projectors.embedding.embedders import Embedders
from projectors.generations.digest import digest_of
from projectors.generations.generations import (
    GenerationError,
    changing,
    ensure_live,
    hold_live,
    list_generations,
    with_fold_paused,
)
from projectors.rebuild import swap
from projectors.runner import Runner
from projectors.vectors.projector import VectorsProjector
from retrieval.http.read_api import create_app
from tests.bench.support.history import fill
from tests.support.projectors.folding import (
    apart,
    count,
    fold_live,
    moved,
    noted,
    rebuild,
    settings_of,
    statuses,
)
from tests.support.roles import roles_for
from tests.support.waiting import PATIENT, eventually, working


def test_the_read_service_answers_from_every_channel_while_generations_are_swapped(
    connection: Connection,
) -> None:
    settings = settings_of(connection, **PATIENT)
    log.append(
        connection, [apart(noted(f"We walked to the night market, part {n}").payload) for n in range(30)]
    )
    vectors = VectorsProjector(Embedders(HashEmbedder))
    fold_live(connection)
    fold_live(connection, vectors)
    answers: list[dict[str, Any]] = []
    codes: list[int] = []
    stop = threading.Event()
    with TestClient(create_app(settings)) as client:

        def ask() -> None:
            while not stop.is_set():
                answer = client.post("/v1/recall", json={"user_id": "alex", "query": "night market"})
                codes.append(answer.status_code)
                answers.append(answer.json())

        asking = threading.Thread(target=ask)
        asking.start()
        eventually(lambda: len(answers) > 3)
        rebuild(connection)
        rebuild(connection, vectors)
        for _ in range(8):
            swap.rollback(connection, CardsProjector())
            swap.rollback(connection, vectors)
        stop.set()
        asking.join()
    assert set(codes) == {200}
    assert {len(answer["cards"]) for answer in answers} == {5}
    assert {report["status"] for answer in answers for report in answer["channels"].values()} == {"ok"}


def test_a_reader_in_a_long_transaction_holds_up_no_swap(database: str, connection: Connection) -> None:
    log.append(connection, [noted("one")])
    fold_live(database)
    with connect(database, application="reader") as reader, reader.transaction():
        assert count(reader) == 1
        assert rebuild(database).replaced == 1
        assert count(reader) == 1


def test_live_folding_and_appending_continue_and_follow_the_swap(
    database: str, connection: Connection
) -> None:
    fill(connection, 1500, users=12, texts=200)
    fold_live(database)
    stop = threading.Event()
    runner = Runner(settings_of(database), CardsProjector(), stop.is_set)
    thread = threading.Thread(target=runner.run)
    appended = 0

    def write() -> None:
        nonlocal appended
        with connect(database, application="writer") as own:
            while not stop.is_set():
                log.append(own, [noted(f"note {appended}", f"writer-{appended % 7}")])
                log.announce(own)
                appended += 1

    writer = threading.Thread(target=write)
    thread.start()
    writer.start()
    try:
        outcomes = [rebuild(database, verify=True) for _ in range(2)]
    finally:
        stop.set()
        writer.join()
        thread.join()
    assert [outcome.equal for outcome in outcomes] == [True, True]
    fold_live(database)
    assert appended > 0
    assert count(connection, "cards.cards WHERE user_id LIKE 'writer-%'") == appended
    assert rebuild(database, verify=True).equal
    live = [standing for standing in list_generations(connection, "cards") if standing.status == "live"]
    assert [(standing.number, standing.behind) for standing in live] == [(4, 0)]


def test_a_swap_does_not_interrupt_a_batch_and_gives_up_on_one_that_never_ends(
    database: str, connection: Connection
) -> None:
    ensure_live(connection, CardsProjector())
    with connect(database, application="runner") as runner, runner.transaction():
        assert hold_live(runner, "cards") is not None
        with (
            pytest.raises(GenerationError, match="does not finish its batch"),
            with_fold_paused(connection, "cards", attempts=2, longest_s=0.1),
        ):
            pytest.fail("two cannot hold it")
    with with_fold_paused(connection, "cards", attempts=1):
        pass


def test_rollback_returns_to_the_old_generation_brought_up_to_date(connection: Connection) -> None:
    log.append(connection, [moved("Taipei", 1)])
    fold_live(connection)
    rebuild(connection)
    log.append(connection, [moved("Tainan", 3), noted("more")])
    fold_live(connection)
    newest = digest_of(connection, CardsProjector(), "cards")
    live, retired = swap.rollback(connection, CardsProjector())
    assert (live.number, retired.number) == (1, 2)
    assert digest_of(connection, CardsProjector(), "cards") == newest
    live, retired = swap.rollback(connection, CardsProjector())
    assert (live.number, retired.number) == (2, 1)
    assert statuses(connection) == {1: "retired", 2: "live"}


def test_rollback_without_an_earlier_generation_says_so(connection: Connection) -> None:
    ensure_live(connection, CardsProjector())
    with pytest.raises(GenerationError, match="no earlier generation"):
        swap.rollback(connection, CardsProjector())


def test_the_second_of_two_rebuilds_is_refused(connection: Connection) -> None:
    log.append(connection, [noted("one")])
    fold_live(connection)
    with changing(connection, "cards"), pytest.raises(GenerationError, match="another rebuild"):
        rebuild(connection)
    assert rebuild(connection).replaced == 1


@pytest.fixture
def old(database: str, connection: Connection) -> Iterator[str]:
    """The URL of a projector's role, on a database whose cards an earlier version folded."""
    log.append(connection, [noted("one")])
    fold_live(database)
    connection.execute("ALTER TABLE cards.remarks ADD COLUMN of_old integer NOT NULL")
    with roles_for(database, ("projector",)) as [url]:
        yield url


def test_nothing_is_folded_into_tables_of_another_version_until_their_rebuild(
    old: str, database: str, connection: Connection, redis_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    remedy = (
        "generation 1 of cards is of another version of Cardlog (other columns in remarks); "
        "run: cardlog rebuild cards"
    )
    log.append(connection, [noted("two")])
    stop = threading.Event()
    with working(Runner(settings_of(old), CardsProjector(), stop.is_set).run, stop):
        eventually(lambda: read_health(connection).reader("cards").state == "stuck")
        found = read_health(connection).reader("cards")
        assert (found.well, found.detail, found.behind) == (False, f"needs an operator: {remedy}", 1)
        with TestClient(create_app(settings_of(database))) as client:
            answer = client.get("/readyz")
        assert (answer.status_code, answer.json()["stage"]) == (503, "cards")
        assert remedy in answer.json()["detail"]
        assert doctor(settings=settings_of(database, redis_url=redis_url), data=None) == 1
        assert f"FAIL  tables: {remedy}" in capsys.readouterr().out
        rebuild(database)
        eventually(lambda: read_health(connection).reader("cards").state == "running")
    assert count(connection) == 2
    doctor(settings=settings_of(database, redis_url=redis_url), data=None)
    assert "ok    tables: the live generations of 5 projections fit this version" in capsys.readouterr().out
    with roles_for(database, ("reader",)) as [reader]:
        doctor(settings=settings_of(reader, redis_url=redis_url), data=None)
    assert "ok    tables: only the role of a projector may compare" in capsys.readouterr().out


def test_reads_of_tables_of_another_version_name_the_remedy_until_the_rebuild(
    old: str, connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    [(card,)] = connection.execute("SELECT card_id FROM cards.cards").fetchall()
    connection.execute("ALTER TABLE cards.cards RENAME COLUMN context_layer TO of_old")
    question = {"user_id": "alex", "query": "one"}
    with TestClient(create_app(settings_of(connection, auth="off"))) as client:

        def answers() -> list[Response]:
            reads = ("cards", f"cards/{card}", f"cards/{card}/neighbourhood")
            return [
                *(client.post(f"/v1/{each}", json=question) for each in ("recall", "context")),
                *(client.get(f"/v1/{each}", params={"user_id": "alex"}) for each in reads),
            ]

        for answer in answers():
            assert answer.status_code == 503, answer.text
            assert "rebuild that cardlog doctor names" in answer.json()["detail"]
        logged = [line for line in caplog.text.splitlines() if line.startswith("LINE 1: ")]
        assert len(logged) >= 5, "the log shows each statement that does not fit"
        rebuild(connection)
        assert [answer.status_code for answer in answers()] == [200] * 5


def test_a_generation_of_another_version_does_not_become_live_again(old: str, connection: Connection) -> None:
    rebuild(connection)
    with pytest.raises(GenerationError, match=r"generation 1 of cards is of another version .*remarks"):
        swap.rollback(connection, CardsProjector())
    assert statuses(connection) == {1: "retired", 2: "live"}
