"""The pushes of turns that the memory has not accepted yet."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge

from cardlog_client import AsyncClient, CardlogError, UnavailableError

logger = logging.getLogger(__name__)

Outcome = Literal["accepted", "queued", "skipped", "failed"]
_SENDERS = 4
_AT_END_S = 3.0
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.25, 30.0


@dataclass(frozen=True, slots=True)
class Push:
    """Turns to push with an API key. Their ids make a repeat count once."""

    turns: list[dict[str, str]] = field(repr=False)
    key: str = field(repr=False)
    since: float = field(default_factory=time.monotonic)


class PushQueue:
    """Pushes turns, and tries again while the memory is away.

    At most ``most`` pushes wait, each for at most ``retry_s`` seconds. A push that is lost, because the queue is full,
    the time is over, the memory refuses the turns or the process ends, is an error in the log and is counted.
    """

    def __init__(
        self, client: AsyncClient, registry: CollectorRegistry, *, most: int, retry_s: float
    ) -> None:
        self._client = client
        self._queue: asyncio.Queue[Push] = asyncio.Queue(most)
        self._retry_s = retry_s
        self._retried = 0
        self._pushes = Counter(
            "cardlog_proxy_pushes",
            "pushes of turns, accepted or failed for good",
            ["outcome"],
            registry=registry,
        )
        for outcome in ("accepted", "failed"):
            self._pushes.labels(outcome)
        waiting = Gauge(
            "cardlog_proxy_pushes_waiting", "pushes of turns that wait for the memory", registry=registry
        )
        waiting.set_function(self._waiting)

    async def push(self, push: Push, within_s: float) -> Outcome:
        """Pushes the turns, and waits ``within_s`` seconds for the outcome; not at all while other pushes wait."""
        if not push.turns:
            return self._lost(push, "the turn contract refuses its words; see the line before")
        if within_s and not self._waiting():
            try:
                async with asyncio.timeout(within_s):
                    await self._send(push)
                return "accepted"
            except (TimeoutError, UnavailableError):
                pass
            except CardlogError as error:
                return self._lost(push, str(error))
        try:
            self._queue.put_nowait(push)
        except asyncio.QueueFull:
            return self._lost(push, f"{self._queue.maxsize} other pushes wait")
        return "queued"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Sends what waits while the context lasts, and for three seconds after it."""
        senders = [asyncio.create_task(self._sender()) for _ in range(_SENDERS)]
        try:
            yield
        finally:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._queue.join(), _AT_END_S)
            for sender in senders:
                sender.cancel()
            await asyncio.gather(*senders, return_exceptions=True)
            while not self._queue.empty():
                self._lost(self._queue.get_nowait(), "the proxy stops")

    def _waiting(self) -> int:
        return self._queue.qsize() + self._retried

    async def _sender(self) -> None:
        while True:
            push = await self._queue.get()
            try:
                await self._sent(push)
            except CardlogError as error:
                self._lost(push, str(error))
            except asyncio.CancelledError:
                self._lost(push, "the proxy stops")
                raise
            except Exception as error:
                logger.exception("a push of turns broke")
                self._lost(push, type(error).__name__)
            finally:
                self._queue.task_done()

    async def _sent(self, push: Push) -> None:
        """Sends until the memory accepts. Raises CardlogError when it refuses, or is away for too long."""
        wait = _FIRST_WAIT_S
        try:
            await self._send(push)
            return
        except UnavailableError as error:
            logger.warning("a push of %d turns waits: %s", len(push.turns), error)
        self._retried += 1
        try:
            while True:
                await asyncio.sleep(wait)
                try:
                    await self._send(push)
                    return
                except UnavailableError:
                    if time.monotonic() - push.since > self._retry_s:
                        raise
                wait = min(2 * wait, _LONGEST_WAIT_S)
        finally:
            self._retried -= 1

    async def _send(self, push: Push) -> None:
        await self._client.with_key(push.key).push(push.turns)  # type: ignore[arg-type] # checked by the contract
        self._pushes.labels("accepted").inc()

    def _lost(self, push: Push, why: str) -> Literal["failed"]:
        self._pushes.labels("failed").inc()
        logger.error("a push of %d turns is lost: %s", len(push.turns), why)
        return "failed"
