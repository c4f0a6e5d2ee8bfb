"""The Python client as an app uses it: with a whole stack, and with a failing service."""

import asyncio
import dataclasses
import json
import re
import socket
from collections.abc import Iterator
from datetime import datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from cardlog_client import AsyncClient, CardlogError, Client, RefusedError, UnavailableError
from tests.support.stack import Running
from tests.support.web import loopback, send

GUIDE = Path(__file__).parents[2] / "docs" / "client.md"


@pytest.fixture
def client(stack: Running) -> Iterator[Client]:
    with Client(stack.write_url, stack.read_url, api_key=stack.key) as opened:
        yield opened


def test_the_example_of_the_guide_works(stack: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARDLOG_KEY_FILE", stack.key_file)
    [example] = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    for address, real in (
        ("http://127.0.0.1:8700", stack.write_url),
        ("http://127.0.0.1:8701", stack.read_url),
    ):
        assert address in example
        example = example.replace(address, real)
    for _ in range(2):  # somebody who reads the guide runs the example again
        exec(compile(example, str(GUIDE), "exec"), {})


def test_a_client_without_a_key_names_where_it_looks_for_one(
    stack: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CARDLOG_API_KEY", "CARDLOG_KEY_FILE"):
        monkeypatch.delenv(name, raising=False)
    with Client(stack.write_url, stack.read_url) as keyless, pytest.raises(RefusedError) as refused:
        keyless.recall("cleo", "where do I live?")
    assert refused.value.status == 401
    assert {"CARDLOG_API_KEY", "CARDLOG_KEY_FILE"} <= set(str(refused.value).split())


def test_a_client_takes_its_addresses_from_the_environment_and_names_what_is_wrong_there(
    stack: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CARDLOG_WRITE_URL", stack.write_url)
    monkeypatch.setenv("CARDLOG_READ_URL", f"{stack.read_url}/")
    monkeypatch.setenv("CARDLOG_KEY_FILE", stack.key_file)
    with Client() as found:
        assert found.recall("nobody", "where do I live?")["cards"] == []
    monkeypatch.setenv("CARDLOG_READ_URL", "localhost:8701")
    with pytest.raises(RefusedError, match=r"'localhost:8701'.*http://.*CARDLOG_READ_URL"):
        Client()
    monkeypatch.delenv("CARDLOG_READ_URL")
    monkeypatch.setenv("CARDLOG_KEY_FILE", str(tmp_path / "nothing"))
    with pytest.raises(RefusedError, match=r"CARDLOG_KEY_FILE names .*nothing"):
        Client()


@pytest.mark.parametrize("turns", ["hello", ["hello"], 5])
def test_what_is_no_turn_is_refused_with_an_example_of_one(turns: Any) -> None:
    with Client() as client, pytest.raises(RefusedError, match=r"^turns: .*\"user_id\": "):
        client.push(turns)


def test_a_client_takes_days_and_an_aware_datetime_for_every_time(client: Client) -> None:
    said = datetime(2024, 5, 3, 10, tzinfo=ZoneInfo("Europe/Rome"))
    day: dict[str, Any] = {"heard": said.date()}
    pushed = client.push({"user_id": "ines", "text": "I live in Rome.", "said_at": said, "metadata": day})
    [card, *_] = client.recall("ines", "where do I live?", metadata=day, wait_for=pushed["token"])["cards"]
    assert datetime.fromisoformat(card["effective_at"] or "") == said
    for shown in (client.recall("ines", "where do I live?", as_of=said), client.cards("ines", as_of=said)):
        assert "Rome" in {each["value"] for each in shown["cards"]}
    naive = said.replace(tzinfo=None)
    for field, ask in (
        ("said_at", lambda: client.push({"user_id": "ines", "text": "x", "said_at": naive})),
        ("as_of", lambda: client.recall("ines", "where do I live?", as_of=naive)),
        ("as_of", lambda: client.cards("ines", as_of=naive)),
    ):
        with pytest.raises(RefusedError, match=f"^{field}: .*no offset") as refused:
            ask()
        assert refused.value.field == field


def test_a_client_follows_a_turn_until_its_cards_have_vectors(stack: Running, client: Client) -> None:
    turn_id = "é 1"
    client.push({"user_id": "fay", "text": "I live in Porto.", "turn_id": turn_id})
    events = list(client.turn_events("fay", turn_id, within_s=100))
    assert [event["stage"] for event in events] == ["recorded", "extracted", "projected", "embedded"]
    assert {event["turn_id"] for event in events} == {turn_id}
    cards = {card["card_id"] for card in client.cards("fay", turn_id=turn_id)["cards"]}
    assert set(events[2]["cards"]) == cards
    assert cards

    async def followed() -> list[object]:
        async with AsyncClient(stack.write_url, stack.read_url, api_key="").with_key(stack.key) as opened:
            return [event async for event in opened.turn_events("fay", turn_id)]

    assert asyncio.run(followed()) == events
    with pytest.raises(RefusedError) as refused:
        next(client.turn_events("fay", turn_id, within_s=0))
    assert refused.value.field == "within_s"


def test_what_is_pushed_is_recalled_and_put_into_a_prompt(client: Client) -> None:
    pushed = client.push(
        [
            {"user_id": "cleo", "text": "I work at Acme.", "turn_id": "t1"},
            {"user_id": "cleo", "text": "My dog is called Rex.", "turn_id": "t2"},
        ]
    )
    assert pushed["turn_ids"] == ["t1", "t2"]
    answer = client.recall("cleo", "what is my dog's name?", wait_for=pushed["token"], k=3)
    assert (answer["cards"][0]["value"], answer["cards"][0]["turn_ids"]) == ("Rex", ["t2"])
    assert client.push({"user_id": "cleo", "text": "I work at Acme.", "turn_id": "t1"})["duplicates"] == [
        "t1"
    ]
    prompt = client.context("cleo", "where do I work?", token_budget=3000)
    assert prompt["tokens"] <= 3000
    assert "Acme" in prompt["text"]


def test_an_export_comes_line_by_line_and_has_an_end(stack: Running, client: Client) -> None:
    pushed = client.push({"user_id": "iris", "text": "I keep bees."})
    client.recall("iris", "bees?", wait_for=pushed["token"])
    lines = [json.loads(line) for line in client.export_user("iris")]
    assert lines[-1]["kind"] == "end"
    assert "I keep bees." in json.dumps(lines)

    async def read() -> list[str]:
        async with AsyncClient(stack.write_url, stack.read_url, api_key=stack.key) as awaited:
            with pytest.raises(RefusedError, match="no such user"):
                await anext(awaited.export_user("nobody"))
            return [line async for line in awaited.export_user("iris")]

    assert len(asyncio.run(read())) == len(lines)
    with pytest.raises(RefusedError, match="no such user"):
        next(client.export_user("nobody"))


def test_the_command_prints_the_prompt(stack: Running, client: Client) -> None:
    pushed = client.push({"user_id": "olga", "text": "I live in Riga."})
    client.recall("olga", "x", wait_for=pushed["token"])
    shown = stack.command("context", "--user", "olga", "where do I live?")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("<core ")
    assert "in Riga" in shown.stdout
    assert shown.stdout.rstrip().endswith("</current_time>")
    refused = stack.command("context", "--user", "olga", "where do I live?", "--budget", "5")
    assert refused.returncode == 2
    assert "--budget is 5" in refused.stderr
    document = json.loads(stack.command("context", "--user", "olga", "where do I live?", "--json").stdout)
    assert document["text"].startswith("<core ")


def test_the_awaited_client_does_the_same(stack: Running) -> None:
    async def talk() -> None:
        async with AsyncClient(stack.write_url, stack.read_url, api_key=stack.key) as client:
            pushed = await client.push({"user_id": "ada", "text": "I live in Oslo."})
            answer = await client.recall("ada", "where do I live?", wait_for=pushed["token"])
            assert answer["cards"][0]["value"] == "Oslo"
            assert "Oslo" in (await client.context("ada", "where do I live?"))["text"]
            [home] = (await client.cards("ada", concept_key="residence"))["cards"]
            assert home["value"] == "Oslo"
            with pytest.raises(RefusedError) as refused:
                await client.context("ada", "where do I live?", token_budget=1)
            assert refused.value.field == "token_budget"
            assert refused.value.problem["least"] > 1

    asyncio.run(talk())


def test_null_is_a_value_that_an_op_may_set(client: Client) -> None:
    client.create_reference("lena", "variable", "loom", data={"warp": "linen"})
    changed = client.change_reference("lena", "variable", "loom", "set", path="/weft", value=None)
    assert changed["data"] == {"warp": "linen", "weft": None}


def test_a_wrong_request_names_its_field(client: Client) -> None:
    with pytest.raises(RefusedError) as refused:
        client.recall("cleo", "x", k=0)
    assert (refused.value.status, refused.value.field) == (422, "k")
    with pytest.raises(RefusedError) as refused:
        client.push([{"user_id": "cleo", "text": "fine"}, {"user_id": "cleo", "text": ""}])
    assert (refused.value.field, refused.value.problem["index"]) == ("text", 1)
    with pytest.raises(RefusedError) as refused:
        client.cards("cleo", limit=0)
    assert (refused.value.status, refused.value.field) == (422, "limit")
    with pytest.raises(RefusedError, match="lone surrogate"):
        client.push({"user_id": "cleo", "text": "a\ud800b"})


@dataclasses.dataclass
class Troubled:
    """A service that gives the answers in ``says``, one after the other, and keeps the requests."""

    url: str = ""
    says: list[tuple[int, Any]] = dataclasses.field(default_factory=list)
    sent: list[Any] = dataclasses.field(default_factory=list)
    keys: list[str | None] = dataclasses.field(default_factory=list)

    def respond(self, request: BaseHTTPRequestHandler, sent: bytes) -> None:
        self.sent.append(json.loads(sent))
        self.keys.append(request.headers["idempotency-key"])
        status, body = self.says.pop(0) if self.says else (200, {})
        if status:
            kind = "application/json"
            send(request, status, json.dumps(body).encode(), content_type=kind, retry_after="0")
        else:
            request.connection.shutdown(socket.SHUT_RDWR)
            request.close_connection = True


@pytest.fixture
def troubled() -> Iterator[Troubled]:
    service = Troubled()
    with loopback(service.respond) as service.url:
        yield service


BUSY = {"title": "Queue unavailable", "status": 503, "detail": "Redis cannot take turns now"}


def test_a_push_is_sent_again_under_the_same_id_until_it_is_taken(troubled: Troubled) -> None:
    taken = {"turn_ids": ["x"], "duplicates": [], "token": "t"}
    troubled.says += [(503, BUSY), (0, None), (202, taken)]
    with Client(troubled.url, troubled.url) as client:
        assert client.push({"user_id": "u", "text": "once"}) == taken
    ids = [sent[0]["turn_id"] for sent in troubled.sent]
    assert len(ids) == 3
    assert len(set(ids)) == 1
    assert ids[0]


def test_a_command_is_sent_again_under_the_same_idempotency_key(troubled: Troubled) -> None:
    troubled.says += [(503, BUSY), (0, None), (200, {"version": 2}), (200, {"version": 3})]
    with Client(troubled.url, troubled.url) as client:
        client.change_reference("u", "todo_list", "x", "add", text="once")
        client.change_reference("u", "todo_list", "x", "add", text="again", idempotency_key="mine")
    *first, second = troubled.keys
    assert (len(first), len(set(first)), second) == (3, 1, "mine")
    assert first[0]
    assert troubled.sent[-1] == {"user_id": "u", "op": "add", "text": "again"}


def test_a_service_that_stays_away_is_an_error_with_its_reason(troubled: Troubled) -> None:
    troubled.says += [(503, BUSY)] * 10
    with (
        Client(troubled.url, troubled.url, retries=2) as client,
        pytest.raises(UnavailableError, match="Redis cannot take turns now") as away,
    ):
        client.recall("u", "x")
    assert (len(troubled.sent), away.value.status) == (3, 503)


def test_a_wrong_request_is_never_sent_again(troubled: Troubled) -> None:
    troubled.says += [(422, {"status": 422, "detail": "k: is 0", "field": "k"})]
    with Client(troubled.url, troubled.url) as client, pytest.raises(RefusedError, match="k: is 0"):
        client.recall("u", "x")
    assert len(troubled.sent) == 1


def test_where_nobody_listens_the_error_names_the_address() -> None:
    with (
        Client("http://127.0.0.1:1", "http://127.0.0.1:1", retries=0) as client,
        pytest.raises(CardlogError, match=r"http://127\.0\.0\.1:1/v1/recall does not answer") as away,
    ):
        client.recall("u", "x")
    assert (away.value.status, away.value.field) == (None, None)
