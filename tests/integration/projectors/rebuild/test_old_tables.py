"""Live tables of another version of Cardlog are named with the remedy, and no such generation becomes live."""

import threading
from collections.abc import Iterator

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from deploy.commands.operate.doctor import doctor
from events.health.health_status import read_health
from events.platform.database import Connection
from events.store import log
from projectors.cards.projector import CardsProjector
from projectors.generations.generations import GenerationError
from projectors.rebuild import swap
from projectors.runner import Runner
from retrieval.http.read_api import create_app
from tests.support.projectors.folding import count, fold_live, noted, rebuild, settings_of, statuses
from tests.support.roles import roles_for
from tests.support.waiting import eventually, working


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
    old: str, database: str, connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    [(card,)] = connection.execute("SELECT card_id FROM cards.cards").fetchall()
    connection.execute("ALTER TABLE cards.cards RENAME COLUMN context_layer TO of_old")
    question = {"user_id": "alex", "query": "one"}
    with TestClient(create_app(settings_of(database, auth="off"))) as client:

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
        rebuild(database)
        assert [answer.status_code for answer in answers()] == [200] * 5


def test_a_generation_of_another_version_does_not_become_live_again(
    old: str, database: str, connection: Connection
) -> None:
    rebuild(database)
    with pytest.raises(GenerationError, match=r"generation 1 of cards is of another version .*remarks"):
        swap.rollback(connection, CardsProjector())
    assert statuses(connection) == {1: "retired", 2: "live"}
