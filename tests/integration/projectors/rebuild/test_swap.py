"""Readers and writers continue while generations are swapped, rolled back and dropped."""

import threading
from typing import Any

import pytest
from starlette.testclient import TestClient

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
from tests.support.waiting import PATIENT, eventually


def test_the_read_service_answers_from_every_channel_while_generations_are_swapped(
    database: str, connection: Connection
) -> None:
    settings = settings_of(database, **PATIENT)
    log.append(
        connection, [apart(noted(f"We walked to the night market, part {n}").payload) for n in range(30)]
    )
    vectors = VectorsProjector(Embedders(HashEmbedder))
    fold_live(database)
    fold_live(database, vectors)
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
        rebuild(database)
        rebuild(database, vectors)
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


def test_rollback_returns_to_the_old_generation_brought_up_to_date(
    database: str, connection: Connection
) -> None:
    log.append(connection, [moved("Taipei", 1)])
    fold_live(database)
    rebuild(database)
    log.append(connection, [moved("Tainan", 3), noted("more")])
    fold_live(database)
    newest = digest_of(connection, CardsProjector(), "cards")
    live, retired = swap.rollback(connection, CardsProjector())
    assert (live.number, retired.number) == (1, 2)
    assert digest_of(connection, CardsProjector(), "cards") == newest
    live, retired = swap.rollback(connection, CardsProjector())
    assert (live.number, retired.number) == (2, 1)
    assert statuses(connection) == {1: "retired", 2: "live"}


def test_rollback_without_an_earlier_generation_says_so(database: str, connection: Connection) -> None:
    ensure_live(connection, CardsProjector())
    with pytest.raises(GenerationError, match="no earlier generation"):
        swap.rollback(connection, CardsProjector())


def test_the_second_of_two_rebuilds_is_refused(database: str, connection: Connection) -> None:
    log.append(connection, [noted("one")])
    fold_live(database)
    with changing(connection, "cards"), pytest.raises(GenerationError, match="another rebuild"):
        rebuild(database)
    assert rebuild(database).replaced == 1
