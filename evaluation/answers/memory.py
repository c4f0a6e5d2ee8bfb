"""A memory for one measurement: an embedded PostgreSQL, the real extraction worker, projectors and recall."""

import asyncio
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from deploy.embedded.postgres import EmbeddedPostgres
from events.health.log_worker import LogWorker
from events.platform.database import Connection, connect, migrate
from events.platform.settings import Settings
from events.store import log
from events.types.turns import TurnRecorded
from ingest.extraction.extractor_port import RemoteExtractor
from ingest.extraction.rules.extractor import RulesExtractor
from ingest.extraction.workers.model_worker import ModelWorker
from ingest.extraction.workers.rules_worker import PROCESSOR, ExtractorWorker
from ingest.recording.recorder import recorded_event
from projectors.generations.generations import ensure_live
from projectors.registry import projectors
from projectors.runner import Runner
from retrieval.context.context import Prompt, context_of
from retrieval.http.wiring import open_recall
from retrieval.pool import open_pool
from retrieval.recall.answer import RecallAnswer
from retrieval.recall.ask import Ask
from retrieval.recall.recall import Recall

_T = TypeVar("_T")
_MOST_CARDS = 20
_BUDGET = 1500
# The measurement is about what is found. A busy machine must therefore silence no channel.
_PATIENT: dict[str, Any] = {
    **{
        f"{channel}_deadline_ms": 30_000
        for channel in ("semantic", "tags", "fuzzy", "time", "graph", "overlay")
    },
    "quarantine_over_ms": 1_000_000,
}


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to one question: the best cards, and the prompt of an assistant in 1,500 tokens."""

    recall: RecallAnswer
    prompt: Prompt


class Memory:
    """Reads conversations and answers questions. One call at a time.

    The batches are those of the worker in production: a session is in the log before the worker reads on, and one call
    is open at a time. The same conversations and readings therefore give the same batches and known facts.
    """

    def __init__(self, settings: Settings, connection: Connection, extractor: RemoteExtractor | None) -> None:
        """``extractor`` is the model that reads. None means the rules."""
        self._settings = settings
        self.connection = connection
        self._worker: LogWorker = (
            ExtractorWorker(settings, RulesExtractor(), _never)
            if extractor is None
            else ModelWorker(settings, extractor, RulesExtractor(), _never)
        )
        self._worker.prepare(connection)

    def read(self, user_id: str, session: Sequence[TurnRecorded], check: Callable[[], None]) -> None:
        """Appends the turns of one session and extracts them. ``check`` runs between the calls and may raise."""
        log.append(self.connection, [recorded_event(user_id, turn) for turn in session])
        while self._behind():
            self._worker.step(self.connection)
            check()

    def project(self) -> None:
        """Folds the log into the tables of cards and vectors."""
        for projector in projectors(self._settings):
            ensure_live(self.connection, projector)
            runner = Runner(self._settings, projector, _never)
            while runner.step(self.connection):
                pass

    def answers(self, asked: Sequence[tuple[str, str, datetime]]) -> list[Answered]:
        """Returns the answers to (user, question, instant), in order."""

        async def ask(recall: Recall) -> list[Answered]:
            return [await _answered(recall, user, text, now) for user, text, now in asked]

        return asyncio.run(self._with_recall(ask))

    async def _with_recall(self, work: Callable[[Recall], Coroutine[Any, Any, _T]]) -> _T:
        pool = open_pool(self._settings, "eval")
        await pool.open(wait=True)
        recall = open_recall(self._settings, pool)
        try:
            await asyncio.to_thread(recall.warm)
            return await work(recall)
        finally:
            await recall.close()
            await pool.close()

    def _behind(self) -> bool:
        positions = PROCESSOR.positions(self.connection)
        return any(
            head > positions.get(partition, 0) for partition, head in log.heads(self.connection).items()
        )


async def _answered(recall: Recall, user: str, text: str, now: datetime) -> Answered:
    answer = await recall.answer(Ask(user_id=user, query=text, now=now, k=_MOST_CARDS))
    return Answered(answer, context_of(answer, _BUDGET))


@contextmanager
def open_memory(settings: Settings, extractor: RemoteExtractor | None) -> Iterator[Memory]:
    """Yields an empty memory in a temporary folder, and removes it. Raises ServerError when Postgres does not start."""
    with tempfile.TemporaryDirectory(prefix="cardlog-eval-") as folder:
        postgres = EmbeddedPostgres(Path(folder), durable=False)
        postgres.start()
        try:
            own = replace(
                settings,
                **_PATIENT,
                database_url=postgres.url,
                admin_database_url="",
                read_database_url="",
                redis_url="",
                kafka_brokers="",
                log_key_file="",
                batch_events=2_000,
                linger_ms=0,
                session_batch_linger_ms=0,
                extract_concurrency=1,
                rules_fallback=False,
                budget_tokens_per_user_day=0,
            )
            with connect(own.database_url, application="eval") as connection:
                migrate(connection)
                yield Memory(own, connection, extractor)
        finally:
            postgres.stop()


def _never() -> bool:
    return False
