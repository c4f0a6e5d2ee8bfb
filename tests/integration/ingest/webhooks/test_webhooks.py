"""Webhooks: signed, tried again, dead after the last try, never to a private address, and gone with their user."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import Any

import orjson
import pytest
from standardwebhooks import Webhook
from starlette.testclient import TestClient

from events.platform.database import Connection
from events.store import log
from events.types.tenancy import storage_id
from events.types.turns import TurnRecorded
from events.types.webhooks import STREAM, WebhookAdded
from ingest.api.write_api import create_app
from ingest.erasure import subjects
from ingest.erasure.erasure import Eraser, Terms
from ingest.webhooks import targets
from ingest.webhooks.targets import TargetError, checked_url, is_public, new_secret, post
from ingest.webhooks.worker import Webhooks
from tests.support.projectors.folding import NOW, count, event, moved, noted, settings_of
from tests.support.tables import examples
from tests.support.waiting import PATIENT, eventually
from tests.support.web import loopback, send

Got = list[tuple[dict[str, str], bytes]]
SAID = TurnRecorded(
    turn_id="t7", text="I live in Porto", role="user", said_at=NOW, timezone="UTC", session_id="s",
    project_id="default",
)  # fmt: skip


@contextmanager
def target(*statuses: int, answering: threading.Event | None = None) -> Iterator[tuple[str, Got]]:
    """Runs a target that answers with ``statuses``, and then with 204. Yields its address, and what it got."""
    got: Got = []
    left = list(statuses)

    def respond(request: BaseHTTPRequestHandler, body: bytes) -> None:
        got.append(({name.lower(): value for name, value in request.headers.items()}, body))
        if answering is not None:
            answering.wait(250)
        send(request, left.pop(0) if left else 204, b"", location=f"{url}/moved")

    with loopback(respond) as url:
        yield f"{url}/hook?of=ada", got


class Hooked:
    """A user with a write service, and a worker that looks when it is told to."""

    def __init__(self, database: str, redis_url: str, connection: Connection, **more: Any) -> None:
        self.settings = settings_of(database, redis_url=redis_url, webhook_private=True, **PATIENT, **more)
        self.connection = connection
        self.http = TestClient(create_app(self.settings, with_chores=False))
        self.worker = self.new_worker()

    def new_worker(self) -> Webhooks:
        worker = Webhooks(self.settings, lambda: False)
        worker.prepare(self.connection)
        return worker

    def add(self, url: str, types: list[str] | None = None, status: int = 201) -> Any:
        body = {"user_id": "ada", "url": url, "types": types or ["EventNoted"]}
        answer = self.http.post("/v1/webhooks", json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    def hook(self, owner: str, url: str) -> None:
        payload = WebhookAdded(url=url, secret=new_secret(), types=("EventNoted",))
        log.append(self.connection, [event(payload, owner, stream=STREAM)])

    def shown(self) -> list[Any]:
        found: list[Any] = self.http.get("/v1/webhooks", params={"user_id": "ada"}).json()["webhooks"]
        return found

    def note(self, words: str = "Ada hid the key under the fern") -> str:
        made = noted(words, "ada")
        log.append(self.connection, [made])
        return str(made.event_id)

    def work(self) -> None:
        """Works until nothing is due and nothing is on its way."""
        while self.worker.handle(self.connection).more:
            pass

    def hurry(self) -> None:
        self.connection.execute("UPDATE log.deliveries SET due_at = now()")


@pytest.fixture
def hooked(
    database: str, redis_url: str, connection: Connection, sealed: None
) -> Iterator[Callable[..., Hooked]]:
    made: list[Hooked] = []

    def make(**more: Any) -> Hooked:
        made.append(Hooked(database, redis_url, connection, **more))
        made[-1].http.__enter__()
        return made[-1]

    yield make
    for each in made:
        each.http.__exit__(None, None, None)


def test_a_message_is_verified_by_the_library_and_holds_no_words(hooked: Callable[..., Hooked]) -> None:
    ada = hooked()
    ada.note("before the webhook")
    with target() as (url, got):
        added = ada.add(url)
        told = ada.note()
        ada.work()
        [(headers, body)] = got
    assert Webhook(added["secret"]).verify(body, headers) == orjson.loads(body)
    assert headers["webhook-id"] == told
    assert b"fern" not in body
    assert orjson.loads(body)["type"] == "EventNoted"
    assert {"user_id": "ada", "event_id": told}.items() <= orjson.loads(body)["data"].items()
    [shown] = ada.shown()
    assert "secret" not in shown
    assert (shown["pending"], shown["dead"], shown["last_error"]) == (0, 0, None)
    stored = ada.connection.execute(
        "SELECT data::text FROM log.events WHERE type = 'WebhookAdded'"
    ).fetchone()
    assert stored is not None
    assert added["secret"] not in stored[0]


def test_a_message_names_the_turns_and_the_card_of_its_event(hooked: Callable[..., Hooked]) -> None:
    ada = hooked()
    made = [event(SAID, "ada"), noted("Ada moved", "ada"), replace(moved("Porto", 3), user_id="ada")]
    with target() as (url, got):
        ada.add(url, ["TurnRecorded", "EventNoted", "StateAsserted"])
        log.append(ada.connection, made)
        ada.work()
    told = {each["data"]["event_id"]: each["data"]["ids"] for each in (orjson.loads(body) for _, body in got)}
    turn, *cards = map(str, (each.event_id for each in made))
    assert told == {turn: {"turn_id": "t7"}} | {card: {"turn_ids": ["t"], "card_id": card} for card in cards}


def test_a_due_message_is_sent_in_the_place_of_erased_ones(hooked: Callable[..., Hooked]) -> None:
    ada = hooked()
    log.append(ada.connection, [event(replace(SAID, turn_id="t"), "ada")])
    with target(503, 503) as (url, got):
        ada.add(url, ["EventNoted", "TurnRecorded"])
        ada.note()
        ada.note()
        ada.work()
        subjects.erase_turn(Eraser(ada.settings, ()), ada.connection, "ada", "t", Terms(by="test"))
        ada.hurry()
        log.append(ada.connection, [event(SAID, "ada")])
        ada.work()
    assert [orjson.loads(body)["type"] for _, body in got] == ["EventNoted"] * 2 + ["TurnRecorded"]


def test_a_failed_message_is_tried_again_and_is_dead_after_the_last_try(
    hooked: Callable[..., Hooked],
) -> None:
    ada = hooked(webhook_attempts=2)
    with target(500) as (good, got), target(*[503] * 9) as (bad, refused):
        ada.add(good)
        ada.add(bad)
        ada.note()
        ada.work()
        assert [each["pending"] for each in ada.shown()] == [1, 1]
        assert (len(got), len(refused)) == (1, 1)
        ada.work()
        assert (len(got), len(refused)) == (1, 1)  # the next try is not due
        ada.hurry()
        ada.work()
        ada.hurry()
        ada.work()
    assert [headers["webhook-id"] for headers, _ in got] == [got[0][0]["webhook-id"]] * 2
    assert len(refused) == 2
    first, second = ada.shown()
    assert (first["pending"], first["dead"]) == (0, 0)
    assert (second["pending"], second["dead"]) == (0, 1)
    assert "503" in second["last_error"]


def test_a_message_of_a_worker_that_died_is_sent_again_with_its_id(hooked: Callable[..., Hooked]) -> None:
    ada = hooked()
    answering = threading.Event()
    with target(answering=answering) as (url, got):
        ada.add(url)
        told = ada.note()
        ada.worker.handle(ada.connection)
        ada.worker.release()  # it dies before it notes the end
        answering.set()
        ada.worker = ada.new_worker()
        ada.hurry()
        ada.work()
    assert {headers["webhook-id"] for headers, _ in got} == {told}
    assert count(ada.connection, "log.deliveries") == 0


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a target that does not answer keep its place for longer than a test lasts."""
    monkeypatch.setattr(targets, "EXCHANGE_S", 600.0)


