"""kill -9 of the vectors worker in the middle of a re-embedding: it goes on, and old vectors answer till the end."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from events.platform.database import connect
from events.platform.settings import variable_of
from tests.support.projectors.embedding_server import hashed, serving
from tests.support.stack import Running, start, stop
from tests.support.waiting import eventually
from tests.support.web import WEB

CARDS = 480
PAGE = 64  # a killed worker computes at most one page anew
KILLS = 4
HITS = 60  # of the semantic channel, always
QUERY = "which crane stands in the harbour?"
USER, NEW = "ada", "test/slow"


@dataclass
class SlowServer:
    """A server that takes 8 ms a text, and counts the texts of cards."""

    texts: list[str] = field(default_factory=list)

    def answer(self, asked: dict[str, Any]) -> tuple[int, bytes]:
        if asked.get("input_type") != "query":
            time.sleep(0.008 * len(asked["input"]))
        # A killed worker does not hear the answer, and the computing was done all the same.
        self.texts += [text for text in asked["input"] if "crane" in text and "harbour?" not in text]
        return hashed(asked)


@dataclass
class Asking:
    """Recalls that run beside the kills."""

    running: Running
    more: dict[str, Any]
    answers: list[tuple[int, str, int]] = field(default_factory=list)

    def ask(self) -> None:
        body = {"user_id": USER, "query": QUERY, "k": 20, **self.more}
        answer = WEB.post(f"{self.running.read_url}/v1/recall", json=body, headers=self.running.headers)
        semantic = answer.json()["channels"]["semantic"] if answer.status_code == 200 else {}
        self.answers.append((answer.status_code, semantic.get("status", ""), semantic.get("hits", 0)))


@contextmanager
def asking(running: Running, **more: Any) -> Iterator[Asking]:
    asked, over = Asking(running, more), threading.Event()

    def loop() -> None:
        while not over.is_set():
            asked.ask()

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    try:
        yield asked
    finally:
        over.set()
        thread.join(30)


def push(running: Running, mode: str) -> None:
    turns = [
        {"user_id": USER, "session_id": f"{mode}{number}", "mode": mode, "text": f"The {mode} crane {number} is red."}
        for number in range(CARDS)
    ]  # fmt: skip
    running.push(*turns)
    running.wait()


def models(running: Running) -> dict[str, int]:
    parts = " UNION ALL ".join(f"SELECT model FROM vectors.card_vectors_{n}" for n in (384, 768, 1024))
    query = f"SELECT split_part(model, '@', 1), count(*) FROM ({parts}) v GROUP BY 1"
    with connect(running.admin_database_url, application="test") as connection:
        return dict(connection.execute(query.encode()).fetchall())


def cards_without_a_vector(running: Running) -> int:
    parts = " UNION ALL ".join(f"SELECT card_id FROM vectors.card_vectors_{n}" for n in (384, 768, 1024))
    with connect(running.admin_database_url, application="test") as connection:
        row = connection.execute(
            f"SELECT count(*) FROM cards.cards WHERE card_id NOT IN ({parts})".encode()
        ).fetchone()
    assert row is not None
    return int(row[0])


def kill_in_the_middle(running: Running, server: SlowServer, done: Callable[[], bool]) -> None:
    """Kills the worker at a third of the texts, its successor at once, and again at two thirds."""
    for share in (1 / 3, 2 / 3):
        eventually(lambda share=share: len(set(server.texts)) >= CARDS * share, within=60)  # type: ignore[misc]
        assert not done()
        for _ in range(KILLS // 2):
            running.kill("vectors")
    eventually(done, within=120)


def check(running: Running, server: SlowServer, asked: Asking) -> None:
    assert len(set(server.texts)) == CARDS
    assert CARDS <= len(server.texts) <= CARDS + KILLS * PAGE, "it does not start over"
    assert cards_without_a_vector(running) == 0
    assert len(asked.answers) > KILLS
    assert set(asked.answers) == {(200, "ok", HITS)}


@pytest.mark.timeout(280)
def test_a_killed_worker_goes_on_with_a_mode(tmp_path: Path) -> None:
    server = SlowServer()
    with serving(server.answer) as url:
        settings = {
            variable_of("embed_model"): "hash",
            variable_of("embed_url"): url,
            # A busy machine misses no deadline, so that every answer tells what the vectors are.
            variable_of("semantic_deadline_ms"): "10000",
            variable_of("quarantine_over_ms"): "60000",
        }
        running = start(tmp_path / "data", **settings)
        try:
            declared = {"user_id": USER, "embedder": "hash-768"}
            place = f"{running.write_url}/v1/modes/code"
            assert WEB.put(place, json=declared, headers=running.headers).status_code == 200
            push(running, "code")
            push(running, "general")
            assert models(running) == {"hash": CARDS, "hash-768": CARDS}
            again = WEB.put(place, json=declared | {"embedder": NEW}, headers=running.headers)
            assert again.status_code == 200, again.text
            _reembed(running, server)
            left = models(running)
            assert ("hash-768" in left, left["hash"], sum(left.values())) == (False, CARDS, 2 * CARDS)
        finally:
            assert stop(running) == 0


def _reembed(running: Running, server: SlowServer) -> None:
    whose, key, place = {"user_id": USER}, running.headers, "/v1/modes/code/reembed"

    def done() -> bool:
        answer = WEB.get(f"{running.read_url}{place}", params=whose, headers=key)
        return bool(answer.json()["state"] == "done")

    with asking(running, mode="code") as asked:
        answer = WEB.post(f"{running.write_url}{place}", json=whose, headers=key)
        assert (answer.status_code, answer.json()["other"]) == (202, CARDS), answer.text
        kill_in_the_middle(running, server, done)
        so_far = len(asked.answers)
        eventually(lambda: len(asked.answers) > so_far + 2)
    check(running, server, asked)
