"""Hostile requests are refused with a problem that names the reason. Other requests are not affected."""

import re
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from starlette.testclient import TestClient

from events.platform.settings import Settings
from ingest.api.write_api import create_app
from tests.support.connections import connected, raw, refused
from tests.support.stack import Running
from tests.support.web import WEB

MIB = 1024 * 1024
HUGE = 100 * MIB
ID = "018f0000-0000-7000-8000-000000000000"
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


# Bodies


@BOTH
def test_a_body_of_100_mb_is_refused_by_every_route_and_costs_no_memory(stack: Running, service: str) -> None:
    [process] = stack.workers(service)
    url = url_of(stack, service)
    with httpx2.Client(timeout=120, headers=stack.headers) as client:
        client.get(f"{url}/metrics")
        before = process.memory_info().rss
        for method, path, _ in routes(stack, service):
            # With a declared length the request is refused before a byte of the body arrives.
            head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            with connected(url) as connection:
                connection.sendall(f"{head}Content-Length: {HUGE}\r\n\r\n".encode())
                assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")
            # Without a declared length the request is refused at the limit, where a body is read at all.
            if method in ("POST", "PUT", "PATCH"):
                json_type = {"content-type": "application/json"}
                answer = client.request(method, url + path, headers=json_type, content=spaces(HUGE))
                refused(answer, 413, "(body)")
        assert process.memory_info().rss - before < 64 * MIB


def spaces(size: int) -> Iterator[bytes]:
    for _ in range(size // 65536):
        yield b" " * 65536


TRAPS = (
    b"[" * 100_000, b'{"a":' * 40_000, b"[" * 40 + b"]" * 40, b"9" * 200_000, b'{"k": 1e999}', b"NaN",
    b'"\\ud800"', b"\xff\xfe", b'{"user_id": "a\\u0000b"}', b"{", b"[" + b"{}," * 60_000 + b"{}]", b"-Infinity",
    b'{"a\\u0000": 1}', b"null", b'"x"', b"[[]]", b"[null]", b'{"user_id": "a", "user_id": "b", "text": "Hello."}',
)  # fmt: skip


@BOTH
def test_json_that_is_a_trap_is_a_422(stack: Running, service: str) -> None:
    """Every route gets one trap, and a few routes get every trap: all routes share the reader of bodies."""
    url, json_type = url_of(stack, service), {"content-type": "application/json"}
    taking = [each for each in routes(stack, service) if "requestBody" in each[2]]
    for number, body in enumerate(TRAPS):
        for method, path, _ in taking if number == 0 else taking[:5]:
            answer = WEB.request(method, url + path, content=body, headers=json_type)
            assert answer.status_code == 422, (path, body[:20], answer.text)
            assert answer.headers["content-type"] == "application/problem+json"


@BOTH
@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "application/xml",
     "application/json; charset=utf-16", "text/json", "application/jsonx"],
)  # fmt: skip
def test_a_body_that_a_foreign_web_page_can_send_is_a_415(stack: Running, service: str, kind: str) -> None:
    taking = [each for each in routes(stack, service) if "requestBody" in each[2]]
    for method, path, _ in taking if kind == "text/plain" else taking[:5]:
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
def test_text_that_cannot_be_stored_is_a_422_in_every_place(stack: Running, service: str, bad: str) -> None:
    url, every = url_of(stack, service), routes(stack, service)
    for method, path, operation in every if bad == "a%00b" else every[:5]:
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
        if "admin" in str(operation.get("security")):
            continue  # the stack's first key is no key of an administrator
        body: dict[str, Any] = {"json": {}} if "requestBody" in operation else {}
        place = re.sub(r"\{\w+\}", ID, path)
        answer = WEB.request(method, f"{url_of(stack, service)}{place}?user_id=a&surprise=1", **body)
        assert answer.status_code == 422, (path, answer.text)
        assert (
            "not a parameter" in answer.text
            or "required" in answer.text
            or "not a known field" in answer.text
        )


@BOTH
def test_a_parameter_that_a_route_takes_once_is_refused_when_it_comes_again(
    stack: Running, service: str
) -> None:
    for method, path, operation in routes(stack, service):
        place = url_of(stack, service) + re.sub(r"\{\w+\}", ID, path)
        for each in operation.get("parameters", []):
            name, takes_several = each["name"], "array" in str(each["schema"])
            if method in ("GET", "DELETE") and each["in"] == "query" and not takes_several:
                refused(WEB.request(method, f"{place}?{name}=a&{name}=b"), 422, name)


def test_a_hook_and_the_tools_take_a_parameter_once(stack: Running) -> None:
    for path in ("hooks/claude-code", "../mcp/"):
        twice = f"{stack.read_url}/v1/{path}?user_id=a&timezone=UTC&timezone=Asia/Taipei"
        refused(WEB.post(twice, json={"hook_event_name": "Stop"}), 422, "timezone")


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


def test_names_and_pages_can_be_allowed() -> None:
    settings = Settings(
        database_url="postgresql://nobody@127.0.0.1:1/nothing", redis_url="redis://127.0.0.1:1/0", auth="off",
        allowed_hosts="read, *.svc.cluster.local", allowed_origins="https://app.example.com",
    )  # fmt: skip
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        for host in ("read:8701", "cardlog.team.svc.cluster.local"):
            assert client.get("/healthz", headers={"host": host}).status_code == 200
        for host in ("read.evil.example", "svc.cluster.local.evil.example", "svc.cluster.local"):
            refused(client.get("/healthz", headers={"host": host}), 421, "Host")
        page = {"origin": "https://app.example.com"}
        answer = client.get("/healthz", headers=page)
        assert answer.headers["access-control-allow-origin"] == page["origin"]
        assert answer.headers["access-control-expose-headers"] == "retry-after"
        sent = "authorization, content-type, idempotency-key"  # what the TypeScript client sends
        asked = {"access-control-request-method": "POST", "access-control-request-headers": sent}
        assert client.options("/v1/turns", headers=page | asked).status_code == 200


# Methods and paths


@BOTH
def test_a_wrong_method_names_the_right_ones_and_a_wrong_path_is_a_problem(
    stack: Running, service: str
) -> None:
    url = url_of(stack, service)
    every = routes(stack, service)
    for method, path, _ in every:
        known = {each.upper() for each, other, _ in every if other == path}
        wrong = next(each for each in ("PUT", "PATCH", "DELETE", "POST") if each not in known)
        answer = WEB.request(wrong, url + path)
        refused(answer, 405)
        assert method in answer.headers["allow"].split(", ")
    refused(WEB.get(f"{url}/v1/nothing"), 404)


# Time and connections


# Load
