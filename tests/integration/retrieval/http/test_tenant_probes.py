"""Users of many tenants with the same names: no question about a foreign thing is answered in another way than "no"."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from events.access.principal import Principal
from events.http.tokens import Sealer
from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.store import log
from events.types.envelope import NewEvent, uuid7
from events.types.tenancy import storage_id, tenant_of, user_of
from projectors.embedding.embedder import HashEmbedder
from projectors.embedding.embedders import Embedders
from projectors.vectors.projector import VectorsProjector
from retrieval.http.read_api import create_app
from tests.support.conversing import Memory, day, remembering
from tests.support.databases import copied
from tests.support.events.principals import As
from tests.support.projectors.folding import fold_live
from tests.support.roles import roles_for
from tests.support.waiting import PATIENT

TENANTS = ["default", *(f"tenant-{number}" for number in range(1, 4))]
NAMES = [f"user-{number}" for number in range(3)]
PROBES = 150
NO_ID = UUID(int=0)
SECRET = "the key of tokens in this test"


@dataclass
class Somebody:
    """A user of one tenant. ``mark`` is a word that only this user said."""

    user_id: str
    mark: str
    cards: list[UUID] = field(default_factory=list)
    arbitration: UUID = NO_ID


@dataclass
class World:
    """All users, and clients of both services, which use the roles of reader and curator."""

    read: TestClient
    commands: TestClient
    asking: tuple[As, As]
    people: list[Somebody]


@pytest.fixture(scope="module")
def world(postgres_url: str, template: str) -> Iterator[World]:
    with copied(postgres_url, template) as database, connect(database, application="test") as connection:
        yield from opened(database, connection)


def opened(database: str, connection: Connection) -> Iterator[World]:
    people = [
        Somebody(storage_id(tenant, name), f"mark{number}x{place}")
        for number, tenant in enumerate(TENANTS)
        for place, name in enumerate(NAMES)
    ]
    said: list[Any] = []
    writer = _Collecting(database, connection, None, None, said=said)  # type: ignore[arg-type]
    for somebody in people:
        of = replace(writer, user=somebody.user_id)
        of.state("residence", f"Rome {somebody.mark}", day(0))
        somebody.arbitration = of.state("residence", f"Milan {somebody.mark}", day(90))
        somebody.cards = [
            somebody.arbitration,
            of.event(f"went to see {somebody.mark} {somebody.mark}s", day(3), document_id=somebody.mark),
            of.knowledge(somebody.mark, "a word", day(4)),
        ]
    log.append(connection, said)
    fold_live(database, batch=2000)
    fold_live(database, VectorsProjector(Embedders(HashEmbedder)), batch=2000)
    with roles_for(database, ("reader",), ("curator",)) as (reader, curator), ExitStack() as stack:
        settings = replace(
            Settings(), database_url=reader, redis_url="", token_key=SECRET, wait_for_ms=50,
            **PATIENT,
        )  # fmt: skip
        asking = [As(create_app(settings))]

        def commanding(app: ASGIApp) -> As:
            asking.append(As(app))
            return asking[-1]

        read = stack.enter_context(TestClient(asking[0]))
        memory = stack.enter_context(remembering(database, connection, writing_as=curator, asking=commanding))
        yield World(read, memory.write, (asking[0], asking[1]), people)


@dataclass
class _Collecting(Memory):
    """A memory that collects its events, so that all are appended together."""

    said: list[Any] = field(default_factory=list)

    def say(self, payload: Any, at: Any = None, actor: str = "test") -> UUID:
        event = NewEvent(
            event_id=uuid7(), user_id=self.user, stream="s", payload=payload, occurred_at=at, actor=actor
        )
        self.said.append(event)
        return event.event_id


Asked = tuple[str, str, dict[str, Any]]
"""Method, path and parameters of a request."""


def probes(asker: Somebody, victim: Somebody, chance: random.Random) -> dict[str, Asked]:
    """Requests of ``asker`` that name a thing of ``victim``, by kind."""
    card, user = chance.choice(victim.cards), {"user_id": asker.user_id}
    token = Sealer(SECRET.encode()).seal({victim.user_id: f"turn of {victim.mark}"})
    return {
        **{
            f"GET {path}": ("GET", f"cards/{card}{path}", user)
            for path in ("", "/history", "/relations", "/latest")
        },
        "arbitration": ("GET", f"arbitrations/{victim.arbitration}", user),
        "list": ("GET", "cards", {**user, "document_id": victim.mark}),
        "about": ("GET", "cards", {**user, "about": victim.mark}),
        "value": ("GET", "cards", {**user, "value": f"rome {victim.mark}"}),
        "related": ("GET", "cards", {**user, "related_to": str(card)}),
        "aggregate": (
            "GET",
            "cards/aggregate",
            {**user, "group_by": "tags,kind", "document_id": victim.mark},
        ),
        "wait": ("GET", "cards", {**user, "document_id": victim.mark, "wait_for": token}),
        "verdict": ("POST", f"arbitrations/{victim.arbitration}/verdict", {**user, "verdict": "keep_old"}),
        "verify": ("POST", f"cards/{card}/verify", user),
        "relate": (
            "POST",
            "relations",
            {
                **user,
                "from_card": str(asker.cards[0]),
                "to_card": str(card),
                "predicate": "expands",
                "reason": "probe",
            },
        ),
    }


def answer(world: World, asked: Asked) -> tuple[int, str]:
    method, path, parameters = asked
    asker = parameters["user_id"]
    parameters = {**parameters, "user_id": user_of(asker)}
    for app in world.asking:
        app.principal = Principal(tenant=tenant_of(asker))
    if method == "GET":
        found = world.read.get(f"/v1/{path}", params=parameters)
    else:
        client = world.read if path in ("recall", "context") else world.commands
        found = client.post(f"/v1/{path}", json=parameters)
    return found.status_code, found.text


def test_no_probe_learns_anything_of_another_tenant(world: World) -> None:
    chance = random.Random(16)
    nobody = Somebody("nobody", "mark0y0", [uuid4()], uuid4())
    differing: Counter[str] = Counter()
    leaks: list[tuple[str, str]] = []
    known: dict[tuple[str, str], tuple[int, str]] = {}
    kinds: Counter[str] = Counter()
    for _ in range(PROBES):
        asker = chance.choice(world.people)
        others = [each for each in world.people if tenant_of(each.user_id) != tenant_of(asker.user_id)]
        victim = chance.choice(others)
        asked = probes(asker, victim, chance)
        kind = chance.choice(sorted(asked))
        kinds[kind] += 1
        status, body = answer(world, asked[kind])
        if (asker.user_id, kind) not in known:
            known[asker.user_id, kind] = answer(world, probes(asker, nobody, chance)[kind])
        if victim.mark in body or str(victim.arbitration) in body:
            leaks.append((kind, body))
        if (status, body) != known[asker.user_id, kind]:
            differing[kind] += 1
    assert len(kinds) == 14
    assert leaks == []
    assert not differing, differing


def test_recall_finds_only_what_the_own_namesake_said(world: World) -> None:
    chance = random.Random(7)
    for asker in chance.sample(world.people, 6):
        namesakes = [
            other
            for other in world.people
            if other.user_id.endswith(asker.user_id[-6:]) and other is not asker
        ]
        victim = chance.choice(namesakes)
        for path in ("recall", "context"):
            body = {"user_id": asker.user_id, "query": f"who went to see {victim.mark} in Rome?"}
            status, text = answer(world, ("POST", path, body))
            assert status == 200
            assert asker.mark in text
            assert [
                other.user_id for other in world.people if other is not asker and f"{other.mark} " in text
            ] == []
            assert victim.mark not in text.replace(body["query"], "")


def test_the_own_things_are_found(world: World) -> None:
    """The probes above would find things: the same requests about oneself succeed."""
    asker = world.people[7]
    for kind, asked in probes(asker, asker, random.Random(1)).items():
        status, body = answer(world, asked)
        if kind not in ("relate", "wait", "related"):
            assert status in (200, 202), (kind, body)
            assert kind in ("verdict", "verify", "aggregate") or asker.mark in body, (kind, body)
