"""Apps that ask their model by the proxy: what the model is asked, what the app gets, and what is kept."""

import json
import logging
import subprocess
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx2
import pytest

from deploy.embedded.server import free_port
from tests.support.connections import connected, healthy, raw
from tests.support.proxy.proxying import (
    CHAT,
    MESSAGES,
    RESPONSES,
    SAID,
    Model,
    golden,
    modelling,
    proxied,
)
from tests.support.stack import COMMAND, Running, clean_environment
from tests.support.waiting import eventually
from tests.support.web import WEB

SECRET = "sk-upstream-secret"
NOWHERE = "http://127.0.0.1:1"
PATIENTLY = {"proxy_deadline_ms": 30_000, "proxy_push_ms": 30_000}
"""Settings of a proxy for which no memory is late."""
Asked = dict[str, Any]

WHOLE: dict[str, Asked] = {
    CHAT: {"object": "chat.completion", "choices": [{"index": 0, "message": {"content": SAID}}]},
    RESPONSES: {
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": SAID}]}],
    },
    MESSAGES: {"type": "message", "content": [{"type": "text", "text": SAID}]},
}


def asked(path: str, words: str, **more: Any) -> Asked:
    """A request to a model, as the SDKs write it."""
    if path == RESPONSES:
        return {
            "model": "m",
            "input": [{"role": "user", "content": [{"type": "input_text", "text": words}]}],
            **more,
        }
    return {"model": "m", "messages": [{"role": "user", "content": words}], **more}


def words_asked(document: Asked) -> str:
    """The content of the last message, as one text."""
    content = (document.get("messages") or document["input"])[-1]["content"]
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content)


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    with modelling() as made:
        yield made


@pytest.fixture(scope="module")
def proxy(stack: Running, model: Model) -> Iterator[str]:
    with proxied(
        model,
        write_url=stack.write_url,
        read_url=stack.read_url,
        key=stack.key,
        **PATIENTLY,
        max_body_kib=1,  # the limit of Cardlog's own routes is none of the proxy
    ) as url:
        yield url


class App:
    """An app of one user."""

    def __init__(self, proxy: str, **headers: str) -> None:
        self.proxy = proxy
        self.user = f"proxied {uuid4()} é"
        self.headers = {"authorization": f"Bearer {SECRET}", "x-cardlog-user": quote(self.user), **headers}

    def ask(self, path: str, body: object) -> httpx2.Response:
        return WEB.post(f"{self.proxy}{path}", json=body, headers=self.headers)

    def said(self, stack: Running, session: str = "default") -> list[tuple[str, str]]:
        """Role and words of the recorded turns of a session, in order."""
        url = f"{stack.read_url}/v1/sessions/{session}/turns"
        found = WEB.get(url, params={"user_id": self.user}, headers=stack.headers)
        return [(turn["role"], turn["text"]) for turn in reversed(found.json().get("turns", []))]

    def will_have_said(self, stack: Running, *turns: tuple[str, str], session: str = "default") -> None:
        """Waits until turns are recorded, and checks that they are these."""
        assert eventually(lambda: self.said(stack, session)) == list(turns)


def memory_headers(answer: httpx2.Response) -> tuple[str, str]:
    return answer.headers["x-cardlog-context"], answer.headers["x-cardlog-push"]


@pytest.mark.parametrize("path", [CHAT, RESPONSES, MESSAGES])
def test_a_question_gets_its_context_and_both_turns_are_kept(
    stack: Running, proxy: str, model: Model, path: str
) -> None:
    app = App(proxy, **{"x-cardlog-session": "s1"})
    model.answers(WHOLE[path])
    told = app.ask(path, asked(path, "I live in Porto."))
    assert memory_headers(told) == ("empty", "accepted")
    assert model.asked == asked(path, "I live in Porto.")
    stack.wait()
    question = asked(path, "Where do I live?", temperature=0.5)
    answer = app.ask(path, question)
    assert memory_headers(answer) == ("added", "accepted")
    assert answer.json() == WHOLE[path]
    assert answer.headers["x-request-id"] == "req_1"
    assert answer.headers["x-cardlog-cards"]
    words = words_asked(model.asked)
    assert words.startswith("Where do I live?\n")
    assert "Porto" in words
    assert model.asked["temperature"] == 0.5
    _, headers, _ = model.seen[-1]
    assert headers["authorization"] == f"Bearer {SECRET}"
    assert not [name for name in headers if name.startswith("x-cardlog")]
    told_and_asked = [
        ("user", "I live in Porto."),
        ("assistant", SAID),
        ("user", "Where do I live?"),
        ("assistant", SAID),
    ]
    eventually(lambda: app.said(stack, "s1") == told_and_asked)


