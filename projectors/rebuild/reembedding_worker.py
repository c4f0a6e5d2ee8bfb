"""Does the re-embeddings of modes that everybody has, which the write service asks for."""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

import psycopg
from psycopg.rows import class_row

from events.platform.database import Connection, statement
from events.platform.failures import is_away
from events.platform.settings import Settings
from events.store.log import reason_of
from projectors.embedding.embedders import Embedders, embedders_of
from projectors.rebuild import reembedding
from projectors.rebuild.request_worker import LOOK_S, TELL_S, RequestWorker, StoppedError

logger = logging.getLogger(__name__)

_PACKAGE = "projectors.rebuild"


@dataclass(frozen=True, slots=True)
class OpenReembedding:
    """An open re-embedding. ``embedder`` is the fingerprint that the write service found for the mode."""

    reembedding_id: UUID
    mode: str
    embedder: str


class _HinderedError(RuntimeError):
    """The re-embedding cannot go on now. The message names the remedy."""


class ReembeddingWorker(RequestWorker):
    """Does the open re-embeddings, the oldest first, until ``stopping`` is true.

    A request stays open until its vectors are live, so another worker continues after a kill. While a re-embedding is
    hindered, the request says why, and the worker tries again after 1 to 60 s.
    """

    def __init__(self, settings: Settings, stopping: Callable[[], bool]) -> None:
        super().__init__(settings, "reembed", stopping)
        self._embedders: Embedders = embedders_of(settings)

    def work(self, connection: Connection) -> float:
        with connection.cursor(row_factory=class_row(OpenReembedding)) as cursor:
            asked = cursor.execute(statement(_PACKAGE, "open_reembeddings")).fetchall()
        hindered = False
        for each in asked:
            try:
                self._embed(connection, each)
            except _HinderedError as error:
                hindered = True
                logger.warning("the mode %s is not embedded again: %s", each.mode, error)
                self._write(connection, "hinder_reembedding", each, hindrance=str(error))
            else:
                self.at_once()
        return self.later() if hindered else LOOK_S

    def _embed(self, connection: Connection, asked: OpenReembedding) -> None:
        try:
            found = reembedding.wanted(connection, self._embedders, asked.mode)
            plan = reembedding.plan_of(found, None)
            self._check(asked, plan.slots[asked.mode]["then"])
            cards = plan.other
            if plan.needed:
                self._run(connection, asked, found, plan.cards)
        except _HinderedError:
            raise
        except Exception as error:
            if is_away(error):
                raise
            raise _HinderedError(reason_of(error)) from error
        finally:
            # Another process may answer with these models, and this one needs them rarely.
            self._embedders.close()
        self._write(connection, "end_reembedding", asked, cards=cards)

    def _check(self, asked: OpenReembedding, embedder: str) -> None:
        if embedder != asked.embedder:
            raise _HinderedError(
                f"the request is for {asked.embedder}, and the settings of this worker give {embedder}: give the write "
                "service and the vectors workers the same settings and the same files, restart them, and ask again"
            )

    def _run(
        self,
        connection: Connection,
        asked: OpenReembedding,
        found: reembedding.ReembeddingTargets,
        total: int,
    ) -> None:
        done, told = 0, 0.0

        def loaded(events: int) -> None:
            nonlocal done, told
            done += events
            if self._stopping():
                raise StoppedError
            if (now := time.monotonic()) >= told + TELL_S:
                told = now
                # The progress is a courtesy. The work goes on without it.
                with suppress(psycopg.Error):
                    self._write(connection, "move_reembedding", asked, share=min(0.99, done / max(total, 1)))

        logger.info("embedding the cards of the mode %s again, with %s", asked.mode, asked.embedder)
        result = reembedding.run(self._settings, self._embedders, found, loaded=loaded)
        logger.info("vectors: generation %d is live after %.1f s", result.generation, result.seconds)

    def _write(self, connection: Connection, name: str, asked: OpenReembedding, **more: object) -> None:
        connection.execute(statement(_PACKAGE, name), {"reembedding_id": asked.reembedding_id, **more})
