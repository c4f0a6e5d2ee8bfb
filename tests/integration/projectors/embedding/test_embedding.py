"""Every embedder keeps the same guarantees. The real embedder is tested where its model is built."""

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from projectors.embedding.embedder import (
    DEFAULT_MODEL,
    HASH_MODEL,
    SMALL_MODEL,
    Embedder,
    EmbedderUnavailableError,
    FastEmbedder,
    HashEmbedder,
    model_folders,
    open_embedder,
)

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