@pytest.mark.parametrize("path", [CHAT, RESPONSES, MESSAGES])
def test_a_stream_passes_unchanged_and_its_answer_is_kept(
    stack: Running, proxy: str, model: Model, path: str
) -> None:
    app = App(proxy)
    stream = golden(path)
    model.streams(*(stream[at : at + 7] for at in range(0, len(stream), 7)))
    answer = app.ask(path, asked(path, "Wo wohne ich?", stream=True))
    assert answer.content == stream
    assert memory_headers(answer) == ("empty", "queued")
    app.will_have_said(stack, ("user", "Wo wohne ich?"), ("assistant", SAID))


def test_bytes_come_as_the_model_sends_them(proxy: str, model: Model) -> None:
    model.streams(b"data: 1\n\n", b"data: 2\n\n")
    model.next = threading.Semaphore(1)
    try:
        with WEB.stream(
            "POST", f"{proxy}{CHAT}", json=asked(CHAT, "Hi"), headers=App(proxy).headers
        ) as answer:
            chunks = answer.iter_raw()
            assert next(chunks) == b"data: 1\n\n"
            model.next.release()
            assert next(chunks) == b"data: 2\n\n"
    finally:
        model.next = None


def test_while_tools_are_called_the_context_stays_at_its_place(
    stack: Running, proxy: str, model: Model
) -> None:
    """Each request of a loop begins as the one before, so the model's cache of prompts finds it."""
    app = App(proxy)
    model.answers(WHOLE[MESSAGES])
    app.ask(MESSAGES, asked(MESSAGES, "I live in Porto."))
    stack.wait()
    marked = [{"type": "text", "text": "Where do I live?", "cache_control": {"type": "ephemeral"}}]
    system = [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}]
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    start = [*history, {"role": "user", "content": marked}]
    app.ask(MESSAGES, {"system": system, "messages": start})
    first = model.asked
    assert first["system"] == system
    assert first["messages"][:2] == history
    [question, block] = first["messages"][2]["content"]
    assert question == marked[0]
    assert block.keys() == {"type", "text"}
    use = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "42"}]}
    app.ask(MESSAGES, {"system": system, "messages": [*start, use, result]})
    assert model.asked["messages"] == [*first["messages"], use, result]
    # The loop is one question, so its turn counts once.
    eventually(lambda: app.said(stack)[2:] == [("user", "Where do I live?"), ("assistant", SAID)])


@pytest.mark.parametrize("status", [400, 429, 500])
def test_a_refusal_of_the_model_passes_and_nothing_is_kept(
    stack: Running, proxy: str, model: Model, status: int
) -> None:
    app = App(proxy)
    model.answers({"error": {"message": "no"}}, status)
    answer = app.ask(CHAT, asked(CHAT, "I live in Oslo.", stream=True))
    assert (answer.status_code, answer.json()) == (status, {"error": {"message": "no"}})
    assert answer.headers["x-cardlog-push"] == "skipped"
    assert app.said(stack) == []


def test_a_stream_that_breaks_off_breaks_off_and_half_an_answer_is_not_kept(
    stack: Running, proxy: str, model: Model
) -> None:
    app = App(proxy)
    half = golden(CHAT)[:600]
    model.streams(half, breaks_off=True)
    found: list[bytes] = []

    def read() -> None:
        body = asked(CHAT, "I live in Oslo.")
        with WEB.stream("POST", f"{proxy}{CHAT}", json=body, headers=app.headers) as answer:
            found.extend(answer.iter_raw())

    with pytest.raises(httpx2.RemoteProtocolError):
        read()
    assert b"".join(found) == half
    app.will_have_said(stack, ("user", "I live in Oslo."))


