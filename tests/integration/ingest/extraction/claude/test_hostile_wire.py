"""A hostile server gets the time of one call, little memory, and no words of a user."""

import json
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

import httpx2
import pytest

from ingest.extraction.claude import prompt
from ingest.extraction.claude.extractor import ClaudeExtractor, create_client
from ingest.extraction.claude.model_client import ModelClient
from ingest.extraction.claude.transport import BoundedTransport, deadline
from ingest.extraction.extractor_port import (
    ExtractorUnavailableError,
    RecordedTurn,
    SessionBatch,
    TurnsUnreadableError,
)
from tests.support.events.turns import recorded
from tests.support.ingest import hostile_answers
from tests.support.ingest.chat_completions import SERVERS
from tests.support.ingest.messages_api import MessagesApi, Trouble, calls

NOTHING: dict[str, list[object]] = {"states": [], "events": [], "knowledge": []}


@pytest.fixture(params=SERVERS)
def api(request: pytest.FixtureRequest) -> Iterator[MessagesApi]:
    with request.param() as server:
        yield server


@pytest.fixture
def client(api: MessagesApi) -> Iterator[ModelClient]:
    asking = create_client(replace(api.settings, extract_timeout_s=1))
    yield asking
    asking.close()


def refusal(client: ModelClient) -> ExtractorUnavailableError:
    with pytest.raises(ExtractorUnavailableError) as raised:
        client.ask(prompt.asking(), "hello", 100)
    return raised.value


@pytest.mark.parametrize("name", ["drips", "drips_its_head", "keeps_saying_go_on"])
def test_an_answer_that_trickles_without_end_is_given_up(
    api: MessagesApi, client: ModelClient, name: str
) -> None:
    api.trouble = lambda _: getattr(hostile_answers, name)()
    ended = threading.Event()
    refusals: list[ExtractorUnavailableError] = []

    def ask() -> None:
        refusals.append(refusal(client))
        ended.set()

    threading.Thread(target=ask, daemon=True).start()
    assert ended.wait(30), "a byte now and then holds the call"
    assert "did not answer within" in str(refusals[0])
    assert refusals[0].suspect


@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        (hostile_answers.floods(), "a body of more than 2097152 bytes"),
        (hostile_answers.bomb, "a body in the coding 'gzip'"),
        (hostile_answers.of_type("text/html"), "a body of the type 'text/html'"),
        (Trouble(body=b"[" * 100_000), "a body that is no "),
        (Trouble(body=b'{"content": [], "stop_reason": "x", "usage": 5}'), "a body that is no "),
        (Trouble(body=b'{"content": [], "content": 1, "stop_reason": "end_turn"}'), "a body that is no "),
        (Trouble(body=b'{"id": "msg_1", "content": ['), "a body that is no "),
        (Trouble(body=b'{"choices": []}'), "a body that is no "),
        (Trouble(body=b"\xff\xfe"), "a body that is no "),
    ],
    ids=["flood", "bomb", "type", "deep", "usage", "twice", "half", "no choice", "bytes"],
)
def test_an_answer_that_is_too_much_is_not_taken_in(
    api: MessagesApi, client: ModelClient, trouble: Trouble | Callable[[], Trouble], why: str
) -> None:
    made = trouble() if callable(trouble) else trouble
    api.trouble = lambda _: made
    tracemalloc.start()
    try:
        failed = refusal(client)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert why in str(failed)
    assert failed.suspect
    assert most < 32 * 1024 * 1024


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_what_people_said_does_not_follow_a_redirect(
    api: MessagesApi, client: ModelClient, status: int
) -> None:
    with MessagesApi() as elsewhere:
        api.trouble = lambda _: hostile_answers.redirects(elsewhere.url, status)
        assert "redirects" in str(refusal(client))
        assert elsewhere.requests == []


def test_proxies_of_the_environment_are_not_used(api: MessagesApi, monkeypatch: pytest.MonkeyPatch) -> None:
    with MessagesApi() as elsewhere:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, elsewhere.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        asking = create_client(replace(api.settings, extract_timeout_s=5))
        api.trouble = lambda _: calls(NOTHING)
        asking.ask(prompt.asking(), "hello", 100)
        asking.close()
        assert (len(api.requests), elsewhere.requests) == (1, [])


def test_a_cookie_is_not_sent_back(api: MessagesApi) -> None:
    api.trouble = lambda _: hostile_answers.bakes_cookies()
    with httpx2.Client(transport=BoundedTransport(), trust_env=False) as client, deadline(10):
        answer = client.post(
            f"{api.url}{api.path}", json={"messages": [{"content": "<turns>\n\n</turns>"}], "model": "m"}
        )
        assert answer.status_code == 200
        assert list(client.cookies.jar) == []


@pytest.mark.parametrize("count", [1e308, -1, "12", True, 2**62, 0.5, [1], {}, 10**30])
def test_a_count_of_tokens_that_cannot_be_is_left_out_and_the_cost_unknown(
    api: MessagesApi, client: ModelClient, count: object
) -> None:
    api.trouble = lambda _: calls(NOTHING, usage={"input_tokens": count, "output_tokens": 7})
    usage = client.ask(prompt.asking(), "hello", 100).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (0, 7, None)


def test_an_answer_nested_without_end_is_no_answer(api: MessagesApi) -> None:
    nested = "[" * 1_000 + "]" * 1_000
    given = f'{{"states":[{nested},{{"turn":{nested}}}]}}'
    call = f'{{"type":"tool_use","id":"t","name":"record_cards","input":{given}}}'
    function = json.dumps({"id": "t", "function": {"name": "record_cards", "arguments": given}})
    choice = f'{{"finish_reason":"tool_calls","message":{{"tool_calls":[{function}]}}}}'
    body = f'{{"content":[{call}],"choices":[{choice}],"stop_reason":"tool_use","usage":{{}}}}'
    api.trouble = lambda _: Trouble(body=body.encode())
    extractor = ClaudeExtractor(api.settings)
    turn = recorded("I moved to Lisbon.", turn_id="t", said_at=datetime(2026, 5, 8, tzinfo=UTC))
    with pytest.raises(TurnsUnreadableError, match="missing"):
        extractor.extract(SessionBatch((RecordedTurn("ana", 1, turn),)))
    extractor.close()
    assert len(api.requests) == 2
