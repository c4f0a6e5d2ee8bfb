"""What an operator asks for over HTTP is done once by a worker, whatever happens between."""

import multiprocessing
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

import pytest
from starlette.testclient import TestClient

from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.platform.streams import connect_redis
from events.store import log
from events.types.envelope import Event
from projectors import parking
from projectors.cards.projector import CardsProjector
from projectors.rebuild import swap
from projectors.rebuild.operation_worker import OperationWorker
from tests.support.projectors.folding import count, fold_live, noted, rebuild, settings_of, statuses
from tests.support.projectors.parking import append_raw
from tests.support.tables import examples_and
from tests.support.waiting import eventually

HELD = 7_411


class Refusing(CardsProjector):
    """The cards, by a build that cannot fold one text."""

    def project(self, connection: Connection, events: Sequence[Event]) -> None:
        if any(getattr(each.payload, "content", None) == "poison" for each in events):
            raise ValueError("cannot stomach it")
        super().project(connection, events)


class Waiting(CardsProjector):
    """The cards, by a process that stops in the middle of a rebuild until a lock is free."""

    def load(self, connection: Connection, events: Iterable[Event]) -> None:
        super().load(connection, events)
        connection.execute("SELECT pg_advisory_lock(%s)", (HELD,))


class Operator:
    """An operator before both services, and the workers of the cards, which work when they are told to."""

    def __init__(
        self, settings: Settings, connection: Connection, write: TestClient, read: TestClient
    ) -> None:
        self.settings, self.connection, self.write, self.read = settings, connection, write, read

    def ask(self, action: str, status: int = 202, headers: dict[str, str] | None = None, **body: Any) -> Any:
        answer = self.write.post(
            "/v1/operations", json={"action": action, "projection": "cards", **body}, headers=headers
        )
        assert answer.status_code == status, answer.text
        return answer.json()

    def work(self) -> None:
        for kind in ("generations", "parked users"):
            OperationWorker(self.settings, [CardsProjector()], kind, lambda: False).step(self.connection)

    def last(self) -> Any:
        return self.read.get("/v1/operations").json()["operations"][0]

    def parked(self) -> list[Any]:
        found: list[Any] = self.read.get("/v1/parked").json()["parked"]
        return found


@pytest.fixture
def operator(connection: Connection, write: TestClient, read: TestClient) -> Operator:
    log.append(connection, [noted("first"), noted("second"), noted("third", "bo")])
    fold_live(connection)
    return Operator(settings_of(connection), connection, write, read)


def test_a_rebuild_is_asked_for_once_and_its_end_is_told(operator: Operator) -> None:
    first = operator.ask("rebuild", verify=True)
    assert (first["stage"], first["failed"], first["generation"]) == (None, None, 1)
    assert operator.ask("rebuild", verify=True)["operation_id"] == first["operation_id"]
    operator.ask("rebuild", 409)
    operator.work()
    done = operator.last()
    assert (done["failed"], done["share"], done["operation_id"]) == (False, 1, first["operation_id"])
    assert "generation 2 is live" in done["outcome"]
    assert statuses(operator.connection) == {1: "retired", 2: "live"}
    operator.work()
    assert statuses(operator.connection) == {1: "retired", 2: "live"}


def test_a_request_that_is_repeated_with_its_key_after_the_end_begins_nothing(operator: Operator) -> None:
    key = {"Idempotency-Key": "one rebuild"}
    first = operator.ask("rebuild", headers=key)
    operator.work()
    again = operator.ask("rebuild", headers=key)
    assert (again["operation_id"], again["failed"]) == (first["operation_id"], False)
    operator.work()
    assert statuses(operator.connection) == {1: "retired", 2: "live"}


def test_a_swap_whose_worker_died_before_it_could_say_so_is_not_undone(operator: Operator) -> None:
    rebuild(operator.settings.database_url)
    operator.ask("swap", generation=1)
    swap.rollback(operator.connection, CardsProjector(), 1)  # the worker dies here
    operator.work()
    assert operator.last()["outcome"] == "generation 1 is live"
    assert statuses(operator.connection) == {1: "live", 2: "retired"}


def test_a_rebuild_whose_worker_died_after_the_swap_is_not_repeated(operator: Operator) -> None:
    operator.ask("rebuild")
    rebuild(operator.settings.database_url)
    operator.work()
    assert operator.last()["outcome"] == "generation 2 is live"
    assert statuses(operator.connection) == {1: "retired", 2: "live"}


def test_only_a_retired_generation_is_swapped_in_or_dropped(operator: Operator) -> None:
    for action, number in (("swap", 1), ("swap", 9), ("drop_generation", 1)):
        assert operator.ask(action, 422, generation=number)["field"] == "generation"
    rebuild(operator.settings.database_url)
    operator.ask("drop_generation", generation=1)
    operator.work()
    assert statuses(operator.connection) == {2: "live"}
    for left in (
        "information_schema.schemata WHERE schema_name = 'cards_g1'",
        "log.checkpoints WHERE processor = 'cards' AND generation = 1",
    ):
        assert count(operator.connection, left) == 0


def test_a_parked_user_is_folded_by_a_retry(operator: Operator) -> None:
    log.append(operator.connection, [noted("poison", "eve"), noted("after it", "eve")])
    fold_live(operator.settings.database_url, Refusing())
    [waiting] = operator.parked()
    assert (waiting["user_id"], waiting["behind"], waiting["projection"]) == ("eve", 1, "cards")
    assert "cannot stomach it" in waiting["reason"]
    operator.ask("retry_parked", user_id="eve")
    operator.work()
    assert operator.parked() == []
    assert operator.last()["outcome"] == "2 events folded, 0 dropped"
    assert count(operator.connection, "cards.cards WHERE user_id = 'eve'") == 2


