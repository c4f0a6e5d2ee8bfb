"""Pushes turns onto the Redis stream of their user."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import redis

from events.platform.settings import Settings
from events.platform.streams import (
    REDIS_AWAY,
    connect_redis_async,
    in_cluster,
    keys_of,
    mark_of,
    pushed_streams,
    ready,
    stream_of,
    without_command,
    write_probe,
)
from events.sealing.entries import sealed_entry
from events.types.queue_entry import QueueKey
from events.types.tenancy import DEFAULT_TENANT, storage_id
from events.types.turn_contract import is_date
from ingest.recording.turn_queue import ROLLED_OVER, incarnation_mark, lua_script


class _PartialPushError(RuntimeError):
    """The server took some of the turns. ``names`` has None for each refused turn."""

    def __init__(self, refusal: redis.ResponseError, names: Sequence[str | None]) -> None:
        super().__init__(str(refusal))
        self.names = names


class PublishFailedError(RuntimeError):
    """Some turns may not be on their streams. ``accepted`` holds the indexes of the turns that are."""

    def __init__(self, reason: str, accepted: Sequence[int]) -> None:
        super().__init__(reason)
        self.accepted = tuple(accepted)


class TurnPublisher:
    """Pushes turns onto the streams of their users.

    A single Redis takes all turns of a call or none. In a cluster, each stream takes all of its turns or none. One case
    is different: a stream that reaches its largest possible id takes the turns before that id only.
    """

    def __init__(self, settings: Settings, *, idle_s: float = 1.0) -> None:
        """After ``idle_s`` seconds without a push, connections are checked before the next one."""
        self._settings = settings
        self._redis = connect_redis_async(settings.redis_url, socket_timeout=3, socket_connect_timeout=2)
        self._together = not in_cluster(settings.redis_url)
        self._idle_s = idle_s
        self._used_at = 0.0

    async def push(
        self, turns: Sequence[Mapping[str, str]], *, tenant: str = DEFAULT_TENANT, key: QueueKey | None = None
    ) -> list[str]:
        """Pushes ``turns`` of one tenant and returns the names of their entries, in the same order.

        Turns of another tenant than the default one need the ``key`` that proves the tenant, and a ``turn_id``.
        Raises :class:`PublishFailedError` when Redis is away or refuses a turn.
        """
        streams = [stream_of(self._settings, storage_id(tenant, turn["user_id"])) for turn in turns]
        if tenant != DEFAULT_TENANT:
            assert key is not None, "a turn of another tenant needs a key"
            turns = [key.entry_of(turn, tenant) for turn in turns]
        together: dict[str, list[int]] = {}
        for place, stream in enumerate(streams):
            together.setdefault("" if self._together else stream, []).append(place)
        try:
            await ready(self._redis)
        except REDIS_AWAY as error:
            raise PublishFailedError(str(error), ()) from error
        await self._drop_dead_connections()
        done = await asyncio.gather(
            *(
                self._push([(streams[place], turns[place]) for place in places])
                for places in together.values()
            ),
            return_exceptions=True,
        )
        names: dict[int, str] = {}
        failed: BaseException | None = None
        for places, answer in zip(together.values(), done, strict=True):
            if isinstance(answer, _PartialPushError):
                names |= {
                    place: name for place, name in zip(places, answer.names, strict=True) if name is not None
                }
                failed = answer
            elif isinstance(answer, BaseException):
                if not isinstance(answer, REDIS_AWAY):
                    raise answer
                failed = without_command(answer)
            else:
                names |= zip(places, answer, strict=True)
        if failed is not None:
            raise PublishFailedError(str(failed), sorted(names)) from failed
        return [names[place] for place in range(len(turns))]

    async def _drop_dead_connections(self) -> None:
        """Closes idle connections that a restart of Redis has ended.

        A push is never repeated, because Redis may have taken it. So a push must not begin on a dead connection.
        """
        now = time.monotonic()
        if self._together and now - self._used_at >= self._idle_s:
            try:
                await self._redis.ping()
            except REDIS_AWAY:
                await self._redis.connection_pool.disconnect(inuse_connections=False)
        self._used_at = now

    async def _push(self, turns: Sequence[tuple[str, Mapping[str, str]]]) -> list[str]:
        """Pushes all ``turns`` or none. Raises :class:`_PartialPushError` when the server took some of them."""
        if self._together:
            pipe = self._redis.pipeline(transaction=True)
            for stream, turn in turns:
                pipe.xadd(stream, sealed_entry(turn))  # type: ignore[arg-type]
            ids = await pipe.execute(raise_on_error=False)
        else:
            # The cluster pipeline of the client looks up slots in other threads and event loops, so it is not used.
            entries = [sealed_entry(turn) for _, turn in turns]
            words = [word for entry in entries for word in (2 * len(entry), *chain(*entry.items()))]
            ids = await self._call("EVAL", lua_script("push"), 1, turns[0][0], *words)
        refusals = [without_command(each) for each in ids if isinstance(each, redis.ResponseError)]
        if refusals:
            taken = [None if isinstance(each, redis.ResponseError) else each.decode() for each in ids]
            raise _PartialPushError(refusals[0], taken) if any(taken) else refusals[0]
        names = [entry.decode() for entry in ids]
        # These are the names that the recorder gives the entries. The recorder uses the clock of Redis.
        now = datetime.now(UTC)
        far_ahead = {stream for name, (stream, _) in zip(names, turns, strict=True) if not is_date(name, now)}
        incarnations = {stream: await self._incarnation(stream) for stream in far_ahead}
        return [
            name + mark_of(stream) + ("" if is_date(name, now) else incarnations[stream])
            for name, (stream, _) in zip(names, turns, strict=True)
        ]

    async def _incarnation(self, stream: str) -> str:
        return incarnation_mark(await self._call("HGET", keys_of(self._redis, stream).counts, ROLLED_OVER))

    async def ping(self) -> None:
        """Returns when every stream takes turns. Raises one of ``REDIS_AWAY`` when a node is away or refuses turns."""
        await ready(self._redis)
        streams = pushed_streams(self._settings)
        try:
            await asyncio.gather(*(self._call(*write_probe(self._redis, stream)) for stream in streams))
        except redis.ResponseError as error:
            raise without_command(error) from None

    async def _call(self, *words: object) -> Any:
        return await self._redis.execute_command(*words)  # type: ignore[no-untyped-call]

    async def close(self) -> None:
        """Closes the connections to Redis."""
        await self._redis.aclose()
