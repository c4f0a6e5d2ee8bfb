"""A closed app keeps no model in memory."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
from fastapi import FastAPI
from starlette.testclient import TestClient

from events.platform.settings import Settings
from projectors.embedding.embedder import SMALL_MODEL, HashEmbedder
from projectors.embedding.embedders import Embedders
from projectors.vectors.projector import VectorsProjector
from retrieval.http.embed_api import create_app as embed_app
from retrieval.http.read_api import create_app as read_app
from tests.support.projectors.folding import fold_live
from tests.support.projectors.tiny_model import write_tiny_model
from tests.support.waiting import PATIENT

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
        for create_app, path, body in ASKED:
            with TestClient(create_app(settings)) as client:
                answer = client.post(path, json=body)
                assert answer.status_code == 200, answer.text
        held.append(psutil.Process().memory_info().rss)
    assert held[-1] - held[1] < 1.5 * _ROWS * 384 * 4, held
