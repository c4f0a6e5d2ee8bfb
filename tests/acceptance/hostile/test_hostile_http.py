"""Requests that mean harm: they are refused with a problem that says why, and nobody else notices."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.stack import COMMAND, Running, clean_environment
from tests.support.waiting import eventually

MIB = 1024 * 1024
HUGE = 100 * MIB
ID = "018f0000-0000-7000-8000-000000000000"
WEB = httpx.Client(
    timeout=60, verify=False
)  # one for all: each makes a TLS context, which takes longer than to ask
BOTH = pytest.mark.parametrize("service", ["read", "write"])


def url_of(stack: Running, service: str) -> str:
    return str(getattr(stack, f"{service}_url"))


def routes(stack: Running, service: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Every (method, path, operation) of a service."""
    document = WEB.get(f"{url_of(stack, service)}/openapi.json").json()
    return [
        (method.upper(), path.replace("{card_id}", ID).replace("{arbitration_id}", ID), operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]


def refused(answer: httpx.Response, status: int, field: str | None = None) -> None:
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), (
        answer.text
    )
    problem = answer.json()
    assert problem["status"] == status
    assert problem["detail"]
    assert problem.get("field") == field


# Bodies


@BOTH
def test_a_body_of_100_mb_is_refused_by_every_route_and_costs_no_memory(stack: Running, service: str) -> None:
    [process] = stack.workers(service)
    url = url_of(stack, service)
    with httpx.Client(timeout=60) as client:
        client.get(f"{url}/metrics")
        before = process.memory_info().rss
        for method, path, _ in routes(stack, service):
            # Told beforehand: refused before a byte of it came.
            head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            with connected(url) as connection:
                connection.sendall(f"{head}Content-Length: {HUGE}\r\n\r\n".encode())
                assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")
            # Not told: refused where the limit is.
            json_type = {"content-type": "application/json"}
            refused(
                client.request(method, url + path, headers=json_type, content=spaces(HUGE)), 413, "(body)"
            )
        assert process.memory_info().rss - before < 64 * MIB


def spaces(size: int) -> Iterator[bytes]:
    for _ in range(size // 65536):
        yield b" " * 65536


@BOTH
@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000, b'{"a":' * 40_000, b"[" * 40 + b"]" * 40, b"9" * 200_000, b'{"k": 1e999}', b"NaN",
        b'"\\ud800"', b"\xff\xfe", b'{"user_id": "a\\u0000b"}', b"{", b"[" + b"{}," * 60_000 + b"{}]", b"-Infinity",
        b'{"a\\u0000": 1}', b"null", b'"x"', b"[[]]", b"[null]",
    ],
    ids=lambda body: repr(body[:20]),
)  # fmt: skip
def test_json_that_is_a_trap_is_a_422(stack: Running, service: str, body: bytes) -> None:
    url = url_of(stack, service)
    for method, path, operation in routes(stack, service):
        if "requestBody" in operation:
            answer = WEB.request(
                method, url + path, content=body, headers={"content-type": "application/json"}, timeout=30
            )
            assert answer.status_code == 422, answer.text
            assert answer.headers["content-type"] == "application/problem+json"


@BOTH
@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "application/xml",
     "application/json; charset=utf-16", "text/json", "application/jsonx"],
)  # fmt: skip
def test_a_body_that_a_foreign_web_page_can_send_is_a_415(stack: Running, service: str, kind: str) -> None:
    for method, path, operation in routes(stack, service):
        if "requestBody" in operation:
            answer = WEB.request(
                method, url_of(stack, service) + path, content=b"{}", headers={"content-type": kind}
            )
            refused(answer, 415, "Content-Type")


def test_json_may_say_that_it_is_utf_8_and_may_not_be_compressed(stack: Running) -> None:
    body, url = b'{"user_id": "charset", "text": "Hello."}', f"{stack.write_url}/v1/turns"
    for kind in ("application/json; charset=UTF-8", 'Application/JSON;charset="utf-8"'):
        assert WEB.post(url, content=body, headers={"content-type": kind}).status_code == 202
    packed = {"content-type": "application/json", "content-encoding": "gzip"}
    refused(WEB.post(url, content=body, headers=packed), 415, "Content-Encoding")


# Text