@pytest.mark.parametrize(
    "rubbish", [b"", b"\xff\x00{", b"[1]", b'{"choices": [{"message": 7}], "output": 3}']
)
def test_rubbish_of_the_model_passes(stack: Running, proxy: str, model: Model, rubbish: bytes) -> None:
    app = App(proxy)
    model.answers(rubbish)
    answer = app.ask(CHAT, asked(CHAT, "I live in Oslo."))
    assert (answer.status_code, answer.content) == (200, rubbish)
    model.streams(b"data: {\n\n", b"\n\xff\n", rubbish)
    assert app.ask(MESSAGES, asked(MESSAGES, "I live in Oslo.")).content == b"data: {\n\n\n\xff\n" + rubbish
    app.will_have_said(stack, ("user", "I live in Oslo."))


@pytest.mark.parametrize(
    "body",
    [
        b'{"messages": [{"role": "user", "content": 7}, 3]}',
        b'{"messages": "none"}',
        b'{"input": []}',
        b"[]",
        b"{",
    ],
)
def test_a_request_without_words_passes_unchanged(proxy: str, model: Model, body: bytes) -> None:
    model.answers({"a": 1})
    headers = App(proxy).headers | {"content-type": "application/json"}
    answer = WEB.post(f"{proxy}{CHAT}?beta=true", content=body, headers=headers)
    assert memory_headers(answer) == ("skipped", "skipped")
    assert (model.seen[-1][0], model.seen[-1][2]) == (f"{CHAT}?beta=true", body)


def test_a_request_without_a_user_goes_without_memory_and_says_so(proxy: str, model: Model) -> None:
    model.answers(WHOLE[CHAT])
    answer = WEB.post(f"{proxy}{CHAT}", json=asked(CHAT, "I live in Oslo."))
    assert memory_headers(answer) == ("skipped", "skipped")
    assert "x-cardlog-user" in answer.headers["x-cardlog-reason"]
    assert model.asked == asked(CHAT, "I live in Oslo.")


def test_a_misspelt_header_goes_without_memory_and_is_named(proxy: str, model: Model) -> None:
    model.answers(WHOLE[CHAT])
    answer = App(proxy, **{"x-cardlog-projekt": "shop"}).ask(CHAT, asked(CHAT, "I live in Oslo."))
    assert memory_headers(answer) == ("skipped", "skipped")
    assert "x-cardlog-projekt" in answer.headers["x-cardlog-reason"]
    assert "x-cardlog-project?" in answer.headers["x-cardlog-reason"]


@pytest.mark.parametrize(("name", "value"), [("key", "clk_wrong"), ("timezone", "Mars")])
def test_a_refusal_of_the_memory_names_the_header_that_is_wrong(
    proxy: str, model: Model, name: str, value: str
) -> None:
    model.answers(WHOLE[CHAT])
    answer = App(proxy, **{f"x-cardlog-{name}": value}).ask(CHAT, asked(CHAT, "Hi"))
    assert (answer.json(), answer.headers["x-cardlog-context"]) == (WHOLE[CHAT], "failed")
    reason = answer.headers["x-cardlog-reason"]
    assert f"x-cardlog-{name}" in reason
    assert "Authorization" not in reason
    assert "?" not in reason
    # A turn without a clock still says what it says. Without a key nothing can be kept.
    assert answer.headers["x-cardlog-push"] == ("failed" if name == "key" else "accepted")


def test_a_body_above_the_limit_is_refused(proxy: str, model: Model) -> None:
    model.answers(WHOLE[CHAT])
    assert App(proxy).ask(CHAT, asked(CHAT, "x" * (16 * 1024 * 1024))).status_code == 413
    assert App(proxy).ask(CHAT, asked(CHAT, "x" * (1024 * 1024))).status_code == 200


