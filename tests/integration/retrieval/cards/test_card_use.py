"""Answers are counted by card and by day, outside the requests. The counts end with their cards."""

import asyncio
from datetime import UTC, datetime
from typing import Any

from starlette.testclient import TestClient

from events.platform.database import Connection, statement
from events.platform.settings import Settings
from events.store import log
from events.types.cards import EventNoted
from events.types.envelope import NewEvent
from events.types.tenancy import storage_id
from projectors.cards.projector import CardsProjector
from projectors.forgetting import ForgettingProjection
from retrieval.http.read_api import create_app
from retrieval.uses import Uses
from tests.support.projectors.folding import NOW, ORIGIN, apart, count, fold_live, settings_of
from tests.support.waiting import ALONE

ADD = statement("retrieval.cards", "add_use")
DOGS = "The dog sleeps in the kitchen"


def said(content: str, user: str = "alex") -> NewEvent:
    return apart(EventNoted(content=content, entity="user", tags=(), origin=ORIGIN, occurred_at=NOW), user)


def asked(settings: Settings, *questions: dict[str, Any]) -> None:
    """Asks a read service, and stops it, so that it writes its counts."""
    with TestClient(create_app(settings)) as read:
        for question in questions:
            answer = read.post("/v1/recall", json={"user_id": "alex", "query": "dog kitchen"} | question)
            assert answer.status_code == 200, answer.text


def told(settings: Settings, path: str, **query: Any) -> Any:
    with TestClient(create_app(settings)) as read:
        answer = read.get(f"/v1/cards{path}", params={"user_id": "alex"} | query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_card_counts_for_each_answer_that_held_it(connection: Connection) -> None:
    settings = settings_of(connection, **ALONE)
    log.append(connection, [said(DOGS), said("Lunch was soup")])
    fold_live(connection)
    asked(settings, {}, {}, {"explain": True}, {"user_id": "nobody"})
    found = told(settings, "/use")
    today = datetime.now(UTC).date().isoformat()
    assert [(each["card"]["content"], each["uses"], each["last_day"]) for each in found["cards"]] == [
        (DOGS, 2, today)
    ]
    assert found["days"] == [{"day": today, "cards": 2}]
    contents = {
        recalled: [each["content"] for each in told(settings, "", recalled=recalled)["cards"]]
        for recalled in ("true", "false")
    }
    assert contents == {"true": [DOGS], "false": ["Lunch was soup"]}
    connection.execute("UPDATE log.answer_use SET day = day - 93")
    asked(settings, {})
    assert told(settings, "/use", days=92)["days"] == [{"day": today, "cards": 1}]
    assert count(connection, "log.answer_use") == 1


def test_counts_are_erased_with_their_cards_and_a_late_count_brings_none_back(
    database: str, connection: Connection
) -> None:
    settings = settings_of(database, **ALONE)
    first, second = said(DOGS), said("The dog barks in the kitchen")
    log.append(connection, [first, second])
    fold_live(database)
    asked(settings, {})
    forgetting = ForgettingProjection(CardsProjector())
    forgetting.forget(connection, "alex", [first.event_id])
    assert [each["card"]["card_id"] for each in told(settings, "/use")["cards"]] == [str(second.event_id)]
    forgetting.forget(connection, "alex", None)
    late = Uses(database, ADD)
    late.count("alex", [str(second.event_id)])
    asyncio.run(late.flush())
    assert count(connection, "log.card_use") == count(connection, "log.answer_use") == 0


def test_counts_of_two_tenants_stay_apart(connection: Connection) -> None:
    settings = settings_of(connection, **ALONE)
    log.append(connection, [said(DOGS, user) for user in ("alex", storage_id("acme", "alex"))])
    fold_live(connection)
    asked(settings, {})
    rows = connection.execute("SELECT user_id, uses FROM log.card_use").fetchall()
    assert rows == [("alex", 1)]


def test_a_question_is_answered_while_its_card_cannot_be_counted(connection: Connection) -> None:
    settings = settings_of(connection, **ALONE)
    log.append(connection, [said(DOGS)])
    fold_live(connection)
    connection.execute("ALTER TABLE log.card_use RENAME TO away")
    asked(settings, {})
    away = Uses("postgresql://nobody@127.0.0.1:1/no", ADD)
    away.count("alex", ["of a lost server"])
    asyncio.run(away.flush())
