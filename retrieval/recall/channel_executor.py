"""Runs the channels side by side, each with its deadline. A channel that fails costs the answer only its own hits.

Tests and drills make a channel down, broken or slow on purpose (:class:`Fault`).
"""

import asyncio
import logging
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import psycopg
from psycopg import AsyncConnection
from psycopg_pool import PoolTimeout

from events.platform.database import statement
from events.platform.failures import retry_on_lost_connection
from events.platform.settings import Settings, SettingsError, variable_of
from events.resources.recall import ChannelReport, Channels
from retrieval.channels.channel import Channel, ChannelDownError, Hit
from retrieval.pool import Pool
from retrieval.query.question import Question
from retrieval.query.scope import Scope
from retrieval.recall.channel_health import ChannelHealth

logger = logging.getLogger(__name__)

Status = Literal["ok", "late", "quarantined", "down"]

CHANNELS = ("semantic", "tags", "fuzzy", "time", "graph")

_FAULT = re.compile(r"(down|error|slow:(\d{1,6}))")

DEADLINE_MS = 150
BY_CONTENT = frozenset(("semantic", "tags", "fuzzy"))
"""The channels that find a card by its content. The time and graph channels have no hits for most questions."""


@dataclass(frozen=True, slots=True)
class Fault:
    """The fault of every search of one channel. ``variable`` is the setting that injects the fault."""

    kind: Literal["down", "error", "slow"]
    variable: str
    ms: int = 0

    async def strike(self, connection: AsyncConnection) -> None:
        """Injects the fault. ``slow`` sleeps on the server, so that a deadline has a real query to cancel.

        Raises RuntimeError for ``error`` and ChannelDownError for ``down``.
        """
        if self.kind == "slow":
            await connection.execute(statement("retrieval.recall", "slow"), {"seconds": self.ms / 1000})
        elif self.kind == "error":
            raise RuntimeError(f"made to fail by {self.variable}")
        else:
            raise ChannelDownError(f"made to be down by {self.variable}; unset it to have the channel back")


def faults_of(settings: Settings) -> dict[str, Fault]:
    """Returns the injected faults by channel. In production there are none.

    Raises SettingsError, which names the variable, when a value is not ``down``, ``error`` or ``slow:<ms>``.
    """
    found = {}
    for channel in CHANNELS:
        name = f"fault_{channel}"
        text: str = getattr(settings, name)
        if not text:
            continue
        variable = variable_of(name)
        match = _FAULT.fullmatch(text)
        if match is None:
            raise SettingsError(f"{variable} is {text!r}: use down, error or slow:<milliseconds>")
        kind: Any = match[1].partition(":")[0]
        found[channel] = Fault(kind, variable, int(match[2] or 0))
    return found


@dataclass(frozen=True, slots=True)
class ChannelResult:
    """The hits of one channel, best first, and its report."""

    hits: Sequence[Hit]
    report: ChannelReport


@dataclass(slots=True)
class _Attempt:
    """One search. ``began`` is the time at which the search got a connection, or None."""

    began: float | None = None


