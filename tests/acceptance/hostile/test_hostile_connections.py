"""Slow, silent or many connections cost the other connections nothing."""

import json
import socket
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial

import httpx2
import pytest

from tests.support.connections import connected, dripped, healthy, raw, refused, serving
from tests.support.web import WEB


@pytest.fixture(scope="module")
def quick() -> Iterator[str]:
    """A service with short timeouts that takes ten connections."""
    limits = {
        "CARDLOG_HEADER_TIMEOUT_S": "1", "CARDLOG_BODY_TIMEOUT_S": "1", "CARDLOG_IDLE_TIMEOUT_S": "1",
        "CARDLOG_MAX_CONNECTIONS": "10",
    }  # fmt: skip
    with serving("write", "redis://127.0.0.1:1/0", **limits) as url:
        yield url


@pytest.fixture(scope="module")
def patient() -> Iterator[str]:
    """A service with the usual timeouts, which no test reaches. It takes ten connections, too."""
    with serving("write", "redis://127.0.0.1:1/0", CARDLOG_MAX_CONNECTIONS="10") as url:
        yield url


HEAD = b"POST /v1/turns HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


ENDLESS = {
    b"": 408,
    b"GET /healthz HTTP/1.1\r\nHost: loc": 408,
    b"\r\n\r\n": 408,
    HEAD: 408,
    HEAD + b"Content-Length: 10\r\n\r\n{": 408,
    HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n": 408,
}
REFUSED = {
    b"NONSENSE\r\n\r\n": 400,
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000: 431,
    b"GET /" + b"x" * 100_000: 431,
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 20_000: 431,
}


def test_a_request_that_does_not_end_or_is_none_is_ended(quick: str, patient: str) -> None:
    for url, requests in ((quick, ENDLESS), (patient, REFUSED)):
        with ThreadPoolExecutor(5) as many:
            answers = dict(zip(requests, many.map(partial(raw, url), requests), strict=True))
        for sent, answer in answers.items():
            head, _, body = answer.partition(b"\r\n\r\n")
            assert b"application/problem+json" in head, (sent[:80], answer)
            assert head.startswith(f"HTTP/1.1 {requests[sent]} ".encode()), sent[:80]
            assert json.loads(body)["status"] == requests[sent]


def test_a_head_that_drips_is_ended_too(quick: str) -> None:
    assert dripped(quick, b"GET /healthz HTTP/1.1\r\n", b"X: y\r\n") in (b"HTTP/1.1 408", b"")


def test_a_connection_without_a_request_is_ended(quick: str) -> None:
    answer = raw(quick, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"connection: close" not in answer.lower()


def test_connections_that_do_nothing_make_room_for_one_that_asks(patient: str) -> None:
    with ExitStack() as idle:
        for _ in range(40):
            idle.enter_context(connected(patient))
        for _ in range(5):
            assert healthy(patient)


@contextmanager
def silent_server() -> Iterator[str]:
    """A Redis that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listening:
        yield f"redis://127.0.0.1:{listening.getsockname()[1]}/0"


def test_pushes_that_cannot_be_taken_are_refused_at_once() -> None:
    few = {"CARDLOG_MAX_PUSHES": "1", "CARDLOG_MAX_REQUESTS": "8"}
    with silent_server() as redis_url, serving("write", redis_url, **few) as url:

        def push(number: int) -> httpx2.Response:
            return WEB.post(f"{url}/v1/turns", json={"user_id": f"u{number}", "text": "x"})

        with ThreadPoolExecutor(40) as pool:
            pushes = [pool.submit(push, number) for number in range(40)]
            assert healthy(url)  # the operator's probe is answered
            answers = [each.result() for each in pushes]
        for answer in answers:
            refused(answer, 503)
            assert int(answer.headers["retry-after"]) >= 1
        titles = Counter(answer.json()["title"] for answer in answers)
        assert titles["Too many pushes"] >= 1, titles
        assert titles.keys() <= {"Too many requests at once", "Too many pushes", "Queue unavailable"}, titles