def test_a_retry_that_fails_again_says_why(operator: Operator) -> None:
    append_raw(operator.connection, "eve", kind="NeverHeardOf")
    fold_live(operator.settings.database_url)
    operator.ask("retry_parked", user_id="eve")
    operator.work()
    assert operator.last()["failed"] is True
    assert "NeverHeardOf" in operator.last()["outcome"]
    assert operator.parked()[0]["attempts"] == 2
    operator.ask("retry_parked", 404, user_id="bo")


def test_a_drop_takes_the_event_that_was_named_and_no_other(operator: Operator) -> None:
    for kind in ("NeverHeardOf", "NorOfThis"):
        append_raw(operator.connection, "eve", kind=kind)
    fold_live(operator.settings.database_url)
    [first] = operator.parked()
    named = {"user_id": "eve", "event_id": first["event_id"], "because": "another build wrote it"}
    operator.ask("drop_parked", **named)
    parking.drop(operator.connection, CardsProjector(), "eve", "the worker dies here")
    operator.work()
    [second] = operator.parked()
    assert (second["type"], second["behind"]) == ("NorOfThis", 0)
    assert operator.ask("drop_parked", 404, **named)["field"] == "event_id"


def test_an_operation_belongs_to_the_words_of_its_user_and_is_erased_with_them(operator: Operator) -> None:
    append_raw(operator.connection, "eve", kind="NeverHeardOf")
    fold_live(operator.settings.database_url)
    operator.ask("retry_parked", user_id="eve")
    from projectors.forgetting import ForgettingProjection

    ForgettingProjection(CardsProjector()).forget(operator.connection, "eve", None)
    assert count(operator.connection, "log.operations") == 0


def test_an_operation_that_ends_its_worker_again_and_again_has_failed(operator: Operator) -> None:
    operator.ask("rebuild")
    operator.connection.execute("UPDATE log.operations SET attempts = 3")
    operator.work()
    assert operator.last()["failed"] is True
    assert statuses(operator.connection) == {1: "live"}


def _work(url: str) -> None:
    with connect(url, application="to be killed") as connection:
        OperationWorker(settings_of(url), [Waiting()], "generations", lambda: False).step(connection)


def test_another_worker_does_the_rebuild_of_a_killed_one(operator: Operator) -> None:
    operator.ask("rebuild")
    operator.connection.execute("SELECT pg_advisory_lock(%s)", (HELD,))
    worker = multiprocessing.get_context("spawn").Process(
        target=_work, args=(operator.settings.database_url,)
    )
    worker.start()
    eventually(
        lambda: count(operator.connection, "pg_locks WHERE locktype = 'advisory' AND NOT granted"), within=120
    )
    assert statuses(operator.connection) == {1: "live", 2: "building"}
    worker.kill()
    worker.join()
    operator.connection.execute("SELECT pg_advisory_unlock(%s)", (HELD,))

    def done() -> bool:
        operator.work()
        return operator.last()["failed"] is False

    eventually(done)
    assert "live" in operator.last()["outcome"]
    assert sorted(statuses(operator.connection).values()) == ["live", "retired"]


@examples_and(("because", {"action": "drop_parked", "user_id": "ada", "event_id": str(UUID(int=1))}))
def test_a_request_that_does_not_fit_names_its_field(
    operator: Operator, field: str, body: dict[str, Any]
) -> None:
    assert operator.ask(status=422, **body)["field"] == field
    assert operator.read.get("/v1/operations").json() == {"operations": []}


def test_dead_letters_are_corrected_and_pushed_or_dropped(operator: Operator, redis_url: str) -> None:
    client = connect_redis(redis_url, socket_timeout=5, socket_connect_timeout=5)
    dead = f"{operator.settings.turns_stream}:dead"
    client.delete(dead, operator.settings.turns_stream)
    for text in ("I live in Porto.", "\N{RIGHT-TO-LEFT OVERRIDE}" + "x" * 9_000):
        fields = {"user_id": "ada", "text": text, "timezone": "Nowhere"}
        letter: dict[Any, Any] = {f"field:{name}": value for name, value in fields.items()}
        client.xadd(dead, letter | {"field": "timezone", "reason": "no such zone"})
    found = operator.write.get("/v1/dead-letters").json()
    first, second = found["letters"]
    assert (first["reason"], first["fields"]["timezone"], found["more"]) == ("no such zone", "Nowhere", False)
    assert len(second["fields"]["text"]) == 2_000
    url = f"/v1/dead-letters/{first['letter_id']}"
    refused = operator.write.post(f"{url}/retry", json={})
    assert (refused.status_code, refused.json()["field"]) == (422, "changes")
    assert "timezone" in refused.json()["detail"]
    pushed = operator.write.post(f"{url}/retry", json={"changes": {"timezone": "UTC"}})
    assert pushed.json()["entry_id"]
    assert client.xlen(operator.settings.turns_stream) == 1
    assert operator.write.post(f"{url}/retry", json={"changes": {"timezone": "UTC"}}).status_code == 404
    other = f"/v1/dead-letters/{second['letter_id']}"
    assert operator.write.post(f"{other}/drop", json={"because": "a test"}).status_code == 200
    assert operator.write.get("/v1/dead-letters").json()["letters"] == []
