"""Services with settings of their own, and raw connections to them."""

import select
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx2

from tests.support.stack import COMMAND, WITHOUT_MODEL, clean_environment
from tests.support.waiting import eventually
from tests.support.web import WEB


def refused(answer: httpx2.Response, status: int, field: str | None = None) -> None:
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), (
        answer.text
    )
    problem = answer.json()
    assert problem["status"] == status
    assert problem["detail"]
    assert problem.get("field") == field


@contextmanager
def serving(service: str, redis_url: str, **settings: str) -> Iterator[str]:
    """A service with settings of its own, while Postgres is away. It asks for no key."""
    command = [*COMMAND, "serve", service, "--fd"]
    with served(
        lambda listener: [*command, str(listener)], **{"CARDLOG_REDIS_URL": redis_url} | settings
    ) as url:
        yield url


@contextmanager
def served(command_of: Callable[[int], Sequence[str]], **settings: str) -> Iterator[str]:
    """The same of any program. ``command_of`` takes the number of the listening socket."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(512)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        process = subprocess.Popen(
            command_of(listening.fileno()),
            pass_fds=[listening.fileno()],
            env=clean_environment()
            | WITHOUT_MODEL
            | {
                "CARDLOG_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing",
                "CARDLOG_AUTH": "off",
            }
            | settings,
        )
    try:
        eventually(lambda: process.poll() is not None or healthy(url))
        assert process.poll() is None, "the service ended"
        yield url
    finally:
        process.terminate()
        process.wait(240)


def healthy(url: str) -> bool:
    try:
        return WEB.get(f"{url}/healthz").status_code == 200
    except httpx2.TransportError:
        return False


@contextmanager
def connected(url: str) -> Iterator[socket.socket]:
    with socket.create_connection((urlsplit(url).hostname, urlsplit(url).port), timeout=60) as connection:
        yield connection


def rest_of(connection: socket.socket) -> bytes:
    """Returns the bytes that arrive until the other side closes."""
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


def dripped(url: str, start: bytes, drop: bytes) -> bytes:
    """Sends ``start`` and then drops until the other side ends it. Returns the beginning of its answer.

    Nothing is left of an answer where a drop came after the end.
    """
    with connected(url) as connection:
        try:
            connection.sendall(start)
            while not select.select([connection], [], [], 0.05)[0]:
                connection.sendall(drop)
            return rest_of(connection)[:12]
        except OSError:
            return b""
