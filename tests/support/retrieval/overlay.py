"""A recall service, and turns at every stage of their way."""

import asyncio
from typing import Any

from redis import Redis

from events.platform.database import connect
from events.platform.settings import Settings
from events.resources.resource import plain
from ingest.extraction.rules.extractor import RulesExtractor
from ingest.extraction.workers.rules_worker import PROCESSOR, ExtractorWorker
from projectors.cards.projector import CardsProjector
from projectors.generations.generations import ensure_live
from projectors.runner import Runner
from retrieval.http.questions import RecallIn, ask_of
from retrieval.http.resources import recalled
from retrieval.http.wiring import open_recall
from retrieval.pool import open_pool
from tests.support.ingest.recorder import queue_of, recording, settled
from tests.support.streams import add
from tests.support.waiting import eventually


class Memory:
    """A memory whose stages run only when the test runs them."""

    def __init__(self, settings: Settings, redis: Redis) -> None:
        self.settings = settings
        self.redis = redis
        with connect(settings.database_url, application="test") as connection:
            PROCESSOR.open(connection)
            ensure_live(connection, CardsProjector())

    def push(self, text: str, *, user: str = "ann", **fields: str) -> str:
        """Pushes onto the queue only."""
        return add(self.redis, "turns", {"user_id": user, "text": text, **fields})

    def record(self) -> None:
        with recording(self.settings):
            eventually(lambda: settled(queue_of(self.settings)))

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
            answer = await recall.answer(ask_of(RecallIn.model_validate(request)))
            document: dict[str, Any] = plain(recalled(answer))
            return document
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


STAGES = {
    "still in the queue": (),
    "recorded and not read": ("record",),
    "read and not folded": ("record", "extract"),
}


def pending(answer: dict[str, Any]) -> list[str]:
    return [card["content"] for card in answer["cards"] if card["pending"]]


def overlay_warnings(answer: dict[str, Any]) -> list[str]:
    return [warning for warning in answer["warnings"] if "overlay" in warning.partition(":")[0]]


def crowd(redis: Redis, turns: int) -> None:
    pipe = redis.pipeline(transaction=False)
    for number in range(turns):
        pipe.xadd("turns", {"user_id": f"other {number % 40}", "text": f"I like tea number {number}."})
    pipe.execute()
