"""Reading one's own writes: what was said a moment ago answers at once, whatever stage it has reached."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from events.database import connect
from events.settings import Settings
from ingest.extractor import PROCESSOR, ExtractorWorker
from ingest.queue import TurnQueue
from ingest.recorder import Recorder
from ingest.rules import RulesExtractor
from projectors.cards.projector import CardsProjector
from projectors.generations import ensure_live
from projectors.runner import Runner
from retrieval.read_api import RecallIn, ask_of, open_pool, open_recall
from tests.waiting import eventually

NEVER = staticmethod(lambda: False)


class Memory:
    """A memory whose stages move only when told to."""

    def __init__(self, settings: Settings, redis: Redis) -> None:
        self.settings = settings
        self.redis = redis
        with connect(settings.database_url, application="test") as connection:
            PROCESSOR.open(connection)
            ensure_live(connection, CardsProjector())

    def push(self, text: str, *, user: str = "ann", **fields: str) -> str:
        """Onto the queue, and no further."""
        return str(self.redis.xadd("turns", {"user_id": user, "text": text, **fields}))

    def record(self) -> None:
        stop = threading.Event()
        worker = threading.Thread(target=Recorder(self.settings, "r", stop.is_set).run)
        worker.start()
        queue = TurnQueue(
            Redis.from_url(self.settings.redis_url), self.settings.turns_stream, self.settings.consumer_group
        )
        try:
            eventually(lambda: (found := queue.backlog()).waiting == found.pending == 0)
        finally:
            stop.set()
            worker.join(10)

    def extract(self) -> None:
        worker = ExtractorWorker(self.settings, RulesExtractor(), lambda: False)
        with connect(self.settings.database_url, application="test") as connection:
            while worker.step(connection):
                pass

    def project(self) -> None:
        runner = Runner(self.settings, CardsProjector(supersede=self.settings.supersede_fork), lambda: False)
        with connect(self.settings.database_url, application="test") as connection:
            while runner.step(connection):
                pass

    def settle(self) -> None:
        self.record()
        self.extract()
        self.project()

    def ask(self, question: str, *, user: str = "ann", **more: Any) -> dict[str, Any]:
        return asyncio.run(self._ask({"user_id": user, "query": question, **more}))

    async def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        pool = open_pool(self.settings, "test")
        await pool.open(wait=True)
        recall = open_recall(self.settings, pool)
        try:
            return await recall.answer(ask_of(RecallIn.model_validate(request)))
        finally:
            await recall.close()
            await pool.close()

    def values(self, question: str, **more: Any) -> list[tuple[str, bool]]:
        """The states of an answer, each with whether it is pending."""
        return [
            (card["value"], card["pending"])
            for card in self.ask(question, **more)["cards"]
            if card["kind"] == "state"
        ]


@pytest.fixture
def settings(database: str, redis: Redis, redis_url: str, tmp_path: Path) -> Settings:
    # No model: the semantic channel is down, and nothing here leans on it.
    return Settings(
        database_url=database, redis_url=redis_url, embed_model_path=str(tmp_path), overlay_deadline_ms=5000
    )


@pytest.fixture
def memory(settings: Settings, redis: Redis) -> Memory:
    return Memory(settings, redis)


STAGES = {
    "still in the queue": (),
    "recorded and not read": ("record",),
    "read and not folded": ("record", "extract"),
}


@pytest.mark.parametrize("stages", STAGES.values(), ids=STAGES.keys())
@pytest.mark.parametrize(
    ("before", "new", "question", "old_value", "value"),
    [
        ("I live in Taipei.", "My new address is Kaohsiung.", "where do I live?", "Taipei", "Kaohsiung"),
        ("我住在台北", "我搬到高雄了", "我現在住在哪裡？", "台北", "高雄"),
        (
            "I work at Acme.",
            "I just switched jobs, I work at Globex now.",
            "where do I work?",
            "Acme",
            "Globex",
        ),
    ],
)
def test_what_was_just_said_hides_what_it_replaces(
    memory: Memory, stages: tuple[str, ...], before: str, new: str, question: str, old_value: str, value: str
) -> None:
    memory.push(before, said_at="2026-01-03T10:00:00+08:00", timezone="Asia/Taipei")
    memory.settle()
    assert memory.values(question) == [(old_value, False)]
    memory.push(new, timezone="Asia/Taipei")
    for stage in stages:
        getattr(memory, stage)()
    answer = memory.ask(question)
    first = answer["cards"][0]
    assert (first["kind"], first["value"], first["pending"]) == ("state", value, True)
    assert old_value not in [card["value"] for card in answer["cards"] if card["kind"] == "state"]
    assert answer["contradictions"] == []
    assert not [warning for warning in answer["warnings"] if "overlay" in warning]
    memory.settle()
    assert memory.values(question) == [(value, False)]
