"""A user's mode gets new vectors: recall answers by the old ones until one swap, whatever happens to the worker."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from events.platform.database import Connection
from events.store import log
from ingest.api.write_api import create_app as write_app
from projectors.embedding.embedder import EmbedderUnavailableError, HashEmbedder, Vectors
from projectors.embedding.embedders import Embedders, dimension_of, embedders_of
from projectors.generations.generations import ensure_live
from projectors.rebuild.reembedding import ModePlanner
from projectors.runner import Runner
from projectors.vectors.projector import VectorsProjector
from retrieval.http.read_api import create_app as read_app
from tests.support.projectors.folding import NOW, apart, fold_live, rebuild, settings_of
from tests.support.retrieval.channels import noted
from tests.support.waiting import PATIENT, eventually

CARDS = 150  # more than two pages


class Memory:
    """The memory of ada, with both services. Her mode code had the model hash."""

    def __init__(self, database: str, redis_url: str, connection: Connection, write: Any, read: Any) -> None:
        self.settings = settings_of(database, redis_url=redis_url, **PATIENT)
        self.connection = connection
        self.write = write
        self.read = read
        assert self.put("code", embedder="hash").status_code == 200

    def put(self, name: str, **fields: Any) -> Any:
        return self.write.put(f"/v1/modes/{name}", json={"user_id": "ada", **fields})

    def reembed(self, name: str = "code", **fields: Any) -> Any:
        return self.write.post(f"/v1/modes/{name}/reembed", json={"user_id": "ada", **fields})

    def progress(self, name: str = "code", **more: str) -> dict[str, Any]:
        answer = self.read.get(f"/v1/modes/{name}/reembed", params={"user_id": "ada", **more})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def say(self, texts: Sequence[str], mode: str | None = "code", **more: Any) -> None:
        said = [noted(text, mode=mode) for text in texts]
        log.append(
            self.connection,
            [apart(replace(each, origin=replace(each.origin, **more)), "ada") for each in said],
        )
        fold_live(self.settings.database_url)

    def fold(self) -> None:
        fold_live(self.settings.database_url, VectorsProjector(embedders_of(self.settings)))

    def runner(self, embedders: Embedders | None = None) -> Runner:
        """Returns a new worker, as after a kill."""
        projector = VectorsProjector(embedders or embedders_of(self.settings))
        ensure_live(self.connection, projector)
        return Runner(settings_of(self.settings.database_url), projector, lambda: False)

    def models(self) -> dict[str, int]:
        rows = self.connection.execute(
            "SELECT model, count(*) FROM (SELECT model FROM vectors.card_vectors_384 UNION ALL "
            "SELECT model FROM vectors.card_vectors_768 UNION ALL SELECT model FROM vectors.card_vectors_1024) v "
            "GROUP BY model"
        )
        return dict(rows.fetchall())

    def by_meaning(self, query: str, **more: Any) -> list[str]:
        body = {
            "user_id": "ada",
            "query": query,
            "as_of": NOW.isoformat(),
            "project_id": "*",
            "k": 50,
            **more,
        }
        answer = self.read.post("/v1/recall", json=body)
        assert answer.status_code == 200, answer.text
        assert answer.json()["channels"]["semantic"]["status"] == "ok", answer.text
        return sorted(each["content"] for each in answer.json()["cards"] if "semantic" in each["channels"])


@pytest.fixture
def memory(database: str, redis_url: str, connection: Connection) -> Iterator[Memory]:
    settings = settings_of(database, redis_url=redis_url, **PATIENT)
    write = write_app(
        settings, dimension_of=lambda model: dimension_of(settings, model), planner=ModePlanner(settings)
    )
    with (
        TestClient(write, base_url="http://localhost") as writes,
        TestClient(read_app(settings), base_url="http://localhost") as reads,
    ):
        yield Memory(database, redis_url, connection, writes, reads)


def test_a_mode_of_a_project_is_not_found_without_the_project(memory: Memory) -> None:
    memory.put("trips", project_id="shop")
    answer = memory.reembed("trips", dry_run=True)
    assert (answer.status_code, answer.json()["field"]) == (404, "project_id")
    assert "a project that has this mode, such as shop" in answer.json()["detail"]
    assert memory.reembed("trips", project_id="shop", dry_run=True).status_code == 200
    assert memory.reembed("ships", dry_run=True).json()["field"] == "name"


def test_the_cost_is_said_and_the_old_vectors_answer_until_one_swap(memory: Memory) -> None:
    memory.say([f"The harbour class number {number} closes a socket" for number in range(CARDS)])
    memory.say(["The harbour was closed"], None)
    memory.fold()
    assert memory.reembed().json()["state"] == "unneeded"
    memory.put("code", embedder="hash-768")
    plan = memory.reembed(dry_run=True)
    assert plan.status_code == 200
    told = plan.json()
    assert (told["state"], told["embedder"], told["cards"], told["other"]) == (
        "planned",
        "hash-768",
        CARDS,
        CARDS,
    )
    assert (told["model_calls"], told["texts_per_s"] > 0, told["reembedding_id"]) == (0, True, None)
    assert memory.progress()["state"] == "none"
    asked = memory.reembed()
    assert (asked.status_code, asked.json()["state"]) == (202, "accepted")
    assert memory.progress()["state"] == "waiting"
    query = {"query": "harbour class number 7", "mode": "code"}
    before = memory.by_meaning(**query)
    assert len(before) >= 20
    seen = []
    while True:
        # Each worker is a new one, as if the one before was killed after its first step.
        worked = memory.runner().handle(memory.connection).passed
        progress = memory.progress()
        assert progress["reembedding_id"] == asked.json()["reembedding_id"]
        seen.append(progress["state"])
        held = memory.models()
        swapped = progress["state"] == "done"
        assert held == ({"hash": 1, "hash-768": CARDS} if swapped else {"hash": CARDS + 1})
        assert len(memory.by_meaning(**query)) >= 20
        if not worked:
            break
    assert {"running", "done"} <= set(seen)
    assert (memory.progress()["cards"], memory.progress()["share"]) == (CARDS, 1.0)
    assert memory.by_meaning("harbour", mode="general") == ["The harbour was closed"]
    assert memory.reembed().json()["state"] == "unneeded"
    rebuilt = VectorsProjector(embedders_of(memory.settings))
    assert rebuild(memory.settings.database_url, rebuilt, verify=True).equal


@pytest.mark.parametrize("locked", [768, 1024])
def test_a_recall_in_the_moment_of_the_swap_finds_every_card(memory: Memory, locked: int) -> None:
    memory.put("code", embedder="hash-768")
    memory.say(["The harbour class", "The harbour module"])
    memory.fold()
    memory.put("code", embedder="hash-1024")
    memory.reembed()
    assert memory.by_meaning("harbour", mode="code") == ["The harbour class", "The harbour module"]
    runner = memory.runner()
    while memory.progress()["state"] != "running":
        runner.handle(memory.connection)
    with ThreadPoolExecutor(1) as beside:
        with memory.connection.transaction():
            # The recall has to wait for one of the two tables, and the swap comes meanwhile.
            memory.connection.execute(f"LOCK TABLE vectors.card_vectors_{locked}".encode())
            asked = beside.submit(memory.by_meaning, "harbour", mode="code")
            eventually(lambda: _waits(memory.connection, f"card_vectors_{locked}"))
            runner.handle(memory.connection)
            assert memory.models() == {"hash-1024": 2}
        assert asked.result(120) == ["The harbour class", "The harbour module"]


def _waits(connection: Connection, table: str) -> bool:
    query = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = ('vectors.' || %s)::regclass"
    return connection.execute(query, [table]).fetchall() != [(0,)]


def test_a_rebuild_needs_the_former_model_no_more(memory: Memory) -> None:
    memory.say(["The harbour class closes a socket"])
    memory.fold()
    memory.put("code", embedder="hash-768")
    memory.reembed()
    memory.fold()

    class Forbidden(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            raise AssertionError(f"the former model embeds {texts}")

    memory.connection.execute("TRUNCATE vector_cache.vectors")
    rebuild(memory.settings.database_url, VectorsProjector(Embedders(Forbidden, default_model="hash")))
    assert memory.models() == {"hash-768": 1}


def test_cards_that_changed_meanwhile_keep_what_they_became(memory: Memory) -> None:
    memory.put("journal", embedder="hash-1024")
    memory.say(["The harbour class", "The harbour module", "The harbour looked sad"])
    memory.fold()
    memory.put("code", embedder="hash-768")
    memory.reembed()
    rows = memory.connection.execute("SELECT content, card_id::text FROM cards.cards").fetchall()
    cards = dict(rows)
    moved = memory.write.post(
        f"/v1/cards/{cards['The harbour looked sad']}/mode", json={"user_id": "ada", "mode": "journal"}
    )
    assert moved.status_code == 202, moved.text
    fold_live(memory.settings.database_url)
    memory.fold()
    assert memory.models() == {"hash-768": 2, "hash-1024": 1}
    assert memory.by_meaning("harbour", mode="journal") == ["The harbour looked sad"]


def test_only_the_cards_of_the_project_are_embedded_again(memory: Memory) -> None:
    memory.say(["The harbour class"])
    memory.say(["The harbour of the shop"], project_id="shop")
    memory.fold()
    memory.put("code", embedder="hash-768")
    assert memory.reembed(project_id="shop").json()["other"] == 1
    memory.fold()
    assert memory.models() == {"hash": 1, "hash-768": 1}
    assert memory.progress(project_id="shop")["state"] == "done"
    assert memory.progress()["state"] == "none"


def test_the_cards_of_a_deleted_mode_get_the_general_model(memory: Memory) -> None:
    memory.put("code", embedder="hash-768")
    memory.say(["The harbour class"])
    memory.fold()
    gone = memory.write.delete("/v1/modes/code", params={"user_id": "ada"})
    assert gone.status_code == 200
    assert memory.by_meaning("harbour", mode="general") == ["The harbour class"]
    assert memory.reembed("general").json()["other"] == 1
    memory.fold()
    assert memory.models() == {"hash": 1}
    assert memory.by_meaning("harbour", mode="general") == ["The harbour class"]


def test_an_embedder_that_fails_in_between_leaves_the_old_vectors(memory: Memory) -> None:
    memory.say(["The harbour class"])
    memory.fold()
    memory.put("code", embedder="hash-768")
    memory.reembed()

    class Away(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            raise EmbedderUnavailableError("the embedding server gives no vectors: ConnectError")

    runner = memory.runner(Embedders(HashEmbedder, by_model=lambda _: Away(768)))
    while (result := runner.handle(memory.connection)).passed:
        pass
    assert result.wait_s is not None, "it tries again"
    assert (memory.models(), memory.by_meaning("harbour", mode="code")) == (
        {"hash": 1},
        ["The harbour class"],
    )
    memory.fold()
    assert memory.models() == {"hash-768": 1}


def test_what_cannot_be_embedded_again_is_refused(memory: Memory) -> None:
    unknown = memory.reembed("kode")
    assert (unknown.status_code, unknown.json()["field"]) == (404, "name")
    assert memory.read.get("/v1/modes/kode/reembed", params={"user_id": "ada"}).status_code == 404
    nobodys = memory.write.post("/v1/modes/code/reembed", json={})
    assert (nobodys.status_code, nobodys.json()["field"]) == (422, "user_id")


def test_erasing_the_user_forgets_the_request(memory: Memory) -> None:
    memory.say(["The harbour class"])
    memory.fold()
    memory.put("code", embedder="hash-768")
    memory.reembed()
    memory.runner().handle(memory.connection)
    projector = VectorsProjector(embedders_of(memory.settings))
    with memory.connection.transaction():
        memory.connection.execute("SET LOCAL search_path = vectors, public")
        projector.forget(memory.connection, "ada", None, ())
    assert memory.models() == {}
    assert memory.connection.execute("SELECT count(*) FROM vectors.reembeddings").fetchone() == (0,)
