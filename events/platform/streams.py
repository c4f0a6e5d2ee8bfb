"""The Redis streams turns come in on: what they are called, whose turns go where, how their Redis is reached."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

import redis
import redis.asyncio
from redis.asyncio.cluster import ClusterNode as AsyncClusterNode
from redis.asyncio.cluster import RedisCluster as AsyncRedisCluster
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.connection import parse_url
from redis.exceptions import RedisClusterException
from redis.retry import Retry

from events.platform.settings import Settings, SettingsError, variable_of
from events.types.envelope import PARTITIONS, partition_of

REDIS_AWAY = (redis.RedisError, RedisClusterException)
"""What says that Redis, or the part of a cluster that was asked, cannot answer. The client's errors of a cluster are
a family of their own."""

MOST_STREAMS = PARTITIONS
"""No name but these is ever looked for, so every stream of every layout is found by asking for it."""

_CLUSTER = "+cluster"
_NUMBERED = re.compile(r":\{(\d+)\}$")


def pushed_streams(settings: Settings) -> tuple[str, ...]:
    """The streams that turns are pushed onto: ``turns`` alone, or ``turns:{0}``, ``turns:{1}`` …

    The braces are Redis Cluster's: what stands in them decides the node, for the stream and all beside it.
    """
    if settings.turn_streams == 1:
        return (settings.turns_stream,)
    return tuple(_numbered(settings.turns_stream, number) for number in range(settings.turn_streams))


def read_streams(settings: Settings) -> tuple[str, ...]:
    """The streams that are read whether or not they are there yet: apps may push onto ``turns`` in every layout."""
    return tuple(dict.fromkeys((*pushed_streams(settings), settings.turns_stream)))


def stream_of(settings: Settings, user_id: str) -> str:
    """The stream a user's turns are pushed onto: a function of the user and of how many streams there are."""
    streams = pushed_streams(settings)
    return streams[partition_of(user_id) % len(streams)]


def streams_named(stream: str) -> tuple[str, ...]:
    """Every stream there can be, whatever the layout now or before: ``turns`` itself first."""
    return (stream, *(_numbered(stream, number) for number in range(MOST_STREAMS)))


def mark_of(stream: str) -> str:
    """What tells entries of ``stream`` from those of others, behind their ids: nothing for ``turns``, ``@3`` for
    ``turns:{3}``. Two streams may give the same id in the same millisecond."""
    numbered = _NUMBERED.search(stream)
    return f"@{numbered[1]}" if numbered else ""


def _numbered(stream: str, number: int) -> str:
    return f"{stream}:{{{number}}}"


@dataclass(frozen=True, slots=True)
class StreamKeys:
    """The keys that stand beside a stream, in the same slot of a cluster: scripts move entries between them."""

    stream: str
    dead: str
    counts: str
    dropped: str


def is_cluster(client: object) -> bool:
    """Whether a client that :func:`connect_redis` or :func:`connect_redis_async` gave is one of a cluster."""
    return isinstance(client, RedisCluster | AsyncRedisCluster)


def keys_of(client: redis.Redis | redis.asyncio.Redis, stream: str) -> StreamKeys:
    """The keys of ``stream``. In a cluster, those of ``turns`` are called ``{turns}:dead`` and so on: the
    braces keep them where ``turns`` is."""
    beside = f"{{{stream}}}" if is_cluster(client) and "{" not in stream else stream
    return StreamKeys(stream, f"{beside}:dead", f"{beside}:counts", f"{beside}:dropped")


def existing(client: redis.Redis, streams: Iterable[str]) -> list[str]:
    """Those of ``streams`` that are there, in their order. Raises one of :data:`REDIS_AWAY`."""
    asked = list(streams)
    pipe = client.pipeline(transaction=False)
    for stream in asked:
        pipe.execute_command("EXISTS", stream)  # type: ignore[no-untyped-call]
    return [stream for stream, there in zip(asked, pipe.execute(), strict=True) if there]


def in_cluster(url: str) -> bool:
    """Whether ``url`` names a Redis Cluster: ``redis+cluster://host:port,host:port``, or ``rediss+cluster``."""
    return urlsplit(url).scheme.endswith(_CLUSTER)


def connect_redis(url: str, **options: Any) -> redis.Redis:
    """A client of the Redis at ``url``; for a cluster, one that finds the node of each key.

    A single Redis is connected to when it is first asked, a cluster at once. Raises ``redis.ConnectionError``
    when none of its nodes answers, :class:`SettingsError` for a URL nobody can read.
    """
    if not in_cluster(url):
        return redis.Redis.from_url(url, **options)
    nodes, found = _nodes(url)
    try:
        client = RedisCluster(
            startup_nodes=[
                ClusterNode(host, port)  # type: ignore[no-untyped-call]
                for host, port in nodes
            ],
            # A part of the cluster that is away must not take the rest along.
            require_full_coverage=False,
            # One more try, at another node maybe; whoever asked is told of a second failure and waits as it sees fit.
            retry=Retry(NoBackoff(), 1),
            **found,
            **options,
        )
    except RedisClusterException as error:
        raise redis.ConnectionError(str(error)) from error
    # All commands used here name one key, or several of one slot: there both clients are the same.
    return cast("redis.Redis", client)


def connect_redis_async(url: str, **options: Any) -> redis.asyncio.Redis:
    """Like :func:`connect_redis`, to be awaited; connects when it is first asked."""
    if not in_cluster(url):
        return redis.asyncio.Redis.from_url(url, **options)
    nodes, found = _nodes(url)
    client = AsyncRedisCluster(
        startup_nodes=[AsyncClusterNode(host, port) for host, port in nodes],
        require_full_coverage=False,
        retry=AsyncRetry(NoBackoff(), 1),
        **found,
        **options,
    )
    return cast("redis.asyncio.Redis", client)


async def ready(client: redis.asyncio.Redis) -> None:
    """Let a cluster's client find its nodes, before it is asked for several things at once: it would stumble over
    itself. Nothing is done where it has. Raises one of :data:`REDIS_AWAY`."""
    if is_cluster(client):
        await cast("Any", client).initialize()


def _nodes(url: str) -> tuple[list[tuple[str, int]], dict[str, Any]]:
    """The nodes a cluster's URL names, and what else it says: user, password, TLS."""
    scheme, _, rest = url.partition(f"{_CLUSTER}://")
    place, slash, path = rest.partition("/")
    login, at, hosts = place.rpartition("@")
    nodes: list[tuple[str, int]] = []
    options: dict[str, Any] = {}
    try:
        for host in hosts.split(","):
            said: Any = parse_url(f"{scheme}://{login}{at}{host}{slash}{path}")  # type: ignore[no-untyped-call]
            options = dict(said)
            nodes.append((options.pop("host"), options.pop("port", 6379)))
    except (ValueError, KeyError) as error:
        raise SettingsError(
            f"{variable_of('redis_url')} names a cluster that cannot be read: write it as "
            "redis+cluster://user:password@host:port,host:port"
        ) from error
    if options.pop("db", 0) or "path" in options:
        raise SettingsError(f"{variable_of('redis_url')}: a Redis Cluster has no database but 0")
    if options.pop("connection_class", None) is not None:
        options["ssl"] = True
    return nodes, options
