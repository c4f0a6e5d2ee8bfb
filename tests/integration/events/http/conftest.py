"""All three services with authentication on, over one database with two users' memories."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from events.access import keys
from events.access.principal import SCOPES
from events.platform.database import Connection, connect
from events.platform.key_file import new_key
from events.platform.settings import Settings
from events.platform.streams import connect_redis
from events.sealing import sealer as sealing
from events.sealing.key_encryption import LocalKeyEncryption
from events.sealing.sealer import Sealer
from events.store import log
from events.types.curation import ACTOR, STREAM, CuratorRan
from events.types.envelope import Payload
from events.types.insights import STREAM as INSIGHTS
from events.types.insights import InsightDerived
from events.types.references import ReferenceName, ReferenceProposed
from events.types.tenancy import storage_id
from events.types.turns import TurnRecorded
from ingest.api.write_api import create_app as write_app
from ingest.recording.recorder import recorded_event
from projectors.core.documents import documents_of
from projectors.rebuild.reembedding import ModePlanner
from projectors.references import ReferencesProjector
from retrieval.http.embed_api import create_app as embed_app
from retrieval.http.read_api import create_app as read_app
from tests.support.conversing import Memory, day
from tests.support.databases import copied
from tests.support.projectors.folding import event, fold_live
from tests.support.waiting import PATIENT


@dataclass
class Services:
    """The services in this process, the owner's connection, and the ids of ada's things by the names of the tests."""

    connection: Connection
    write: TestClient
    read: TestClient
    embed: TestClient
    settings: Settings
    ids: dict[str, str]

    def client(self, service: str) -> TestClient:
        return {"write": self.write, "read": self.read, "embed": self.embed}[service]

    def key(self, **rights: Any) -> dict[str, str]:
        """The header with a new key."""
        _, text = keys.create(self.connection, **({"name": "test", "scopes": SCOPES} | rights))
        return {"Authorization": f"Bearer {text}"}

    def make(self, path: str, *, method: str = "POST", **body: Any) -> Any:
        """Sends a command of ada to the write service. Returns what it answers."""
        sent: dict[str, Any] = {"json": {"user_id": "ada"} | body}
        if method == "DELETE":
            sent = {"params": {"user_id": "ada"}}
        elif path.startswith("memory/ada"):
            sent = {"json": body}
        answer = self.write.request(method, f"/v1/{path}", headers=self.key(), **sent)
        assert answer.is_success, answer.text
        return answer.json()

    def append(self, payload: Payload, stream: str) -> str:
        """Appends an event of the curator about ada. Returns its id."""
        made = event(payload, "ada", stream=stream, occurred_at=day(9), actor=ACTOR)
        log.append(self.connection, [made])
        return str(made.event_id)


def _asked_for(item: str) -> ReferenceProposed:
    name = ReferenceName(kind="todo_list", key="pantry")
    op = {"op": "add", "text": item}
    return ReferenceProposed(name=name, op=op, confidence=0.8, quote=f"add {item}", turn_ids=("a turn",))


def _commanded(services: Services) -> dict[str, str]:
    """Makes ada's turns, list, team, modes, concepts, people and the rest by commands. Returns their ids."""
    dawn, make = "waking before dawn", services.make
    for turn_id, text in (("a turn", "Mia is my sister."), ("another turn", "I met Noor.")):
        turn = TurnRecorded(
            turn_id=turn_id, text=text, role="user", said_at=day(8), timezone="UTC", session_id="s",
            project_id="default",
        )  # fmt: skip
        log.append(services.connection, [recorded_event("ada", turn)])
    make("references/todo_list", key="baking")
    for member in ("ada", "zoequill"):
        make(f"teams/kitchen/members/{member}", method="PUT")
    for mode in ("journal", "sketches", "scraps"):
        make(f"modes/{mode}", method="PUT")
    make("sessions/a talk/checkpoint", state={"step": dawn})
    link = {"from_card": services.ids["dog"], "to_card": services.ids["diary"], "predicate": "related_to"}
    concept, other = (
        make("concepts", title=title, definition="rye flour")["event_id"] for title in ("sourdough", "levain")
    )
    people = {
        kinship: make("people", name="Mia", kinship=kinship)["person_id"]
        for kinship in ("sister", "brother", "aunt", "uncle", "boss", "coach")
    }
    make(f"people/{people['sister']}/merge", into_id=people["brother"])
    hook = make("webhooks", url="https://example.com/", types=["TurnRecorded"])
    return people | {
        "erasure": make("turns/another turn", method="DELETE")["erasure_id"],
        "problem": make("memory/ada/problems", description=dawn)["problem_id"],
        "relation": make("relations", **link, reason="asked her")["event_id"],
        "thread": make("threads", title="sleep")["thread_id"],
        "webhook": hook["webhook_id"],
        "concept": concept,
        "other concept": other,
    }


