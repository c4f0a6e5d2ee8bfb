"""A worker that Kafka feeds: a Faust app with one agent, and a processor in a thread of its own.

No other module uses Faust.
"""

import asyncio
import logging
import tempfile
import threading
from collections.abc import AsyncIterable, Callable, Iterable
from pathlib import Path
from typing import Any

from events.health.log_worker import Worker
from events.platform.settings import Settings
from events.store.feed import Feed
from projectors.kafka.broker import BrokerAwayError, TopicUnfitError, addresses, credentials, ensure_topic
from projectors.kafka.feed import StreamFeed

logger = logging.getLogger(__name__)

_PATIENCE_S = 0.5
_LONGEST_PAUSE_S = 5.0


class StreamWorker:
    """Runs the worker of ``make`` on a feed that Kafka fills, until ``stopping``.

    The worker claims, folds and moves its checkpoints as without Kafka, so its guarantees hold. Messages are
    acknowledged afterwards. ``reader`` names the consumer group. While Kafka is away, or after Kafka lost messages,
    the worker looks into the log every few seconds. Raises :class:`projectors.kafka.worker.StreamLostError` when Faust
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


_LOOK_EVERY_S = 0.1
_PING_EVERY_S = 3.0
_STOP_WITHIN_S = 8.0


class StreamLostError(RuntimeError):
    """Faust stopped. The message says why. Only a new process can start Faust again."""


async def listen(
    settings: Settings, reader: str, feed: StreamFeed[Any], stopping: Callable[[], bool], folder: Path
) -> None:
    """Offers every message of the topic to ``feed`` and acknowledges the released messages, until ``stopping``.

    ``reader`` names the consumer group. Its workers share the partitions. ``folder`` is a scratch folder for Faust.
    The note of the feed says when no broker accepts connections. Raises :class:`StreamLostError` when Faust stops.
    """
    import faust  # noqa: PLC0415 - an extra: not everywhere

    for name, level in (("faust", logging.ERROR), ("mode", logging.ERROR), ("aiokafka", logging.CRITICAL)):
        logging.getLogger(name).setLevel(level)
    app: Any = faust.App(
        f"{settings.kafka_topic}.{reader}",
        broker=[f"kafka://{broker.strip()}" for broker in settings.kafka_brokers.split(",")],
        broker_credentials=credentials(settings),
        key_serializer="raw",
        value_serializer="raw",
        store="memory://",
        datadir=folder,
        autodiscover=False,
        web_enabled=False,
        topic_allow_declare=False,
        topic_disable_leader=True,
        worker_redirect_stdouts=False,
        # Messages are acknowledged late. Postgres decides which events count, and Kafka repeats the other messages.
        stream_wait_empty=False,
        broker_session_timeout=10.0,
        broker_heartbeat_interval=2.0,
        broker_commit_interval=1.0,
    )
    loop = asyncio.get_running_loop()
    space = asyncio.Event()

    def acknowledge(events: list[Any]) -> None:
        for event in events:
            event.ack()
        space.set()

    def release(events: list[Any]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(acknowledge, events)

    async def receive(stream: Any) -> None:
        messages: AsyncIterable[Any] = stream.noack().events()
        async for event in messages:
            message = event.message
            position = _position(message.headers)
            if position is None:
                event.ack()  # No relay wrote this message.
                continue
            feed.offer(message.partition, position, event)
            while feed.full:
                space.clear()
                await space.wait()

    async def assigned(_app: Any, partitions: Any, **_: Any) -> None:
        feed.assigned(each.partition for each in partitions)

    async def revoked(_app: Any, partitions: Any, **_: Any) -> None:
        feed.revoked(each.partition for each in partitions)

    # With more concurrency Faust could acknowledge past a message that is still in work.
    app.agent(app.topic(settings.kafka_topic), name=reader, concurrency=1)(receive)
    app.on_partitions_assigned.connect(assigned, weak=False)
    app.on_partitions_revoked.connect(revoked, weak=False)
    feed.attach(release)
    try:
        await app.start()
        await _watch(app, settings, feed, stopping)
    except StreamLostError:
        raise
    except Exception as error:
        raise StreamLostError(" ".join(str(error).split()) or type(error).__name__) from error
    finally:
        feed.detach()
        try:
            await asyncio.wait_for(app.stop(), _STOP_WITHIN_S)
        except Exception as error:
            logger.debug("Faust did not stop cleanly: %s", error)


async def _watch(app: Any, settings: Settings, feed: StreamFeed[Any], stopping: Callable[[], bool]) -> None:
    """Returns when ``stopping``. Raises :class:`StreamLostError` when Faust stops."""
    time = asyncio.get_running_loop().time
    ping_at = time()
    while not stopping():
        if app.crash_reason is not None or app.should_stop:
            raise StreamLostError(str(app.crash_reason or "Faust stopped"))
        if time() >= ping_at:
            accepted = await _accepts_connections(addresses(settings))
            feed.set_note(None if accepted else f"kafka at {settings.kafka_brokers} takes no connections")
            ping_at = time() + _PING_EVERY_S
        await asyncio.sleep(_LOOK_EVERY_S)


async def _accepts_connections(brokers: Iterable[tuple[str, int]]) -> bool:
    """True when a broker accepts connections. The client of Faust reconnects silently, so it cannot tell."""
    for host, port in brokers:
        try:
            _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), _PING_EVERY_S)
        except (OSError, TimeoutError):
            continue
        writer.close()
        return True
    return False


def _position(headers: Any) -> int | None:
    """Returns the position in the headers of a message, or None without a valid position."""
    items = headers.items() if hasattr(headers, "items") else headers or ()
    for name, value in items:
        if name == "position":
            text = value.decode("ascii", "replace") if isinstance(value, bytes) else str(value)
            return int(text) if text.isdecimal() else None
    return None
