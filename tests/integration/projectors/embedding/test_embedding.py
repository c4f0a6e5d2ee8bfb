"""The embedding models of this machine."""

import json
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from deploy.command import main
from deploy.commands.operate.doctor import doctor
from deploy.commands.operate.reembed import reembed
from deploy.commands.operate.status import status
from events.platform.database import Connection, statement
from events.platform.settings import Settings
from events.store import log
from projectors.embedding.embedder import (
    DEFAULT_MODEL,
    HASH_MODEL,
    INT8_GRAPH,
    MULTILINGUAL_MODEL,
    SMALL_MODEL,
    Embedder,
    EmbedderUnavailableError,
    FastEmbedder,
    HashEmbedder,
    model_folders,
    open_embedder,
)
from projectors.embedding.embedders import Space, embedders_of
from projectors.vectors.projector import VectorsProjector
from tests.support.projectors.folding import apart, fold_live
from tests.support.projectors.tiny_model import write_tiny_model
from tests.support.retrieval.channels import noted
from tests.support.waiting import PATIENT

TEXTS = [
    "We adopted two kittens from the shelter",
    "The quarterly budget was approved on Monday",
    "我上個月從台北搬到高雄",
    "",
    "x " * 5000,
    "\ud800 lone surrogate",
    "🐶",
]


