"""A worker that Kafka feeds. The processor has a thread of its own, apart from the event loop of Faust."""

import asyncio
import logging
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from events.health.log_worker import Worker
from events.platform.settings import Settings
from events.store.feed import Feed
from projectors.kafka.app import listen
from projectors.kafka.feed import StreamFeed
from projectors.kafka.topic import BrokerAwayError, TopicUnfitError, ensure_topic

logger = logging.getLogger(__name__)

_PATIENCE_S = 0.5
_LONGEST_PAUSE_S = 5.0


class StreamWorker:
    """Runs the worker of ``make`` on a feed that Kafka fills, until ``stopping``.

    The worker claims, folds and moves its checkpoints as without Kafka, so its guarantees hold. Messages are
    acknowledged afterwards. ``reader`` names the consumer group. While Kafka is away, or after Kafka lost messages,
    the worker looks into the log every few seconds. Raises :class:`projectors.kafka.app.StreamLostError` when Faust
    stops, because only a new process can start Faust again.
    """

    def __init__(
        self,
        settings: Settings,
        reader: str,
        make: Callable[[Feed, Callable[[], bool]], Worker],
        stopping: Callable[[], bool],
    ) -> None:
        self._settings = settings
        self._reader = reader
        self._stopping = stopping
        self._ended = threading.Event()  # Set when the worker or the listener ends. Each ends the other.
        self._feed: StreamFeed[Any] = StreamFeed(look_every_s=settings.kafka_fallback_s)
        self._worker = make(self._feed, self._done)

    def run(self) -> None:
        """Runs worker and listener until ``stopping``."""
        thread = threading.Thread(target=self._work, name=self._reader)
        thread.start()
        try:
            with tempfile.TemporaryDirectory(prefix="cardlog-faust-") as folder:
                asyncio.run(self._listen(Path(folder)))
        finally:
            self._ended.set()
            thread.join()

    def _work(self) -> None:
        try:
            self._worker.run()
        finally:
            self._ended.set()

    def _done(self) -> bool:
        return self._ended.is_set() or self._stopping()

    async def _listen(self, folder: Path) -> None:
        delay = _PATIENCE_S
        while not self._done():
            try:
                # The topic comes first, because one process cannot start Faust twice.
                await asyncio.to_thread(ensure_topic, self._settings)
            except (BrokerAwayError, TopicUnfitError) as error:
                logger.warning("%s gets nothing from Kafka, trying again: %s", self._reader, error)
                self._feed.set_note(str(error))
                await self._pause(delay)
                delay = min(delay * 2, _LONGEST_PAUSE_S)
            else:
                logger.info("%s listens to %s", self._reader, self._settings.kafka_topic)
                await listen(self._settings, self._reader, self._feed, self._done, folder)

    async def _pause(self, seconds: float) -> None:
        until = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < until and not self._done():
            await asyncio.sleep(0.05)