def test_other_requests_pass_to_their_model(proxy: str, model: Model) -> None:
    model.answers({"data": []})
    answer = WEB.get(
        f"{proxy}/v1/models?limit=2", headers={"x-api-key": SECRET, "anthropic-version": "2023-06-01"}
    )
    assert answer.json() == {"data": []}
    assert "x-cardlog-context" not in answer.headers
    path, headers, _ = model.seen[-1]
    assert (path, headers["x-api-key"]) == ("/v1/models?limit=2", SECRET)
    assert WEB.get(f"{proxy}/v1/files/a%2Fb%3F").status_code == 200
    assert model.seen[-1][0] == "/v1/files/a%2Fb%3F"
    seen = len(model.seen)
    assert (
        raw(proxy, b"GET /v1/%2e%2e/admin HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")[9:12]
        == b"404"
    )
    assert len(model.seen) == seen


def test_a_reason_adds_no_header(model: Model) -> None:
    model.answers(WHOLE[CHAT])
    with modelling() as memory:
        memory.answers({"title": "wrong", "detail": "no\r\nset-cookie: a=b\x01é"}, 422)
        with proxied(model, write_url=memory.url, read_url=memory.url, key="", **PATIENTLY) as url:
            answer = App(url).ask(CHAT, asked(CHAT, "Hi"))
    assert (answer.json(), answer.headers["x-cardlog-context"]) == (WHOLE[CHAT], "failed")
    assert answer.headers["x-cardlog-reason"] == "no??set-cookie: a=b??"
    assert "set-cookie" not in answer.headers


def test_a_client_that_leaves_ends_the_stream(stack: Running, proxy: str, model: Model) -> None:
    app = App(proxy)
    model.streams(*[golden(CHAT)[:600]] * 3)
    model.next = threading.Semaphore(1)
    try:
        with WEB.stream(
            "POST", f"{proxy}{CHAT}", json=asked(CHAT, "I live in Oslo."), headers=app.headers
        ) as answer:
            next(answer.iter_raw())
        app.will_have_said(stack, ("user", "I live in Oslo."))
    finally:
        model.next.release(3)
        model.next = None
    with connected(proxy) as connection:
        connection.sendall(b"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n"
                           b"Content-Type: application/json\r\n\r\n{")  # fmt: skip
    model.answers(WHOLE[CHAT])
    assert app.ask(CHAT, asked(CHAT, "Hi")).status_code == 200


def test_a_model_that_is_away_is_a_problem(stack: Running, model: Model) -> None:
    away = Model(NOWHERE)
    with proxied(away, write_url=stack.write_url, read_url=stack.read_url, key=stack.key) as url:
        answer = App(url).ask(CHAT, asked(CHAT, "Hi"))
    assert (answer.status_code, answer.headers["content-type"]) == (502, "application/problem+json")


def test_beyond_this_machine_a_request_brings_a_key(stack: Running, model: Model) -> None:
    model.answers(WHOLE[CHAT])
    with proxied(model, write_url=stack.write_url, read_url=stack.read_url, key=None, **PATIENTLY) as url:
        without = App(url).ask(CHAT, asked(CHAT, "I live in Oslo."))
        assert memory_headers(without) == ("skipped", "skipped")
        wrong = App(url, **{"x-cardlog-key": "wrong"}).ask(CHAT, asked(CHAT, "I live in Oslo."))
        assert (wrong.status_code, *memory_headers(wrong)) == (200, "failed", "failed")
        right = App(url, **{"x-cardlog-key": stack.key}).ask(CHAT, asked(CHAT, "I live in Oslo."))
        assert memory_headers(right) == ("empty", "accepted")


