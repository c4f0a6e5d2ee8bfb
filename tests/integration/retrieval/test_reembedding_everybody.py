"""A mode of everybody gets new vectors over HTTP: a vectors worker does it, and recall answers throughout."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Thread
from typing import Any

import pytest
from starlette.testclient import TestClient

from deploy.services import _installation_planner
from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.store import log
from events.types.tenancy import storage_id
from ingest.api.write_api import create_app as write_app
from projectors.embedding.embedders import embedders_of
from projectors.rebuild.reembedding import InstallationPlanner
from projectors.rebuild.request_workers import ReembeddingWorker
from projectors.vectors.projector import VectorsProjector
from retrieval.http.read_api import create_app as read_app
from tests.support.projectors.folding import NOW, apart, fold_live, settings_of
from tests.support.retrieval.channels import noted
from tests.support.roles import roles_for
from tests.support.waiting import PATIENT, eventually

CARDS = 150
Say = Callable[..., None]


@pytest.fixture
def before(database: str, redis_url: str) -> Settings:
    return settings_of(database, redis_url=redis_url, modes="code=hash-768", **PATIENT)


@pytest.fixture
def say(before: Settings, connection: Connection) -> Say:
    def say(number: int, mode: str | None = None, user: str = "ada") -> None:
        said = [noted(f"The harbour {mode or ''} has crane {each}", mode=mode) for each in range(number)]
        log.append(connection, [apart(each, user) for each in said])
        fold_live(before.database_url)
        fold_live(before.database_url, VectorsProjector(embedders_of(before)))

    return say


@contextmanager
def services(settings: Settings) -> Iterator[tuple[TestClient, TestClient]]:
    write = write_app(settings, installation_planner=_installation_planner(settings))
    with (
        TestClient(write, base_url="http://localhost") as writes,
        TestClient(read_app(settings), base_url="http://localhost") as reads,
    ):
        yield writes, reads


@contextmanager
def working(settings: Settings) -> Iterator[None]:
    """Runs the worker beside the block, and stops it after the block."""
    over = False
    thread = Thread(target=ReembeddingWorker(settings, lambda: over).run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over = True
        thread.join(60)


def models(connection: Connection) -> dict[str, int]:
    rows = connection.execute(
        "SELECT model, count(*) FROM (SELECT model FROM vectors.card_vectors_384 UNION ALL "
        "SELECT model FROM vectors.card_vectors_768 UNION ALL SELECT model FROM vectors.card_vectors_1024) v "
        "GROUP BY model"
    )
    return dict(rows.fetchall())


def by_meaning(read: TestClient, user: str = "ada", **more: Any) -> int:
    body = {"user_id": user, "query": "harbour crane 7", "as_of": NOW.isoformat(), "k": 50, **more}
    answer = read.post("/v1/recall", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["channels"]["semantic"]["status"] == "ok", answer.text
    return sum("semantic" in each["channels"] for each in answer.json()["cards"])


def test_a_worker_embeds_the_cards_of_every_user_again(
    before: Settings, connection: Connection, say: Say
) -> None:
    say(CARDS)
    say(3, user=storage_id("acme", "eve"))
    say(2, "code")
    after = replace(before, embed_model="hash-1024")
    with services(after) as (write, read):
        place = "/v1/modes/general/reembed"
        told = write.post(place, json={"dry_run": True})
        assert told.status_code == 200, told.text
        plan = told.json()
        assert (plan["state"], plan["embedder"], plan["cards"], plan["other"]) == (
            "planned",
            "hash-1024",
            CARDS + 5,
            CARDS + 3,
        )
        assert (plan["texts_per_s"] > 0, plan["seconds"] is None, plan["model_calls"]) == (True, False, 0)
        assert read.get(place).json()["state"] == "none"
        asked = write.post(place, json={})
        assert (asked.status_code, asked.json()["state"]) == (202, "accepted"), asked.text
        again = write.post(place, json={})
        assert again.json()["reembedding_id"] == asked.json()["reembedding_id"]
        progress = read.get(place).json()
        assert (progress["state"], progress["reembedding_id"]) == ("waiting", asked.json()["reembedding_id"])
        assert models(connection) == {"hash": CARDS + 3, "hash-768": 2}
        with working(after):
            while (progress := read.get(place).json())["state"] != "done":
                assert progress["hindrance"] is None
                assert by_meaning(read, mode="general") >= 20
        assert (progress["cards"], progress["share"]) == (CARDS + 3, 1.0)
        assert models(connection) == {"hash-1024": CARDS + 3, "hash-768": 2}
        assert by_meaning(read, mode="general") >= 20
        assert by_meaning(read, mode="code") == 2
        done = write.post(place, json={})
        assert (done.status_code, done.json()["state"]) == (200, "unneeded")
        assert read.get(place).json()["state"] == "done"


def test_a_mode_that_shares_its_former_model_is_embedded_again(
    before: Settings, connection: Connection, say: Say
) -> None:
    twins = replace(before, modes="code=hash-768, notes=hash-768")
    say(2, "code")
    say(3, "notes")
    fold_live(twins.database_url, VectorsProjector(embedders_of(twins)))
    planner = InstallationPlanner(twins)
    assert planner("notes", measure=False).added == ("notes",)
    with services(twins) as (write, read), working(twins):
        assert write.post("/v1/modes/notes/reembed", json={}).status_code == 202
        eventually(lambda: read.get("/v1/modes/notes/reembed").json()["state"] == "done")
    assert models(connection) == {"hash-768": 5}
    after = replace(twins, modes="code=hash-768, notes=hash-1024")
    with services(after) as (write, read), working(after):
        asked = write.post("/v1/modes/notes/reembed", json={})
        assert asked.json()["state"] == "accepted", asked.text
        eventually(lambda: read.get("/v1/modes/notes/reembed").json()["state"] == "done")
    assert models(connection) == {"hash-768": 2, "hash-1024": 3}


def test_a_worker_with_other_settings_says_so_and_changes_nothing(
    before: Settings, connection: Connection, say: Say
) -> None:
    say(3)
    after = replace(before, embed_model="hash-1024")
    with services(after) as (write, read):
        write.post("/v1/modes/general/reembed", json={})
        with working(before):
            hindrance = eventually(lambda: read.get("/v1/modes/general/reembed").json()["hindrance"])
        assert "the request is for hash-1024, and the settings of this worker give hash" in hindrance
        assert models(connection) == {"hash": 3}
        with working(after):
            eventually(lambda: read.get("/v1/modes/general/reembed").json()["state"] == "done")
        assert read.get("/v1/modes/general/reembed").json()["hindrance"] is None


def test_a_missing_model_is_refused_at_once(before: Settings, say: Say) -> None:
    say(1)
    with services(replace(before, embed_model="acme/no-such-model")) as (write, _):
        refused = write.post("/v1/modes/general/reembed", json={})
    assert (refused.status_code, refused.json()["field"]) == (422, "name")
    assert "no embedding model acme/no-such-model" in refused.json()["detail"]


def test_what_everybody_does_not_have_is_refused(before: Settings, say: Say) -> None:
    say(1)
    with services(replace(before, modes="journal")) as (write, read):
        for answer in (
            write.post("/v1/modes/sketches/reembed", json={}),
            read.get("/v1/modes/sketches/reembed"),
        ):
            assert (answer.status_code, answer.json()["field"]) == (404, "name")
        shared = write.post("/v1/modes/journal/reembed", json={})
        assert (shared.status_code, shared.json()["field"]) == (422, "name")
        assert "has no embedder of its own" in shared.json()["detail"]
        project = write.post("/v1/modes/general/reembed", json={"project_id": "x"})
        assert (project.status_code, project.json()["field"]) == (422, "user_id")


def test_a_service_that_sees_one_tenant_names_the_command(before: Settings, say: Say) -> None:
    say(1)
    with roles_for(before.database_url, ("curator",)) as (url,):
        with services(replace(before, database_url=url, embed_model="hash-1024")) as (write, _):
            refused = write.post("/v1/modes/general/reembed", json={})
        assert refused.status_code == 403, refused.text
        assert "cardlog reembed" in refused.json()["detail"]


def test_the_roles_of_worker_and_services_suffice(before: Settings, connection: Connection, say: Say) -> None:
    say(3)
    after = replace(before, embed_model="hash-1024")
    with (
        roles_for(before.database_url, ("projector",), ("curator", "extractor"), ("reader",)) as (
            worker,
            writer,
            reader,
        ),
        services(replace(after, database_url=writer)) as (write, _),
        services(replace(after, database_url=reader)) as (_, read),
        working(replace(after, database_url=worker)),
    ):
        asked = write.post("/v1/modes/general/reembed", json={})
        assert asked.status_code == 202, asked.text
        eventually(lambda: read.get("/v1/modes/general/reembed").json()["state"] == "done")
    with connect(before.database_url, application="test") as owner:
        assert models(owner) == {"hash-1024": 3}