@BOTH
@pytest.mark.parametrize("bad", ["%00", "a%00b", "%ed%a0%80", "%ff", "%c0%80"])
def test_text_that_cannot_be_stored_is_a_422_wherever_it_stands(
    stack: Running, service: str, bad: str
) -> None:
    url = url_of(stack, service)
    for method, path, operation in routes(stack, service):
        if method == "GET":
            names = [each["name"] for each in operation.get("parameters", []) if each["in"] == "query"]
            for name in [*names, "unknown"]:
                refused(WEB.get(f"{url}{path}?user_id=a&{name}={bad}"), 422, name)
            refused(WEB.get(f"{url}{path}?{bad}=1"), 422, "(query)")
        refused(WEB.request(method, f"{url}{path}/{bad}"), 422, "(path)")
        if ID in path:
            refused(WEB.request(method, url + path.replace(ID, bad)), 422, "(path)")


@BOTH
def test_a_parameter_that_no_route_has_is_refused(stack: Running, service: str) -> None:
    for method, path, operation in routes(stack, service):
        body: dict[str, Any] = {"json": {}} if "requestBody" in operation else {}
        answer = WEB.request(method, f"{url_of(stack, service)}{path}?user_id=a&surprise=1", **body)
        assert answer.status_code == 422, (path, answer.text)
        assert "no parameter" in answer.text or "required" in answer.text or "not known" in answer.text


# Where it comes from


@BOTH
def test_only_the_names_of_the_service_are_answered(stack: Running, service: str) -> None:
    url = url_of(stack, service)
    port = urlsplit(url).port
    for host in (
        f"127.0.0.1:{port}",
        "localhost",
        f"LOCALHOST:{port}",
        "[::1]",
        "127.0.0.9",
        socket.gethostname(),
    ):
        assert WEB.get(f"{url}/healthz", headers={"host": host}).status_code == 200, host
    for host in (
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "10.1.2.3",
        "a@localhost",
        "",
        "[",
    ):
        refused(WEB.get(f"{url}/healthz", headers={"host": host}), 421, "Host")
    for several in (b"", b"Host: localhost\r\nHost: localhost\r\n"):
        assert raw(url, b"GET /healthz HTTP/1.1\r\n" + several + b"Connection: close\r\n\r\n").startswith(
            b"HTTP/1.1 400 "
        )


@BOTH
def test_no_foreign_page_is_answered(stack: Running, service: str) -> None:
    url = url_of(stack, service)
    assert WEB.get(f"{url}/healthz", headers={"origin": url}).status_code == 200
    for origin in (
        "https://evil.example",
        "null",
        "http://localhost",
        url + "1",
        url.replace("http", "https"),
    ):
        refused(WEB.get(f"{url}/healthz", headers={"origin": origin}), 403, "Origin")


def test_names_and_pages_can_be_allowed(stack: Running) -> None:
    allowed = {
        "CARDLOG_ALLOWED_HOSTS": "read, *.svc.cluster.local",
        "CARDLOG_ALLOWED_ORIGINS": "https://app.example.com",
    }
    with serving("write", stack.redis_url, **allowed) as url:
        for host in ("read:8701", "cardlog.team.svc.cluster.local"):
            assert WEB.get(f"{url}/healthz", headers={"host": host}).status_code == 200
        for host in ("read.evil.example", "svc.cluster.local.evil.example", "svc.cluster.local"):
            refused(WEB.get(f"{url}/healthz", headers={"host": host}), 421, "Host")
        page = {"origin": "https://app.example.com"}
        answer = WEB.get(f"{url}/healthz", headers=page)
        assert answer.headers["access-control-allow-origin"] == page["origin"]
        asked = {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}
        assert WEB.options(f"{url}/v1/turns", headers=page | asked).status_code == 200


# Methods and paths


@BOTH
def test_a_wrong_method_names_the_right_ones_and_a_wrong_path_is_a_problem(
    stack: Running, service: str
) -> None:
    url = url_of(stack, service)
    for method, path, _ in routes(stack, service):
        answer = WEB.put(url + path)
        refused(answer, 405)
        assert method in answer.headers["allow"].split(", ")
    refused(WEB.get(f"{url}/v1/nothing"), 404)


# Time and connections


