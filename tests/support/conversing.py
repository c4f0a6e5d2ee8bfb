"""A log written by the test and the services that read it, in this process. The API tests share them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from fastapi import FastAPI
from psycopg_pool import ConnectionPool
from starlette.testclient import TestClient

from events.http.answering import add_routes
from events.http.service import install
from events.http.tokens import Keyring
from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from events.types.cards import CardOrigin, EventNoted, KnowledgeLearned, StateAsserted
from events.types.envelope import Payload
from ingest.api.command_routes import command_router
from ingest.api.transactions import Transactions
from retrieval.cards.past import fold_of
from retrieval.cards.reader import CardReader
from retrieval.http.card_routes import cards_router
from retrieval.pool import open_pool
from tests.support.projectors.folding import count, event, fold_live

START = datetime(2026, 1, 5, 9, tzinfo=UTC)  # a Monday


def day(number: float) -> datetime:
    """The morning of the day so many days after the start."""
    return START + timedelta(days=number)


def recorded(memory: Memory) -> str:
    """Returns the instant at which the last event was recorded."""
    row = memory.connection.execute("SELECT max(recorded_at) FROM log.events").fetchone()
    assert row is not None
    at: datetime = row[0]
    return at.isoformat()


def instant_after(instant: str) -> str:
    """The next instant there is."""
    return (datetime.fromisoformat(instant) + timedelta(microseconds=1)).isoformat()


@dataclass
class Memory:
    """One user's memory: it appends statements, folds them and reads them over HTTP."""

    database: str
    connection: Connection
    read: TestClient
    write: TestClient
    user: str = "alex"

    def of(self, user: str) -> Memory:
        return replace(self, user=user)

    def state(self, key: str, value: str, at: datetime, **more: Any) -> UUID:
        fields: dict[str, Any] = {
            "content": f"{key} is {value}", "entity": "user", "concept_key": key, "value": value, "tags": (),
            "cardinality": "single_value", "effective_at": at,
        }  # fmt: skip
        return self._say(StateAsserted, fields, at, more)

    def event(self, content: str, at: datetime, **more: Any) -> UUID:
        fields: dict[str, Any] = {"content": content, "entity": "user", "tags": (), "occurred_at": at}
        return self._say(EventNoted, fields, at, more)

    def knowledge(self, title: str, definition: str, at: datetime, **more: Any) -> UUID:
        fields: dict[str, Any] = {
            "content": f"{title} is {definition}", "title": title, "definition": definition, "tags": (),
        }  # fmt: skip
        return self._say(KnowledgeLearned, fields, at, more)

    def say(self, payload: Payload, at: datetime = START, actor: str = "test") -> UUID:
        said = event(payload, self.user, occurred_at=at, actor=actor)
        log.append(self.connection, [said])
        return said.event_id

    def fold(self) -> None:
        fold_live(self.database)

    def get(self, path: str, *, answers: int = 200, **query: Any) -> Any:
        answer = self.read.get(f"/v1/{path}", params={"user_id": self.user} | query)
        assert answer.status_code == answers, answer.text
        return answer.json()

    def post(self, path: str, *, answers: int = 202, **body: Any) -> Any:
        answer = self.write.post(f"/v1/{path}", json={"user_id": self.user} | body)
        assert answer.status_code == answers, answer.text
        return answer.json()

    def contents(self, **query: Any) -> list[str]:
        """Returns the contents of a slice's cards, in order, over all pages."""
        return [card["content"] for card in self.cards(**query)]

    def cards(self, **query: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        cursor: dict[str, Any] = {}
        while True:
            page = self.get("cards", **query, **cursor)
            found += page["cards"]
            if page["next_cursor"] is None:
                return found
            cursor = {"cursor": page["next_cursor"]}

    def _say(self, kind: Any, fields: dict[str, Any], at: datetime, more: dict[str, Any]) -> UUID:
        of_origin: dict[str, Any] = {
            name: more.pop(name)
            for name in ("project_id", "session_id", "agent_id", "document_id", "provenance", "speaker",
                         "context_layer", "turn_ids", "mode")
            if name in more
        }  # fmt: skip
        usual: dict[str, Any] = {
            "project_id": "default", "session_id": f"s-{at:%m%d}", "turn_ids": (f"t-{at:%m%d}",),
            "provenance": "user_stated",
        }  # fmt: skip
        origin = CardOrigin(**(usual | of_origin), said_at=more.pop("said_at", at), source_span=None)
        return self.say(kind(**(fields | more), origin=origin), at)


def link(from_card: object, to_card: object, predicate: str, reason: str) -> dict[str, Any]:
    """The body of a relation."""
    return {"from_card": str(from_card), "to_card": str(to_card), "predicate": predicate, "reason": reason}


def refused(memory: Memory, path: str, answers: int, field: str, **body: Any) -> dict[str, Any]:
    """Returns the problem that a command is answered with. The command appends nothing."""
    before = count(memory.connection, "log.events")
    problem: dict[str, Any] = memory.post(path, answers=answers, **body)
    assert (problem["status"], problem["field"]) == (answers, field)
    assert count(memory.connection, "log.events") == before
    return problem


@contextmanager
def remembering(database: str, connection: Connection) -> Iterator[Memory]:
    """A memory over a log, with the routes of both services."""
    settings = replace(Settings(), database_url=database)
    # A test asks one thing after the other, and each connection takes processor time.
    pool = open_pool(replace(settings, pool_size=2), "test read")
    appenders: ConnectionPool[Any] = ConnectionPool(
        database, min_size=0, max_size=2, open=False, kwargs={"autocommit": True}
    )
    with TestClient(_reading(pool, settings)) as read, TestClient(_writing(appenders)) as write:
        memory = Memory(database, connection, read, write)
        memory.fold()
        yield memory


def _reading(pool: Any, settings: Settings) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await pool.open(wait=True, timeout=30.0)
        yield
        await pool.close()

    reader = CardReader(pool, fold_of(settings))

    async def fresh(_token: str | None, _user: str) -> CardReader:
        return reader

    app = FastAPI(lifespan=lifespan)
    install(app)
    add_routes(app, cards_router(fresh))
    return app


def _writing(pool: ConnectionPool[Any]) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        pool.open()
        yield
        pool.close()

    app = FastAPI(lifespan=lifespan)
    install(app)
    add_routes(app, command_router(Transactions(pool, Keyring(Settings()))))
    return app
