"""An embedder that fails or is closed costs the others nothing."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from events.health.health_status import read_health
from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from projectors.embedding.embedder import SMALL_MODEL, HashEmbedder, Vectors
from projectors.embedding.embedders import Embedders, embedders_of
from projectors.vectors.projector import VectorsProjector
from retrieval.http.embed_api import create_app as embed_app
from retrieval.http.read_api import create_app
from retrieval.http.read_api import create_app as read_app
from tests.support.projectors.embedding_server import Answer, hashed, serving
from tests.support.projectors.folding import NOW, apart, count, fold_live, noted, settings_of
from tests.support.projectors.tiny_model import write_tiny_model
from tests.support.waiting import PATIENT, eventually

SAID = ("The harbour was closed", "The crane was painted")


@pytest.fixture
def settings(connection: Connection) -> Settings:
    for text in SAID:
        log.append(connection, [apart(noted(text, episode=True).payload)])
    fold_live(connection)
    return settings_of(connection, **PATIENT)


def channels_of(settings: Settings) -> dict[str, set[str]]:
    """Returns the cards that a recall answers, each with its channels."""
    with TestClient(create_app(settings)) as client:
        body = {"user_id": "alex", "query": "harbour crane", "as_of": NOW.isoformat()}
        answer = client.post("/v1/recall", json=body)
    assert answer.status_code == 200, answer.text
    return {card["content"]: set(card["channels"]) for card in answer.json()["cards"]}


def check_waiting(settings: Settings, connection: Connection) -> None:
    """Checks that no card has a vector, that recall finds all by other channels, and that status says why."""
    assert count(connection, "vectors.card_vectors_384") == 0
    assert count(connection, "vectors.pending_vectors") == len(SAID)
    found = channels_of(settings)
    assert set(found) == set(SAID)
    assert all(channels and "semantic" not in channels for channels in found.values())
    stage = read_health(connection).reader("vectors")
    assert stage.pending == len(SAID)
    assert "wait for its embedder" in (stage.detail or "")
    [blocked] = stage.blocked
    assert (blocked.mode, blocked.cards) == ("general", len(SAID))


def check_found(settings: Settings, connection: Connection) -> None:
    assert count(connection, "vectors.card_vectors_384") == len(SAID)
    assert count(connection, "vectors.pending_vectors") == 0
    found = channels_of(settings)
    assert all("semantic" in found[text] for text in SAID)
    assert read_health(connection).reader("vectors").blocked == ()


class Ill(HashEmbedder):
    """A local embedder that answers what it should not."""

    answer: Callable[[Sequence[str]], Any]

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors: Vectors = Ill.answer(texts)
        return vectors


def test_cards_are_found_while_a_local_embedder_hangs(settings: Settings, connection: Connection) -> None:
    hangs, free = threading.Event(), threading.Event()

    def hang(texts: Sequence[str]) -> Vectors:
        hangs.set()
        assert free.wait(60)
        return HashEmbedder().embed(texts)

    Ill.answer = staticmethod(hang)
    with ThreadPoolExecutor(1) as beside:
        folding = beside.submit(fold_live, settings.database_url, VectorsProjector(Embedders(Ill)))
        try:
            eventually(hangs.is_set)
            found = channels_of(settings)
            assert set(found) == set(SAID)
            assert all(channels and "semantic" not in channels for channels in found.values())
            assert read_health(connection).reader("vectors").behind == len(SAID)
        finally:
            free.set()
        folding.result(120)
    check_found(settings, connection)


@pytest.mark.parametrize("dimension", [768, 384], ids=["another dimension", "the graph of another model"])
def test_cards_wait_for_a_model_whose_files_do_not_fit(
    settings: Settings, connection: Connection, tmp_path: Path, dimension: int
) -> None:
    folder = write_tiny_model(tmp_path, SMALL_MODEL, rows=3)
    config = folder / "config.json"
    config.write_bytes(config.read_bytes().replace(b"384", str(dimension).encode()))
    local = replace(settings, embed_model=SMALL_MODEL, embed_model_path=str(folder))
    fold_live(local.database_url, VectorsProjector(embedders_of(local)))
    check_waiting(local, connection)
    [blocked] = read_health(connection).reader("vectors").blocked
    assert str(folder) in blocked.reason
    write_tiny_model(folder, SMALL_MODEL)
    fold_live(local.database_url, VectorsProjector(embedders_of(local)))
    check_found(local, connection)


def test_cards_wait_for_a_server_that_fails(settings: Settings, connection: Connection) -> None:
    answers: list[Answer] = [lambda _: (500, b"")]
    with serving(lambda asked: answers[-1](asked)) as url:  # noqa: PLW0108 - the last one changes
        remote = replace(settings, embed_model="acme/model", embed_url=url)
        fold_live(remote.database_url, VectorsProjector(embedders_of(remote)))
        check_waiting(remote, connection)
        answers.append(hashed)
        fold_live(remote.database_url, VectorsProjector(embedders_of(remote)))
        check_found(remote, connection)


_ROWS = 25_000  # 38 MB


ASKED: tuple[tuple[Callable[[Settings], FastAPI], str, dict[str, str]], ...] = (
    (read_app, "/v1/recall", {"user_id": "ada", "query": "hello"}),
    (embed_app, "/v1/embeddings", {"model": SMALL_MODEL, "input": "hello"}),
)


def test_ten_apps_one_after_the_other_need_the_memory_of_one(database: str, tmp_path: Path) -> None:
    fold_live(database)
    fold_live(database, VectorsProjector(Embedders(HashEmbedder)))
    folder = write_tiny_model(tmp_path, SMALL_MODEL, rows=_ROWS)
    model = {"embed_model": SMALL_MODEL, "embed_model_path": str(folder)}
    settings = replace(Settings(), database_url=database, **PATIENT | model)
    held = []
    for _ in range(5):
        for app_of, path, body in ASKED:
            with TestClient(app_of(settings)) as client:
                answer = client.post(path, json=body)
                assert answer.status_code == 200, answer.text
        held.append(psutil.Process().memory_info().rss)
    assert held[-1] - held[1] < 1.5 * _ROWS * 384 * 4, held
