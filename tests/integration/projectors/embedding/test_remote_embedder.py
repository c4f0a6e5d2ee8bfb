"""An embedding server: Cardlog's own, and servers that die, hang and answer anything."""

import base64
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pytest
from starlette.testclient import TestClient

from events.access import keys
from events.access.fair_share import FairShare
from events.platform.database import Connection
from events.platform.settings import Settings
from projectors.embedding.embedder import EmbedderUnavailableError, HashEmbedder, Vectors, usable_cores
from projectors.embedding.embedders import embedders_of
from projectors.embedding.remote_embedder import RemoteEmbedder
from retrieval.http.embed_api import create_app
from tests.support.projectors.embedding_server import Answer, hashed, serving
from tests.support.waiting import PATIENT, eventually


def test_any_openai_style_server_embeds() -> None:
    seen: list[dict[str, Any]] = []

    def answer(asked: dict[str, Any]) -> tuple[int, bytes]:
        seen.append(asked)
        return (422, b"{}") if "input_type" in asked else hashed(asked)

    texts = [f"kitten {number}" for number in range(70)] + ["", "\ud800 x"]
    with serving(answer) as url:
        embedder = RemoteEmbedder(url, "acme/multi-e5-large", key="secret")
        vectors = embedder.embed(texts)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
        wanted = HashEmbedder().embed([f"passage: {text}" for text in texts[:70]])
        np.testing.assert_allclose(vectors[:70], wanted, atol=1e-5)
        embedder.embed_question("which kitten?")
        assert embedder.fingerprint == f"acme/multi-e5-large@{url[7:-3]} remote 384"
    assert seen[-1]["input"] == ["query: which kitten?"]
    assert {each["authorization"] for each in seen} == {"Bearer secret"}
    with pytest.raises(EmbedderUnavailableError, match="gives no vectors: ConnectError"):
        embedder.embed(["the server died"])


def _changed(document: Callable[[dict[str, Any]], Any]) -> Answer:
    return lambda asked: (200, orjson.dumps(document(orjson.loads(hashed(asked)[1]))))


