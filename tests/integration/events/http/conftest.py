"""All three services with authentication on, over one database with two users' memories."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

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
from events.types.envelope import NewEvent, uuid7
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
from tests.support.projectors.folding import fold_live
from tests.support.waiting import PATIENT


@dataclass
class Services:
    """The services in this process, the owner's connection, and the ids of ada's cards."""

    connection: Connection
    write: TestClient
    read: TestClient
    embed: TestClient
    settings: Settings
    home: str
    dog: str
    job: str
    diary: str
    conflict: str
    to_accept: str
    to_refuse: str
    slip: str
    misheard: str
    erasure: str = ""
    relation: str = ""
    problem: str = ""
    thread: str = ""
    insight: str = ""
    webhook: str = ""
    run: str = ""
    concept: str = ""
    other_concept: str = ""
    left_out: str = ""
    to_approve: str = ""
    to_decline: str = ""
    people: Sequence[str] = ""
    to_retry: str = ""
    to_drop: str = ""

    def client(self, service: str) -> TestClient:
        return {"write": self.write, "read": self.read, "embed": self.embed}[service]

    def key(self, **rights: Any) -> dict[str, str]:
        """The header with a new key."""
        _, text = keys.create(self.connection, **({"name": "test", "scopes": SCOPES} | rights))
        return {"Authorization": f"Bearer {text}"}


def _asked_for(item: str) -> ReferenceProposed:
    name = ReferenceName(kind="todo_list", key="pantry")
    op = {"op": "add", "text": item}
    return ReferenceProposed(name=name, op=op, confidence=0.8, quote=f"add {item}", turn_ids=("a turn",))


def _kept_things(services: Services) -> tuple[str, str]:
    """Makes ada's list, team, turns and problem. Returns the ids of the erasure of a turn and of the problem."""
    for turn_id, text in (("a turn", "Mia is my sister."), ("another turn", "I met Noor.")):
        turn = TurnRecorded(
            turn_id=turn_id, text=text, role="user", said_at=day(8), timezone="UTC", session_id="s",
            project_id="default",
        )  # fmt: skip
        log.append(services.connection, [recorded_event("ada", turn)])
    key, ada = services.key(), {"user_id": "ada"}
    made = services.write.post("/v1/references/todo_list", json=ada | {"key": "baking"}, headers=key)
    assert made.status_code == 201, made.text
    for member in ("ada", "zoequill"):
        added = services.write.put(f"/v1/teams/kitchen/members/{member}", json=ada, headers=key)
        assert added.status_code == 200, added.text
    for mode in ("journal", "sketches", "scraps"):
        declared = services.write.put(f"/v1/modes/{mode}", json=ada, headers=key)
        assert declared.status_code == 200, declared.text
    erased = services.write.delete("/v1/turns/another turn", params=ada, headers=key)
    assert erased.status_code == 200, erased.text
    trouble = {"description": "waking before dawn"}
    opened = services.write.post("/v1/memory/ada/problems", json=trouble, headers=key)
    assert opened.status_code == 201, opened.text
    return erased.json()["erasure_id"], opened.json()["problem_id"]


def _run(connection: Connection) -> str:
    """Appends a run of the curator that added nothing. Returns its id."""
    ran = NewEvent(
        event_id=uuid7(), user_id="ada", stream=STREAM, payload=CuratorRan(position=1), occurred_at=day(9), actor=ACTOR
    )  # fmt: skip
    log.append(connection, [ran])
    return str(ran.event_id)


def _insight(connection: Connection, source: UUID) -> str:
    """Appends an insight of ada. Returns its id."""
    derived = InsightDerived(
        content="waking before dawn", kind="pattern", theme="dawn",
        project_id="default", sources=(source,), reason="often",
    )  # fmt: skip
    event = NewEvent(
        event_id=uuid7(), user_id="ada", stream=INSIGHTS, payload=derived, occurred_at=day(9), actor=ACTOR
    )
    log.append(connection, [event])
    return str(event.event_id)


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


def _people(services: Services) -> tuple[str, ...]:
    """Notes six people of ada, of whom the first two are one. Returns their ids."""
    ids = []
    for kinship in ("sister", "brother", "aunt", "uncle", "boss", "coach"):
        noted = {"user_id": "ada", "name": "Mia", "kinship": kinship}
        answer = services.write.post("/v1/people", json=noted, headers=services.key())
        assert answer.status_code == 201, answer.text
        ids.append(answer.json()["person_id"])
    merged = {"user_id": "ada", "into_id": ids[1]}
    answer = services.write.post(f"/v1/people/{ids[0]}/merge", json=merged, headers=services.key())
    assert answer.status_code == 200, answer.text
    return tuple(ids)