def test_slow_targets_of_one_user_hold_up_nobody_else(hooked: Callable[..., Hooked], endless: None) -> None:
    ada, answering = hooked(), threading.Event()
    with target(answering=answering) as (slow, _), target() as (quick, got):
        try:
            for _ in range(20):
                ada.add(slow)
            bob = {"user_id": "bob", "url": quick, "types": ["EventNoted"]}
            assert ada.http.post("/v1/webhooks", json=bob).status_code == 201
            for _ in range(5):
                ada.note()
            while not ada.worker.handle(ada.connection).more:  # until messages are on their way
                pass
            log.append(ada.connection, [noted("Bob has the key", "bob")])
            eventually(lambda: bool(ada.worker.handle(ada.connection)) and got)
        finally:
            answering.set()
        ada.work()


def test_slow_targets_of_one_tenant_hold_up_no_other_tenant(
    hooked: Callable[..., Hooked], endless: None
) -> None:
    ada, answering = hooked(), threading.Event()
    with target(answering=answering) as (slow, hung), target() as (quick, got):
        try:
            users = [storage_id("acme", f"user{n}") for n in range(6)]
            for user in users * 4:
                ada.hook(user, slow)
            ada.hook(storage_id("umbrella", "bob"), quick)
            log.append(ada.connection, [noted("The key is here", user) for user in users * 3])
            ada.worker.handle(ada.connection)
            eventually(lambda: bool(ada.worker.handle(ada.connection)) and len(hung) == 16)
            log.append(ada.connection, [noted("Bob has the key", storage_id("umbrella", "bob"))])
            eventually(lambda: bool(ada.worker.handle(ada.connection)) and got)
        finally:
            answering.set()
        ada.work()