WRONG: dict[str, Answer] = {
    "not JSON": lambda _: (200, b"<html>"),
    "NaN": lambda asked: (200, hashed(asked)[1].replace(b"0.0", b"NaN", 1)),
    "infinite": lambda asked: (200, hashed(asked)[1].replace(b"0.0", b"1e999", 1)),
    "too large for 32 bits": lambda asked: (200, hashed(asked)[1].replace(b"0.0", b"1e300", 1)),
    "words": lambda asked: (200, hashed(asked)[1].replace(b"0.0", b'"0"', 1)),
    "true": lambda asked: (200, hashed(asked)[1].replace(b"0.0", b"true", 1)),
    "zero": lambda asked: (
        200,
        orjson.dumps({"data": [{"index": n, "embedding": [0] * 384} for n in range(len(asked["input"]))]}),
    ),
    "another dimension": lambda asked: (
        200,
        orjson.dumps({"data": [{"index": n, "embedding": [1.0] * 383} for n in range(len(asked["input"]))]}),
    ),
    "one too few": _changed(lambda found: {"data": found["data"][1:]}),
    "one twice": _changed(lambda found: {"data": found["data"][:1] * 2}),
    "deep": lambda _: (200, b'{"data":' + b"[" * 100_000),
    "a list": lambda _: (200, b"[]"),
    "a flood": lambda _: (200, b" " * 2_000_000),
    "another embedder": lambda asked: hashed(asked, fingerprint="acme@2 int8"),
    "500": lambda _: (500, b""),
    "429": lambda _: (429, b""),
    "401": lambda _: (401, b""),
    "a redirect": lambda _: (302, b""),
    "everything refused": lambda _: (422, b"{}"),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_wrong_answer_is_the_servers_fault(wrong: Answer) -> None:
    answers: list[Answer] = [hashed]
    with serving(lambda asked: answers[-1](asked)) as url:  # noqa: PLW0108 - the last one changes
        embedder = RemoteEmbedder(url, "acme/model")
        assert embedder.dimension == 384
        answers.append(wrong)
        with pytest.raises(EmbedderUnavailableError, match=r"gives no vectors|answered"):
            embedder.embed(["one", "two"])
        answers.append(hashed)
        assert embedder.embed(["one"]).shape == (1, 384)


def test_a_server_that_hangs_is_left_after_the_deadline() -> None:
    free = threading.Event()

    def hang(asked: dict[str, Any]) -> tuple[int, bytes]:
        free.wait(20)
        return hashed(asked)

    with serving(hang) as url:
        with pytest.raises(EmbedderUnavailableError, match="did not answer within"):
            RemoteEmbedder(url, "acme/model", timeout_s=0.2).embed(["text"])
        free.set()


def learned(embedder: RemoteEmbedder) -> int | None:
    """Returns the dimension, or None where a busy machine was too slow for the deadline."""
    try:
        return embedder.dimension
    except EmbedderUnavailableError:
        return None


@pytest.mark.parametrize(
    ("begin", "part"),
    [
        (b"", b"x-more: headers\r\n"),
        (b"content-length: 100000\r\n\r\n", b" "),
        (
            b"content-encoding: gzip\r\ncontent-length: 100000\r\n\r\n\x1f\x8b\x08\x08\0\0\0\0\0\xff",
            b"a name without an end",
        ),
    ],
    ids=["headers", "body", "gzip of nothing"],
)
@pytest.mark.parametrize("asked", ["question", "text", "first text"])
def test_a_server_that_drips_is_left_after_the_deadline(begin: bytes, part: bytes, asked: str) -> None:
    free = threading.Event()

    def drip() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\n" + begin
        for _ in range(400):
            if free.wait(0.05):
                return
            yield part
        free.set()

    answers: list[Answer] = [hashed]
    with serving(lambda asked: answers[-1](asked)) as url:  # noqa: PLW0108 - the last one changes
        embedder = RemoteEmbedder(url, "acme/model", timeout_s=0.3)
        if asked != "first text":
            eventually(lambda: learned(embedder) == 384)
        answers.append(lambda _: (200, drip()))
        with pytest.raises(EmbedderUnavailableError, match="did not answer within"):
            embedder.embed_question("text") if asked == "question" else embedder.embed(["text"])
        assert not free.is_set(), "the server ended before the call"
        free.set()
        answers.append(hashed)
        assert embedder.embed(["text"]).shape == (1, 384)


def test_a_text_that_the_server_refuses_is_the_texts_fault() -> None:
    def picky(asked: dict[str, Any]) -> tuple[int, bytes]:
        return (400, b"{}") if any("bad" in text for text in asked["input"]) else hashed(asked)

    with serving(picky) as url:
        embedder = RemoteEmbedder(url, "acme/model")
        with pytest.raises(ValueError, match="refuses these words"):
            embedder.embed(["good", "bad"])
        assert embedder.embed(["good"]).shape == (1, 384)


@pytest.fixture
def service(database: str) -> Iterator[TestClient]:
    settings = replace(Settings(), database_url=database, **PATIENT | {"auth": "on"})
    with TestClient(create_app(settings)) as client:
        yield client


def key_for(connection: Connection, scope: str) -> dict[str, str]:
    _, text = keys.create(connection, name="test", scopes=[scope])
    return {"authorization": f"Bearer {text}"}


def test_a_question_waits_for_no_cards(
    service: TestClient, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, leave, embed = threading.Semaphore(0), threading.Event(), HashEmbedder.embed

    def slow(self: HashEmbedder, texts: Sequence[str]) -> Vectors:
        if texts[0] == "a card":
            begun.release()
            assert leave.wait(30)
        return embed(self, texts)

    monkeypatch.setattr(HashEmbedder, "embed", slow)
    places = FairShare(max(2, 2 * usable_cores()))
    key, asker = key_for(connection, "read"), ("tenant", "key")
    with ThreadPoolExecutor(places.places) as threads:
        while places.admits(asker):
            places.take(asker)
            threads.submit(service.post, "/v1/embeddings", json={"input": "a card"}, headers=key)
            assert begun.acquire(timeout=30)
        question = {"input": "which card?", "input_type": "query"}
        answer = service.post("/v1/embeddings", json=question, headers=key)
        leave.set()
    assert answer.status_code == 200, answer.text


def test_the_service_wants_a_key_that_may_read(service: TestClient, connection: Connection) -> None:
    assert service.post("/v1/embeddings", json={"input": "x"}).status_code == 401
    push = key_for(connection, "push")
    assert service.post("/v1/embeddings", json={"input": "x"}, headers=push).status_code == 403
    read = key_for(connection, "read")
    answer = service.post("/v1/embeddings", json={"input": ["a cat", ""]}, headers=read)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["model"], found["fingerprint"]) == ("hash", "hash")
    np.testing.assert_allclose(
        [each["embedding"] for each in found["data"]], HashEmbedder().embed(["a cat", ""]), atol=1e-6
    )
    coded = service.post(
        "/v1/embeddings", json={"input": "a cat", "encoding_format": "base64"}, headers=read
    ).json()
    numbers = np.frombuffer(base64.b64decode(coded["data"][0]["embedding"]), dtype="<f4")
    np.testing.assert_array_equal(numbers, HashEmbedder().embed(["a cat"])[0])
    refusals: tuple[dict[str, Any], ...] = (
        {}, {"input": []}, {"input": [1]}, {"input": "x" * 40_000}, {"input": ["x"] * 257}, {"input": "x", "more": 1},
        {"input": "x", "model": "no/such"}, {"input": "x", "dimensions": 3}, {"input": "\0"}, {"input": {"a": 1}},
    )  # fmt: skip
    for wrong in refusals:
        refused = service.post("/v1/embeddings", json=wrong, headers=read)
        assert refused.status_code == 422, (wrong, refused.text)
        assert refused.headers["content-type"] == "application/problem+json"


def test_workers_share_a_server_by_its_address() -> None:
    with serving(lambda asked: hashed(asked, fingerprint="acme@1 int8 mean 384")) as url:
        settings = replace(Settings(), embed_model="acme/model", embed_url=url)
        embedder = embedders_of(settings).of(None)
        assert isinstance(embedder, RemoteEmbedder)
        assert embedder.fingerprint == "acme@1 int8 mean 384"
        assert embedder.embed(["text"]).shape == (1, 384)
