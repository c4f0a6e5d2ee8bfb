"""A body that does not come costs nobody else a place."""

import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

from events.access import keys
from events.platform.database import connect
from tests.support.connections import connected, dripped, serving
from tests.support.web import WEB

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


@pytest.fixture(scope="module")
def patient() -> Iterator[str]:
    """A service that gives a whole body ten minutes, and takes ten connections."""
    with serving("write", NOTHING, CARDLOG_BODY_TIMEOUT_S="600", CARDLOG_MAX_CONNECTIONS="10") as url:
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
    answers = [WEB.get(f"{patient}/healthz"), WEB.post(f"{patient}/docs"), WEB.get(f"{patient}/nothing")]
    assert [each.headers.get("server") for each in answers] == [None] * 3