class ChannelExecutor:
    """Asks channels. Every channel has a result by its deadline. The result is empty when the channel did not answer.

    A late search is cancelled, on the server too, and the question does not wait for the cancellation. A channel that
    stays slow is quarantined (:class:`ChannelHealth`), and no question waits for it. When no channel of
    :data:`BY_CONTENT` answers in time and the caller insists, the late channels get up to ``last_resort_ms``.
    """

    def __init__(
        self,
        pool: Pool,
        deadlines_ms: Mapping[str, int],
        health: Mapping[str, ChannelHealth],
        faults: Mapping[str, Fault] | None = None,
        *,
        last_resort_ms: int = 1000,
    ) -> None:
        self._pool = pool
        self._deadlines = deadlines_ms
        self._health = health
        self._faults = faults or {}
        self._last_resort_ms = last_resort_ms
        self._detached: set[asyncio.Task[object]] = set()  # the event loop holds tasks only weakly

    async def ask(
        self, channels: Sequence[Channel], question: Question, scope: Scope, *, insist: bool = False
    ) -> dict[str, ChannelResult]:
        """Returns the result of each channel by name, in the order of ``channels``.

        With ``insist``, late channels get more time when no channel of :data:`BY_CONTENT` answered.
        """
        # When all these channels are quarantined, all are asked. A slow answer is worth more than none.
        by_content = [channel.name for channel in channels if channel.name in BY_CONTENT]
        all_quarantined = bool(by_content) and all(self._health[name].quarantined for name in by_content)
        result = self._try if all_quarantined else self._result_of
        found = await asyncio.gather(*(result(channel, question, scope) for channel in channels))
        results = {channel.name: result for channel, result in zip(channels, found, strict=True)}
        late = [channel for channel in channels if results[channel.name].report.status == "late"]
        answered = any(results[name].report.status == "ok" for name in by_content)
        if insist and late and not answered:
            results |= await self._last_resort(late, question, scope)
        return results

    def anticipate(self, channels: Sequence[Channel], question: Question, scope: Scope) -> None:
        """Lets the channels start what their search for this question will wait for."""
        for channel in channels:
            if not self._health[channel.name].quarantined:
                channel.anticipate(question, scope)

    async def _last_resort(
        self, channels: Sequence[Channel], question: Question, scope: Scope
    ) -> dict[str, ChannelResult]:
        """Asks late channels again, with more time, until one of them answers.

        Without the second try, an overloaded machine would report that the user has no cards.
        """
        asked = {
            asyncio.create_task(self._try(channel, question, scope, self._last_resort_ms)): channel.name
            for channel in channels
        }
        results: dict[str, ChannelResult] = {}
        while asked and not any(result.report.status == "ok" for result in results.values()):
            done, _ = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
            results |= {asked.pop(task): task.result() for task in done}
        for task in asked:
            task.cancel()
            self._detach(task)
        return results

    def health(self) -> Channels:
        """Returns the health of every channel by name, with its injected fault if there is one."""
        return {
            name: health.report(self._faults[name].variable if name in self._faults else None)
            for name, health in self._health.items()
        }

    async def _result_of(self, channel: Channel, question: Question, scope: Scope) -> ChannelResult:
        health = self._health[channel.name]
        admission = health.admit()
        if admission == "ask":
            return await self._try(channel, question, scope)
        if admission == "probe":
            self._detach(asyncio.create_task(self._probe(channel, question, scope)))
        return _nothing("quarantined", 0.0, health.why)

    async def _probe(self, channel: Channel, question: Question, scope: Scope) -> None:
        health = self._health[channel.name]
        try:
            await self._try(channel, question, scope)
        finally:
            health.probed()
        if not health.quarantined:
            logger.info("channel %s is back", channel.name)

    async def _try(
        self, channel: Channel, question: Question, scope: Scope, deadline_ms: int | None = None
    ) -> ChannelResult:
        if deadline_ms is None:
            deadline_ms = self._deadlines.get(channel.name, DEADLINE_MS)
        health = self._health[channel.name]
        began = time.perf_counter()
        attempt = _Attempt()
        search = asyncio.create_task(self._search(channel, question, scope, deadline_ms / 1000, attempt))
        # The caller may be gone before the search ends. The cancellation reaches the server too, and the caller does
        # not wait for it.
        self._detach(search)
        try:
            done, _ = await asyncio.wait({search}, timeout=deadline_ms / 1000)
        finally:
            search.cancel()
        ms = (time.perf_counter() - began) * 1000
        if not done:
            self._record(channel.name, health, attempt)
            return _nothing("late", ms, f"no answer within {deadline_ms} ms")
        try:
            hits = search.result()
        except PoolTimeout:
            return _nothing("late", ms, "no database connection was free in time")
        except ChannelDownError as error:
            status: Status = "ok" if error.hits else "down"
            report = ChannelReport(status=status, ms=ms, hits=len(error.hits), detail=str(error))
            return ChannelResult(error.hits, report)
        except psycopg.Error as error:
            logger.warning("channel %s failed: %s", channel.name, error)
            return _nothing("down", ms, f"{type(error).__name__}: {error}".splitlines()[0])
        except Exception as error:  # a broken channel must never break the answer
            logger.exception("channel %s is broken", channel.name)
            return _nothing("down", ms, f"{type(error).__name__}: {error}")
        self._record(channel.name, health, attempt)
        return ChannelResult(hits, ChannelReport(status="ok", ms=ms, hits=len(hits)))

    async def _search(
        self, channel: Channel, question: Question, scope: Scope, within: float, attempt: _Attempt
    ) -> list[Hit]:
        if channel.silent(question) and channel.name not in self._faults:
            return []

        async def look() -> list[Hit]:
            async with self._pool.connected(scope.user_id, within) as connection:
                attempt.began = time.perf_counter()
                if fault := self._faults.get(channel.name):
                    await fault.strike(connection)
                return await channel.search(connection, question, scope)

        return await retry_on_lost_connection(look)

    def _record(self, name: str, health: ChannelHealth, attempt: _Attempt) -> None:
        if attempt.began is None:
            return  # The search waited for a connection all the time. The channel is not at fault.
        before = health.quarantined
        health.record((time.perf_counter() - attempt.began) * 1000)
        if health.quarantined and not before:
            logger.warning("channel %s is quarantined: %s", name, health.why)

    def _detach(self, task: asyncio.Task[object]) -> None:
        """Keeps ``task`` until it ends in the background. Its result and its error are dropped."""
        self._detached.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[object]) -> None:
        self._detached.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.debug("a search ended with %s", error)


def _nothing(status: Status, ms: float, why: str) -> ChannelResult:
    return ChannelResult((), ChannelReport(status=status, ms=ms, hits=0, detail=why))
