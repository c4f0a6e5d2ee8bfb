"""Slow, silent or many connections and bodies cost the others nothing."""

import json
import select
import socket
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from urllib.parse import urlsplit

import httpx2
import pytest

from events.access import keys
from events.platform.database import connect
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
    """A service with timeouts that no test reaches. It takes ten connections, too."""
    limits = {"CARDLOG_BODY_TIMEOUT_S": "600", "CARDLOG_MAX_CONNECTIONS": "10"}
    with serving("write", "redis://127.0.0.1:1/0", **limits) as url:
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


NOTHING = "redis://127.0.0.1:1/0"


def begun(path: str, key: str = "") -> bytes:
    """A request with the first byte of a body that no test completes."""
    credential = f"Authorization: Bearer {key}\r\n" if key else ""
    return (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{credential}"
        "Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"
    ).encode()


@pytest.fixture
def guarded(database: str) -> Iterator[str]:
    """A read service that asks for keys, and works on twelve requests at once."""
    with serving(
        "read", NOTHING, CARDLOG_DATABASE_URL=database, CARDLOG_AUTH="on", CARDLOG_MAX_REQUESTS="12"
    ) as url:
        yield url


def test_slow_bodies_take_no_place_from_other_keys(guarded: str, database: str) -> None:
    with connect(database, application="test") as connection:
        slow, other = (keys.create(connection, name=name, scopes=["read"])[1] for name in ("slow", "other"))
    headers = {"Authorization": f"Bearer {other}"}
    with ExitStack() as stack:
        for _ in range(20):
            unwanted = stack.enter_context(connected(guarded))
            unwanted.sendall(begun("/docs"))
            assert unwanted.recv(12) == b"HTTP/1.1 405"
        assert WEB.get(f"{guarded}/v1/channels", headers=headers).status_code == 200
        waiting = [stack.enter_context(connected(guarded)) for _ in range(20)]
        for each in waiting:
            each.sendall(begun("/v1/recall", slow))
        [first, *_], _, _ = select.select(waiting, [], [])
        assert first.recv(12) == b"HTTP/1.1 503"
        assert WEB.get(f"{guarded}/v1/channels", headers=headers).status_code == 200
        invalid = WEB.post(f"{guarded}/v1/recall", json={}, headers=headers)
        assert (invalid.status_code, invalid.json()["field"]) == (422, "user_id")


def test_the_connections_of_one_address_leave_room_for_another(patient: str) -> None:
    place = urlsplit(patient)
    with ExitStack() as stack:
        for _ in range(10):
            busy = stack.enter_context(
                socket.create_connection((place.hostname, place.port), source_address=("127.0.0.2", 0))
            )
            busy.sendall(begun("/v1/turns").replace(b"\r\n", b"\r\nExpect: 100-continue\r\n", 1))
            assert busy.recv(12) == b"HTTP/1.1 100"
        for _ in range(3):
            assert WEB.get(f"{patient}/healthz").status_code == 200


def test_a_body_that_drips_is_ended(patient: str) -> None:
    assert dripped(patient, begun("/v1/turns"), b" ") in (b"HTTP/1.1 408", b"")


def test_no_answer_names_the_server(patient: str) -> None:
    answers = [
        WEB.get(f"{patient}/healthz"),
        WEB.post(f"{patient}/docs"),
        WEB.get(f"{patient}/nothing"),
    ]
    assert [each.headers.get("server") for each in answers] == [None] * 3