@pytest.fixture(scope="module", params=["hash", "model"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    if request.param == "hash":
        return open_embedder(HASH_MODEL)
    try:
        return open_embedder(SMALL_MODEL)
    except EmbedderUnavailableError as error:
        pytest.skip(str(error))


def test_rows_are_unit_vectors_in_the_order_of_the_texts(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    for text, vector in zip(TEXTS, vectors, strict=True):
        np.testing.assert_allclose(embedder.embed([text])[0], vector, atol=1e-5)
    assert embedder.embed([]).shape == (0, embedder.dimension)


def test_a_question_is_near_what_answers_it(embedder: Embedder) -> None:
    question = embedder.embed_question("Which kittens were adopted?")
    assert question.shape == (embedder.dimension,)
    assert question.dtype == np.float32
    assert np.argmax(embedder.embed(TEXTS) @ question) == 0


def test_vectors_of_another_process_are_the_same() -> None:
    code = (
        "from projectors.embedding.embedder import HashEmbedder; import sys;"
        "sys.stdout.buffer.write(HashEmbedder().embed(['kittens 貓']).tobytes())"
    )
    fresh = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert fresh == HashEmbedder().embed(["kittens 貓"]).tobytes()


def test_only_the_first_256_tokens_count_even_of_a_model_that_takes_more(tmp_path: Path) -> None:
    folder = next((folder for folder in model_folders() if (folder / "tokenizer_config.json").exists()), None)
    if folder is None:
        pytest.skip("no embedding model here; build it with: cardlog model fetch")
    for file in folder.iterdir():
        (tmp_path / file.name).symlink_to(file)
    config = json.loads((folder / "tokenizer_config.json").read_text())
    (tmp_path / "tokenizer_config.json").unlink()
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({**config, "model_max_length": 512}))
    start = "cat " * 300
    first, second = open_embedder(path=tmp_path).embed([start + "dog", start + "stock market crash"])
    np.testing.assert_allclose(first, second, atol=1e-6)


def test_a_missing_model_names_the_remedy_and_never_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the network was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with pytest.raises(EmbedderUnavailableError, match="cardlog model fetch"):
        open_embedder(path=tmp_path)
    with pytest.raises(
        EmbedderUnavailableError, match=r"no/such-model in .*such-model; put its tokenizer\.json"
    ):
        open_embedder("no/such-model")


@pytest.mark.parametrize("missing", ["tokenizer.json", "model.onnx", "config.json"])
def test_half_a_model_is_none(tmp_path: Path, missing: str) -> None:
    for name in {"tokenizer.json", "model.onnx", "config.json"} - {missing}:
        (tmp_path / name).write_text("{}")
    with pytest.raises(EmbedderUnavailableError, match="cardlog model fetch"):
        open_embedder(path=tmp_path)


def test_a_damaged_model_is_found_out_at_the_first_text(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "model.onnx").write_text("not a graph")
    (tmp_path / "config.json").write_text('{"hidden_size": 384}')
    embedder = FastEmbedder(tmp_path)
    with pytest.raises(EmbedderUnavailableError, match="cardlog model fetch"):
        embedder.embed(["text"])


def test_a_model_is_looked_for_in_the_project_and_then_in_the_users_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    project, user = model_folders(DEFAULT_MODEL)
    assert project.parts[-3:] == (".cache", "model", "multilingual-e5-small")
    assert user == Path("/elsewhere/cardlog/model/multilingual-e5-small")


def settings_at(folder: Path, **more: object) -> Settings:
    return replace(
        Settings(), embed_model_path=str(folder), **PATIENT | {"embed_model": DEFAULT_MODEL} | more
    )


class TestModels:
    def test_without_files_the_message_names_the_model(self, tmp_path: Path) -> None:
        with pytest.raises(EmbedderUnavailableError, match=f"{MULTILINGUAL_MODEL} in .*cardlog model fetch"):
            embedders_of(settings_at(tmp_path)).of(None)

    def test_the_vocabulary_of_a_model_that_is_not_built_says_nothing(self, tmp_path: Path) -> None:
        settings = settings_at(write_tiny_model(tmp_path, SMALL_MODEL), embed_model="acme/model-m")
        assert embedders_of(settings).of(None).name == "acme/model-m"

    def test_the_small_model_does_not_take_the_place_of_the_default(self, tmp_path: Path) -> None:
        embedders = embedders_of(settings_at(write_tiny_model(tmp_path, SMALL_MODEL)))
        with pytest.raises(EmbedderUnavailableError, match=f"holds {SMALL_MODEL} and not"):
            embedders.of(None)

    def test_vectors_of_the_small_model_keep_its_folder(self, tmp_path: Path) -> None:
        folder = write_tiny_model(tmp_path, SMALL_MODEL)
        shutil.copy(folder / INT8_GRAPH, folder / "model.onnx")
        whole = FastEmbedder(folder, model=SMALL_MODEL, file="model.onnx")
        found = embedders_of(settings_at(folder)).of_space("", Space(SMALL_MODEL, whole.fingerprint))
        assert isinstance(found, FastEmbedder)
        assert found.quantisation == "fp32"

    def test_a_folder_with_the_other_model_is_refused(self, tmp_path: Path) -> None:
        settings = settings_at(write_tiny_model(tmp_path, MULTILINGUAL_MODEL), embed_model=SMALL_MODEL)
        with pytest.raises(
            EmbedderUnavailableError, match=f"holds {MULTILINGUAL_MODEL} and not {SMALL_MODEL}"
        ):
            embedders_of(settings).of(None)

    def test_the_tool_does_not_take_the_other_model_for_this_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("CARDLOG_EMBED_MODEL_PATH", str(write_tiny_model(tmp_path, SMALL_MODEL)))
        monkeypatch.delenv("CARDLOG_EMBED_MODEL", raising=False)
        assert main(["model", "fetch"]) == 1
        assert main(["model", "fetch", "--optional"]) == 0
        assert f"does not hold {MULTILINGUAL_MODEL}" in capsys.readouterr().err


class TestVectors:
    """The vectors of a memory that the small model began."""

    def test_stay_with_their_model_until_they_are_embedded_again(
        self,
        database: str,
        redis_url: str,
        connection: Connection,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        small = write_tiny_model(tmp_path / "cardlog" / "model" / "all-MiniLM-L6-v2", SMALL_MODEL)
        urls = {"database_url": database, "admin_database_url": database, "redis_url": redis_url}
        settings = settings_at(small, embed_model=SMALL_MODEL, **urls)
        say(connection, settings, "The harbour was closed")
        assert embedder_of(connection).startswith(SMALL_MODEL)
        assert "CARDLOG_EMBED_MODEL" not in said_by(settings, capsys)

        # The settings name the default. The live vectors stay as they are, and new ones join them.
        large = write_tiny_model(tmp_path / "multilingual-e5-small", MULTILINGUAL_MODEL)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        settings = settings_at(large, **urls)
        say(connection, settings, "The harbour opened again")
        assert embedder_of(connection).startswith(SMALL_MODEL)
        said = said_by(settings, capsys)
        assert f"CARDLOG_EMBED_MODEL is {DEFAULT_MODEL}: run `cardlog reembed`" in said

        assert reembed(cardlog=settings) == 0
        assert embedder_of(connection).startswith(MULTILINGUAL_MODEL)
        assert "CARDLOG_EMBED_MODEL" not in said_by(settings, capsys)


def say(connection: Connection, settings: Settings, text: str) -> None:
    log.append(connection, [apart(noted(text))])
    fold_live(settings.database_url)
    fold_live(settings.database_url, VectorsProjector(embedders_of(settings)))


def embedder_of(connection: psycopg.Connection) -> str:
    """Returns the one fingerprint of all live vectors."""
    [[_, _, fingerprint]] = connection.execute(statement("retrieval.channels", "spaces")).fetchall()
    return str(fingerprint)


def said_by(settings: Settings, capsys: pytest.CaptureFixture[str]) -> str:
    """Returns what `cardlog status` and `cardlog doctor` print."""
    capsys.readouterr()
    status(settings=settings, data=None)
    doctor(settings=settings, data=None)
    return capsys.readouterr().out
