"""Where turns are pushed in: each user's onto their stream."""

from __future__ import annotations

import asyncio
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
)
from events.types.turn_contract import is_date
from ingest.recording.turn_queue import ROLLED_OVER, life_mark, lua_script


class _HalfwayError(RuntimeError):
    """The server took some of the turns; ``names`` has None for those it refused."""

    def __init__(self, refusal: redis.ResponseError, names: Sequence[str | None]) -> None:
        super().__init__(str(refusal))
        self.names = names


class PublishFailedError(RuntimeError):
    """Not all turns are known to be on their streams; ``accepted`` are the places of those that are."""

    def __init__(self, reason: str, accepted: Sequence[int]) -> None:
        super().__init__(reason)
        self.accepted = tuple(accepted)


class TurnPublisher:
    """Pushes turns onto the streams of their users.

    A single Redis takes all turns of a call or none; of a cluster, each stream takes all of its own or none. But a
    stream whose last possible id is given out in between takes those before it, and no other.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._redis = connect_redis_async(settings.redis_url, socket_timeout=5, socket_connect_timeout=2)
        self._together = not in_cluster(settings.redis_url)

    async def push(self, turns: Sequence[Mapping[str, str]]) -> list[str]:
        """The names of the entries, in the order of ``turns``. Raises :class:`PublishFailedError`."""
        streams = [stream_of(self._settings, turn["user_id"]) for turn in turns]
        together: dict[str, list[int]] = {}
        for place, stream in enumerate(streams):
            together.setdefault("" if self._together else stream, []).append(place)
        try:
            await ready(self._redis)
        except REDIS_AWAY as error:
            raise PublishFailedError(str(error), ()) from error
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
            if isinstance(answer, _HalfwayError):
                names |= {
                    place: name for place, name in zip(places, answer.names, strict=True) if name is not None
                }
                failed = answer
            elif isinstance(answer, BaseException):
                if not isinstance(answer, REDIS_AWAY):
                    raise answer
                failed = answer
            else:
                names |= zip(places, answer, strict=True)
        if failed is not None:
            raise PublishFailedError(str(failed), sorted(names)) from failed
        return [names[place] for place in range(len(turns))]

    async def _push(self, turns: Sequence[tuple[str, Mapping[str, str]]]) -> list[str]:
        """All of them or none, where no :class:`_HalfwayError` tells which."""
        if self._together:
            pipe = self._redis.pipeline(transaction=True)
            for stream, turn in turns:
                pipe.xadd(stream, dict(turn))  # type: ignore[arg-type]
            ids = await pipe.execute(raise_on_error=False)
        else:
            # The client's pipelines of a cluster look for slots from threads of their own, on loops of their own.
            words = [word for _, turn in turns for word in (2 * len(turn), *chain(*turn.items()))]
            ids = await self._call("EVAL", lua_script("push"), 1, turns[0][0], *words)
        refusals = [each for each in ids if isinstance(each, redis.ResponseError)]
        if refusals:
            taken = [None if isinstance(each, redis.ResponseError) else each.decode() for each in ids]
            raise _HalfwayError(refusals[0], taken) if any(taken) else refusals[0]
        names = [entry.decode() for entry in ids]
        # What the recorder will call them, whose clock is that of Redis.
        now = datetime.now(UTC)
        far = {stream for name, (stream, _) in zip(names, turns, strict=True) if not is_date(name, now)}
        lives = {stream: await self._life(stream) for stream in far}
        return [
            name + mark_of(stream) + ("" if is_date(name, now) else lives[stream])
            for name, (stream, _) in zip(names, turns, strict=True)
        ]

    async def _life(self, stream: str) -> str:
        return life_mark(await self._call("HGET", keys_of(self._redis, stream).counts, ROLLED_OVER))

    async def ping(self) -> None:
        """Return when every stream can be pushed onto. Raises one of ``REDIS_AWAY``."""
        await ready(self._redis)
        streams = pushed_streams(self._settings)
        await asyncio.gather(*(self._call("EXISTS", stream) for stream in streams))

    async def _call(self, *words: Any) -> Any:
        return await self._redis.execute_command(*words)  # type: ignore[no-untyped-call]

    async def close(self) -> None:
        """Let go of Redis."""
        await self._redis.aclose()