def _dead_letter(settings: Settings) -> str:
    """Puts a turn of ada's, which breaks no contract any more, among the dead letters. Returns its id."""
    letter: dict[Any, Any] = {
        "field": "timezone",
        "reason": "a test",
        "field:user_id": "ada",
        "field:text": "waking before dawn",
    }
    client = connect_redis(settings.redis_url, socket_timeout=5, socket_connect_timeout=5)
    entry: Any = client.xadd(f"{settings.turns_stream}:dead", letter)
    return str(entry.decode())


def _documented(services: Services) -> dict[str, str]:
    """Patches ada's document. Returns the ids of a change that is left out, and of two patches that wait."""

    def patch(path: str, value: str, *before: dict[str, str]) -> Any:
        ops = [*before, {"op": "add", "path": path, "value": value}]
        body = {"patch": ops, "actor": "user"}
        return services.write.post("/v1/memory/ada/events", json=body, headers=services.key()).json()

    for number in (1, 2, 3):
        patch(f"/uncategorized/orchid_note_{number}", "rye flour")
        patch(f"/uncategorized/fern_note_{number}", "rye flour")
    services.make("memory/ada/schema/promote", candidate="fern", proposed_name="ferns")
    patch("/profile/name", "Ada")
    changed = patch("/profile/age", "36")["event_id"]
    services.make("memory/ada/rollback", event_ids=[changed])
    wrong = {"op": "test", "path": "/profile/name", "value": "Eve"}
    approved, declined = (patch("/profile/gender", name, wrong)["queue_id"] for name in ("one", "two"))
    return {"left out": changed, "to approve": approved, "to decline": declined}


@contextmanager
def _sealing() -> Iterator[None]:
    sealing.use(Sealer(LocalKeyEncryption([new_key()])))
    try:
        yield
    finally:
        sealing.use(None)


@pytest.fixture(scope="module")
def services(postgres_url: str, redis_url: str, template: str) -> Iterator[Services]:
    with copied(postgres_url, template) as database:
        settings = replace(
            Settings(), database_url=database, redis_url=redis_url, wait_for_ms=50, turn_events_s=1,
            **PATIENT | {"auth": "on"},
        )  # fmt: skip
        written = write_app(settings, documents=lambda: documents_of(settings), planner=ModePlanner(settings))
        with (
            _sealing(),
            connect(database, application="test") as connection,
            TestClient(written) as write,
            TestClient(read_app(settings)) as read,
            TestClient(embed_app(settings)) as embed,
        ):
            memory = Memory(database, connection, read, write, user="ada")
            ids = {
                "home": memory.state("residence", "Porto", day(0)),
                "dog": memory.event("Ada walked the dog", day(1)),
                "job": memory.state("job", "baker", day(2), project_id="work"),
                "diary": memory.event("Ada slept badly and walked", day(3), mode="journal"),
            }
            for number, city in enumerate(("Lisbon", "Bern", "Oslo", "Rome")):
                memory.state("hometown", city, day(4 + number), content=f"Ada moved to {city}")
            for name, food in (("slip", "nuts"), ("misheard", "plums")):
                ids[name] = memory.state("allergy", food, day(8), cardinality="multi_value")
            memory.of(storage_id("elsewhere", "bea")).state("residence", "Quito", day(0))
            memory.fold()
            for name, item in (("to accept", "rye flour"), ("to refuse", "yeast")):
                ids[name] = memory.say(_asked_for(item), day(9))
            fold_live(database, ReferencesProjector())
            [(ids["conflict"],)] = connection.execute(
                "SELECT arbitration_id FROM cards.arbitrations WHERE user_id = 'ada' LIMIT 1"
            ).fetchall()
            made = Services(connection, write, read, embed, settings, {name: str(ids[name]) for name in ids})
            made.ids |= _commanded(made)
            memory.fold()
            made.ids |= _documented(made)
            derived = InsightDerived(
                content="waking before dawn", kind="pattern", theme="dawn",
                project_id="default", sources=(ids["dog"],), reason="often",
            )  # fmt: skip
            made.ids |= {
                "insight": made.append(derived, INSIGHTS),
                "run": made.append(CuratorRan(position=1), STREAM),
                "to retry": _dead_letter(settings),
                "to drop": _dead_letter(settings),
            }
            yield made