@contextmanager
def serving(service: str, redis_url: str, **settings: str) -> Iterator[str]:
    """A service with settings of its own, and with a Postgres that is away."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(512)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        process = subprocess.Popen(
            [*COMMAND, "serve", service, "--fd", str(listening.fileno())],
            pass_fds=[listening.fileno()],
            env=clean_environment()
            | {
                "CARDLOG_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing",
                "CARDLOG_REDIS_URL": redis_url,
            }
            | settings,
        )
    try:
        eventually(lambda: healthy(url), within=60)
        yield url
    finally:
        process.terminate()
        process.wait(30)


def healthy(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=20).status_code == 200
    except httpx.TransportError:
        return False


@contextmanager
def connected(url: str) -> Iterator[socket.socket]:
    with socket.create_connection((urlsplit(url).hostname, urlsplit(url).port), timeout=60) as connection:
        yield connection


def rest_of(connection: socket.socket) -> bytes:
    """What comes until the other side closes."""
    found = b""
    try:
        while chunk := connection.recv(65536):
            found += chunk
    except ConnectionResetError:
        pass
    return found


def raw(url: str, request: bytes) -> bytes:
    with connected(url) as connection:
        connection.sendall(request)
        return rest_of(connection)


@pytest.fixture(scope="module")
def quick() -> Iterator[str]:
    """A service that waits for nobody, and takes ten connections."""
    limits = {
        "CARDLOG_HEADER_TIMEOUT_S": "1", "CARDLOG_BODY_TIMEOUT_S": "1", "CARDLOG_IDLE_TIMEOUT_S": "1",
        "CARDLOG_MAX_CONNECTIONS": "10",
    }  # fmt: skip
    with serving("write", "redis://127.0.0.1:1/0", **limits) as url:
        yield url


HEAD = b"POST /v1/turns HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"", b"408"),
        (b"GET /healthz HTTP/1.1\r\nHost: loc", b"408"),
        (b"\r\n\r\n", b"408"),
        (HEAD, b"408"),
        (HEAD + b"Content-Length: 10\r\n\r\n{", b"408"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", b"408"),
        (b"NONSENSE\r\n\r\n", b"400"),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000, b"431"),
        (b"GET /" + b"x" * 100_000, b"431"),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 20_000, b"431"),
    ],
    ids=["nothing", "half a head", "empty lines", "no end of head", "half a body", "half a chunked body", "no HTTP",
         "endless header", "endless path", "endless headers"],
)  # fmt: skip
def test_a_request_that_does_not_end_is_ended(quick: str, sent: bytes, status: bytes) -> None:
    answer = raw(quick, sent)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 " + status), answer
    assert b"application/problem+json" in head
    assert json.loads(body)["status"] == int(status)


def test_a_head_that_drips_is_ended_too(quick: str) -> None:
    with connected(quick) as connection:
        stop = threading.Event()

        def drip() -> None:
            connection.sendall(b"GET /healthz HTTP/1.1\r\n")
            while not stop.wait(0.05):
                try:
                    connection.sendall(b"X: y\r\n")
                except OSError:
                    return

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            assert rest_of(connection)[:12] in (
                b"HTTP/1.1 408",
                b"",
            )  # reset, where a drop came after the end
        finally:
            stop.set()
            dripping.join()


def test_a_connection_without_a_request_is_ended(quick: str) -> None:
    answer = raw(quick, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"connection: close" not in answer.lower()


def test_connections_that_do_nothing_make_room_for_one_that_asks(quick: str) -> None:
    with ExitStack() as idle:
        for _ in range(40):
            idle.enter_context(connected(quick))
        for _ in range(5):
            assert healthy(quick)


# Load


@contextmanager
def silent_server() -> Iterator[str]:
    """A Redis that takes connections and never says anything."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listening:
        yield f"redis://127.0.0.1:{listening.getsockname()[1]}/0"


def test_pushes_that_cannot_be_taken_are_told_so_at_once() -> None:
    few = {"CARDLOG_MAX_PUSHES": "1", "CARDLOG_MAX_REQUESTS": "8"}
    with silent_server() as redis_url, serving("write", redis_url, **few) as url:

        def push(number: int) -> httpx.Response:
            return WEB.post(f"{url}/v1/turns", json={"user_id": f"u{number}", "text": "x"}, timeout=60)

        with ThreadPoolExecutor(40) as pool:
            pushes = [pool.submit(push, number) for number in range(40)]
            assert healthy(url)  # whoever looks after it is answered
            answers = [each.result() for each in pushes]
        for answer in answers:
            refused(answer, 503)
            assert int(answer.headers["retry-after"]) >= 1
        titles = Counter(answer.json()["title"] for answer in answers)
        assert titles["Too many requests at once"] >= 1, titles
        assert titles["Too many pushes"] >= 1, titles


def test_five_hundred_pushes_at_once_are_all_answered(stack: Running, tmp_path: Path) -> None:
    def push(number: int) -> int:
        answer = WEB.post(
            f"{stack.write_url}/v1/turns", json={"user_id": f"crowd {number}", "text": "Hello."}, timeout=60
        )
        assert answer.status_code == 202 or answer.headers["retry-after"]
        return answer.status_code

    with ThreadPoolExecutor(100) as pool:
        answers = Counter(pool.map(push, range(500)))
    assert set(answers) <= {202, 503}
    assert answers[202]