def test_the_command_serves_until_it_is_stopped(stack: Running, model: Model) -> None:
    port = str(free_port())
    words = ["proxy", "--port", port, "--upstream-openai", f"{model.url}/v1", "--data", str(stack.data)]
    process = subprocess.Popen([*COMMAND, *words], env=clean_environment(), stderr=subprocess.PIPE, text=True)
    try:
        url = f"http://127.0.0.1:{port}"
        assert process.stderr is not None
        assert f"the proxy is ready at {url}\n" in iter(process.stderr.readline, "")
        eventually(lambda: healthy(url))
        model.answers(WHOLE[CHAT])
        app = App(url)
        assert app.ask(CHAT, asked(CHAT, "I live in Oslo.")).json() == WHOLE[CHAT]
        app.will_have_said(stack, ("user", "I live in Oslo."), ("assistant", SAID))
    finally:
        process.terminate()
        process.communicate(timeout=240)


def metric(url: str, name: str) -> float:
    lines = WEB.get(f"{url}/metrics").text.splitlines()
    return next(float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"{name} "))


def test_a_dead_memory_costs_nothing_and_loud_is_what_is_lost(
    model: Model, caplog: pytest.LogCaptureFixture
) -> None:
    model.answers(WHOLE[CHAT])
    with proxied(model, write_url=NOWHERE, read_url=NOWHERE, key="", proxy_queue=1) as url:
        app = App(url)
        seen = [memory_headers(app.ask(CHAT, asked(CHAT, f"I live in Oslo {n}."))) for n in range(8)]
        assert [context for context, _ in seen] == ["failed"] * 3 + ["skipped"] * 5
        # Four senders hold a push each, and one waits.
        assert seen[0][1] == "queued"
        assert seen[-1][1] == "failed"
        eventually(lambda: metric(url, "cardlog_proxy_pushes_waiting") >= 1)
        assert metric(url, 'cardlog_proxy_pushes_total{outcome="failed"}') >= 1
    lost = [each.getMessage() for each in caplog.records if each.levelno == logging.ERROR]
    assert any("a push of 2 turns is lost: 1 other pushes wait" in each for each in lost)
    assert any("the proxy stops" in each for each in lost)
    assert SECRET not in caplog.text
    assert "Oslo" not in caplog.text


def test_a_late_memory_is_not_waited_for(model: Model) -> None:
    model.streams(*[golden(CHAT)])
    with modelling() as late:
        late.chunks, late.next = [b"{}"], threading.Semaphore(0)
        with proxied(model, write_url=late.url, read_url=late.url, key="", proxy_deadline_ms=50) as url:
            answer = App(url).ask(CHAT, asked(CHAT, "Hi"))
            assert (answer.content, *memory_headers(answer)) == (golden(CHAT), "late", "queued")
            late.next.release(100)


@pytest.mark.parametrize("rubbish", [b"{}", b"[]", b"null", b"<html>", b'{"blocks": 3}'])
def test_rubbish_of_the_memory_costs_nothing(model: Model, rubbish: bytes) -> None:
    model.answers(WHOLE[CHAT])
    with modelling() as memory:
        memory.answers(rubbish)
        with proxied(model, write_url=memory.url, read_url=memory.url, key="", **PATIENTLY) as url:
            answer = App(url).ask(CHAT, asked(CHAT, "Hi"))
    assert (answer.json(), answer.headers["x-cardlog-context"]) == (WHOLE[CHAT], "failed")


def test_what_waits_is_pushed_when_the_memory_is_back(stack: Running, model: Model) -> None:
    """The memory answers twice with 503, and then takes the turns."""
    model.answers(WHOLE[CHAT])
    with modelling() as memory:
        memory.answers({"title": "away", "detail": "away"}, 503)
        with proxied(model, write_url=memory.url, read_url=memory.url, key="") as url:
            app = App(url)
            assert memory_headers(app.ask(CHAT, asked(CHAT, "I live in Oslo.")))[1] == "queued"
            memory.answers({"turn_ids": [], "duplicates": [], "token": None}, 202)
            eventually(lambda: metric(url, 'cardlog_proxy_pushes_total{outcome="accepted"}') == 1)
    pushes = [json.loads(body) for path, _, body in memory.seen if path == "/v1/turns"]
    assert len({json.dumps(push) for push in pushes}) == 1
    assert [turn["text"] for turn in pushes[0]] == ["I live in Oslo.", SAID]