def test_an_older_backlog_of_one_tenant_delays_no_other_tenant(hooked: Callable[..., Hooked]) -> None:
    ada = hooked()
    with target(*[503] * 100) as (failing, tried), target() as (quick, got):
        users = [storage_id("acme", f"user{n}") for n in range(20)]
        for user in users:
            ada.hook(user, failing)
        log.append(ada.connection, [noted("The key is here", user) for user in users * 2])
        ada.work()
        ada.connection.execute("UPDATE log.deliveries SET due_at = now() - interval '1 hour'")
        others = [storage_id(f"tenant{n}", "bob") for n in range(20)]
        for user in others:
            ada.hook(user, quick)
        log.append(ada.connection, [noted("Bob has the key", user) for user in others])
        ada.worker.handle(ada.connection)
        ada.worker.drain(ada.connection)
        assert (len(tried), len(got)) == (40 + 12, 20)


def test_a_removed_webhook_and_an_erased_user_get_nothing(hooked: Callable[..., Hooked]) -> None:
    ada = hooked()
    with target() as (url, got):
        removed = ada.add(url)["webhook_id"]
        ada.add(url)
        ada.note()
        where = f"/v1/webhooks/{removed}"
        assert ada.http.delete(where, params={"user_id": "ada"}).status_code == 200
        assert ada.http.delete(where, params={"user_id": "ada"}).status_code == 404
        assert len(ada.shown()) == 1
        subjects.erase_user(Eraser(ada.settings, ()), ada.connection, "ada", Terms(by="test"))
        ada.work()
        assert ada.shown() == []
    assert got == []
    assert count(ada.connection, "log.deliveries") == 0


def test_an_unknown_type_is_refused(hooked: Callable[..., Hooked]) -> None:
    ada = hooked()
    assert "types" in ada.add("https://example.com", ["NoSuch"], 422)["detail"]


@examples
def test_no_target_is_private(url: str) -> None:
    with pytest.raises(TargetError):
        checked_url(url, private=False)


def test_the_refusal_of_http_names_who_needs_the_setting() -> None:
    told = "CARDLOG_WEBHOOK_PRIVATE=on in the write service and the webhooks worker"
    with pytest.raises(TargetError, match=told):
        checked_url("http://example.com/", private=False)


def test_a_name_that_leads_inwards_is_refused_and_a_redirect_is_not_followed() -> None:
    assert is_public("93.184.216.34")
    for name in ("localhost", "2130706433", "127.1"):
        with pytest.raises(TargetError, match="private address"):
            post(f"https://{name}/", [], b"{}", private=False)
    with target(302, 307) as (url, got):
        for _ in range(2):
            with pytest.raises(TargetError, match="redirects"):
                post(url, [], b"{}", private=True)
    assert len(got) == 2
