"""Both services over one database, to write and read core documents."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from events.platform.database import Connection, connect
from events.store import log
from events.types.cards import StateAsserted
from events.types.envelope import NewEvent
from ingest.api.write_api import create_app as write_app
from projectors.core.documents import documents_of
from projectors.core.projector import CoreProjector
from retrieval.http.read_api import create_app as read_app
from tests.support.conversing import day
from tests.support.databases import copied
from tests.support.projectors.folding import ORIGIN, event, fold_live, settings_of
from tests.support.waiting import PATIENT


@dataclass
class Documents:
    """The document of one user over HTTP, and the log under it."""

    database: str
    connection: Connection
    write: TestClient
    read: TestClient
    user: str = "ada"

    def of(self, user: str) -> Documents:
        return replace(self, user=user)

    def send(self, what: str, body: dict[str, Any], **headers: str) -> Any:
        """Posts JSON in which lone surrogates and NUL stand as escapes, as a program could write them."""
        return self.write.post(
            f"/v1/memory/{self.user}/{what}",
            content=json.dumps(body).encode(),
            headers={"content-type": "application/json"} | headers,
        )

    def patch(self, *ops: dict[str, Any], actor: str = "user", **more: Any) -> dict[str, Any]:
        """Applies a patch. Returns the answer, which must be 200."""
        return self.done(self.send("events", {"patch": list(ops), "actor": actor, **more}))

    def refused(
        self, *ops: dict[str, Any], status: int = 409, actor: str = "user", **more: Any
    ) -> dict[str, Any]:
        """Sends a patch that is refused. Returns the problem. The document must be as before."""
        before = self.get().text
        answer = self.send("events", {"patch": list(ops), "actor": actor, **more})
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), (
            answer.text
        )
        assert self.get().text == before
        problem: dict[str, Any] = answer.json()
        return problem

    def done(self, answer: Any) -> dict[str, Any]:
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def get(self, what: str = "", **query: Any) -> Any:
        return self.read.get(f"/v1/memory/{self.user}{what}", params=query)

    def document(self, **query: Any) -> Any:
        return self.done(self.get(**query))["document"]

    def value(self, path: str, **query: Any) -> Any:
        [found] = self.done(self.get(paths=path, **query))["snippets"]
        return found["value"]

    def version(self) -> int:
        version: int = self.done(self.get())["version"]
        return version

    def state(self, key: str, value: str, at: float = 0, **more: Any) -> NewEvent:
        """Says a state on the day ``at``. Returns its event."""
        said_at = day(at)
        origin = replace(
            ORIGIN, said_at=said_at, turn_ids=(f"turn {at} {key} {value}",), **more.pop("origin", {})
        )
        fields: dict[str, Any] = {
            "content": f"{key} is {value}", "entity": "user", "concept_key": key, "value": value, "tags": (),
            "cardinality": "single_value", "effective_at": said_at, "origin": origin,
        } | more  # fmt: skip
        said = replace(event(StateAsserted(**fields), self.user), occurred_at=said_at)
        self.say(said)
        return said

    def say(self, *events: NewEvent) -> None:
        log.append(self.connection, list(events))

    def fold(self) -> None:
        fold_live(self.database, CoreProjector())


@contextmanager
def documents(database: str, redis_url: str, connection: Connection) -> Iterator[Documents]:
    """Yields the documents of a database. The services ask for no key."""
    settings = settings_of(database, redis_url=redis_url, **PATIENT)
    with (
        TestClient(
            write_app(settings, documents=lambda: documents_of(settings)), base_url="http://localhost"
        ) as write,
        TestClient(read_app(settings), base_url="http://localhost") as read,
    ):
        yield Documents(database, connection, write, read)


@pytest.fixture(scope="package")
def services(postgres_url: str, redis_url: str, template: str) -> Iterator[Documents]:
    """The services of a package of tests, once for all of them. Each test has users of its own."""
    with (
        copied(postgres_url, template) as database,
        connect(database, application="test") as connection,
        documents(database, redis_url, connection) as found,
    ):
        yield found


@pytest.fixture
def ada(services: Documents) -> Documents:
    """A user of the test's own."""
    return services.of(f"user {uuid.uuid4()}")


def add(path: str, value: Any) -> dict[str, Any]:
    return {"op": "add", "path": path, "value": value}


def replaced(path: str, value: Any) -> dict[str, Any]:
    return {"op": "replace", "path": path, "value": value}


def remove(path: str) -> dict[str, Any]:
    return {"op": "remove", "path": path}


def test_of(path: str, value: Any) -> dict[str, Any]:
    return {"op": "test", "path": path, "value": value}


test_of.__test__ = False  # type: ignore[attr-defined]