def _relation(services: Services) -> str:
    """Relates two of ada's cards, and returns the id of the relation."""
    link = {
        "from_card": services.dog,
        "to_card": services.diary,
        "predicate": "related_to",
        "reason": "asked her",
    }
    made = services.write.post("/v1/relations", json={"user_id": "ada"} | link, headers=services.key())
    assert made.status_code == 202, made.text
    return str(made.json()["event_id"])


def _concepts(services: Services) -> tuple[str, str]:
    """Makes two concepts and a saved session of ada's. Returns the ids of the concepts."""
    made = [
        services.write.post(
            "/v1/concepts",
            json={"user_id": "ada", "title": title, "definition": "rye flour"},
            headers=services.key(),
        )
        for title in ("sourdough", "levain")
    ]
    assert [each.status_code for each in made] == [202, 202], made[0].text
    state = {"step": "waking before dawn"}
    saved = services.write.post(
        "/v1/sessions/a talk/checkpoint", json={"user_id": "ada", "state": state}, headers=services.key()
    )
    assert saved.status_code == 202, saved.text
    return made[0].json()["event_id"], made[1].json()["event_id"]


def _kept_document(services: Services) -> list[str]:
    """Patches ada's document. Returns a change that is left out, and two patches that wait."""
    key = services.key()

    def send(what: str, **body: Any) -> Any:
        return services.write.post(f"/v1/memory/ada/{what}", json=body, headers=key).json()

    def patch(path: str, value: str, *before: dict[str, str]) -> Any:
        return send("events", patch=[*before, {"op": "add", "path": path, "value": value}], actor="user")

    for number in (1, 2, 3):
        patch(f"/uncategorized/orchid_note_{number}", "rye flour")
        patch(f"/uncategorized/fern_note_{number}", "rye flour")
    send("schema/promote", candidate="fern", proposed_name="ferns")
    patch("/profile/name", "Ada")
    changed = patch("/profile/age", "36")["event_id"]
    send("rollback", event_ids=[changed])
    wrong = {"op": "test", "path": "/profile/name", "value": "Eve"}
    waiting = [patch("/profile/gender", name, wrong)["queue_id"] for name in ("one", "two")]
    return [changed, *waiting]


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
        with (
            _sealing(),
            connect(database, application="test") as connection,
            TestClient(
                write_app(
                    settings,
                    documents=lambda: documents_of(settings),
                    planner=ModePlanner(settings),
                )
            ) as write,
            TestClient(read_app(settings)) as read,
            TestClient(embed_app(settings)) as embed,
        ):
            memory = Memory(database, connection, read, write, user="ada")
            home = memory.state("residence", "Porto", day(0))
            dog = memory.event("Ada walked the dog", day(1))
            job = memory.state("job", "baker", day(2), project_id="work")
            diary = memory.event("Ada slept badly and walked", day(3), mode="journal")
            for number, city in enumerate(("Lisbon", "Bern", "Oslo", "Rome")):
                memory.state("hometown", city, day(4 + number), content=f"Ada moved to {city}")
            slip, misheard = (
                memory.state("allergy", food, day(8), cardinality="multi_value") for food in ("nuts", "plums")
            )
            other = memory.of(storage_id("elsewhere", "bea"))
            other.state("residence", "Quito", day(0))
            memory.fold()
            first, second = (str(memory.say(_asked_for(item), day(9))) for item in ("rye flour", "yeast"))
            fold_live(database, ReferencesProjector())
            row = connection.execute(
                "SELECT arbitration_id FROM cards.arbitrations WHERE user_id = 'ada'"
            ).fetchone()
            assert row is not None
            ids = map(str, (home, dog, job, diary, row[0], first, second, slip, misheard))
            made = Services(connection, write, read, embed, settings, *ids)
            erasure, problem = _kept_things(made)
            relation = _relation(made)
            opened = made.write.post(
                "/v1/threads", json={"user_id": "ada", "title": "sleep"}, headers=made.key()
            )
            assert opened.status_code == 201, opened.text
            hook = {"user_id": "ada", "url": "https://example.com/", "types": ["TurnRecorded"]}
            hooked = made.write.post("/v1/webhooks", json=hook, headers=made.key())
            assert hooked.status_code == 201, hooked.text
            concept, other_concept = _concepts(made)
            memory.fold()
            left_out, to_approve, to_decline = _kept_document(made)
            yield replace(
                made,
                erasure=erasure,
                relation=relation,
                problem=problem,
                thread=opened.json()["thread_id"],
                insight=_insight(connection, dog),
                webhook=hooked.json()["webhook_id"],
                run=_run(connection),
                concept=concept,
                other_concept=other_concept,
                left_out=left_out,
                to_approve=to_approve,
                to_decline=to_decline,
                people=_people(made),
                to_retry=_dead_letter(settings),
                to_drop=_dead_letter(settings),
            )
