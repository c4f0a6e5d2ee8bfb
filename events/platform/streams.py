"""The Redis streams of turns: their names, the stream of each user, and the connection to their Redis."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar, cast
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
"""The errors that mean: Redis, or a node of a cluster, cannot answer. The client's cluster errors have a base class of
their own."""

MOST_STREAMS = PARTITIONS
"""The most numbered streams. A reader can thus find every stream of every layout by its name."""

PUSHED = "pushed"
"""The end of the name of the list that restricted pushers append turns to: ``turns:pushed``."""

_COMMAND = re.compile(r"^Command # \d+ \(.*\) of pipeline caused error: ", re.DOTALL)
_E = TypeVar("_E", bound=BaseException)
_CLUSTER = "+cluster"
_NUMBERED = re.compile(r":\{(\d+)\}$")


def without_command(error: _E) -> _E:
    """Returns an error of a pipeline without the command that the client quotes, because it holds the words of a turn.

    A refusal for want of memory gets a remedy.
    """
    reason = _COMMAND.sub("", str(error))
    if "maxmemory" in reason:
        reason += "; Redis is full: raise its maxmemory, and see that a recorder runs (`cardlog status`)"
    error.args = (reason, *error.args[1:])
    return error


def fault_of(error: Exception) -> str:
    """Returns why Redis did not do what it was asked, in one line. ``error`` is one of :data:`REDIS_AWAY`.

    A refused login names the setting.
    """
    said = " ".join(str(error).split())
    if isinstance(error, redis.AuthenticationError):
        return f"redis refuses the login in {variable_of('redis_url')}: {said}"
    return f"redis {'refused' if isinstance(error, redis.ResponseError) else 'is away'}: {said}"


def write_probe(client: redis.Redis | redis.asyncio.Redis, stream: str) -> tuple[str, ...]:
    """Returns a command that writes nothing. Redis refuses it when it takes no turn, as with a full disk."""
    return ("XADD", keys_of(client, stream).probe, "NOMKSTREAM", "*", "probe", "")


def pushed_streams(settings: Settings) -> tuple[str, ...]:
    """Returns the streams that the write service pushes turns onto: ``turns``, or ``turns:{0}``, ``turns:{1}`` …

    The braces are a hash tag of Redis Cluster: their content decides the node of the stream and of its other keys.
    """
    if settings.turn_streams == 1:
        return (settings.turns_stream,)
    return tuple(_numbered(settings.turns_stream, number) for number in range(settings.turn_streams))


def read_streams(settings: Settings) -> tuple[str, ...]:
    """Returns the streams that the recorder always reads. Apps may push onto ``turns`` in every layout."""
    return tuple(dict.fromkeys((*pushed_streams(settings), settings.turns_stream)))


def stream_of(settings: Settings, user_id: str) -> str:
    """Returns the stream of a user's turns. It depends only on the user id and the number of streams."""
    streams = pushed_streams(settings)
    return streams[partition_of(user_id) % len(streams)]


def streams_named(stream: str) -> tuple[str, ...]:
    """Returns the name of every possible stream, in any layout. ``stream`` itself is the first."""
    return (stream, *(_numbered(stream, number) for number in range(MOST_STREAMS)))


def mark_of(stream: str) -> str:
    """Returns the suffix that makes entry ids of ``stream`` unique: "" for ``turns``, ``@3`` for ``turns:{3}``.

    Two streams may give the same id in the same millisecond.
    """
    numbered = _NUMBERED.search(stream)
    return f"@{numbered[1]}" if numbered else ""


def _numbered(stream: str, number: int) -> str:
    return f"{stream}:{{{number}}}"


@dataclass(frozen=True, slots=True)
class StreamKeys:
    """The Redis keys of a stream. In a cluster all are in one slot, because Lua scripts move entries between them."""

    stream: str
    dead: str
    counts: str
    dropped: str
    pushed: str
    probe: str
    """Nobody ever makes this key."""


def is_cluster(client: object) -> bool:
    """True when ``client`` of :func:`connect_redis` or :func:`connect_redis_async` is a cluster client."""
    return isinstance(client, RedisCluster | AsyncRedisCluster)


def keys_of(client: redis.Redis | redis.asyncio.Redis, stream: str) -> StreamKeys:
    """Returns the keys of ``stream``. In a cluster the keys of ``turns`` are ``{turns}:dead`` and so on: the braces
    keep them in the slot of ``turns``."""
    prefix = f"{{{stream}}}" if is_cluster(client) and "{" not in stream else stream
    return StreamKeys(
        stream,
        f"{prefix}:dead",
        f"{prefix}:counts",
        f"{prefix}:dropped",
        f"{prefix}:{PUSHED}",
        f"{prefix}:probe",
    )


def existing(client: redis.Redis, streams: Iterable[str]) -> list[str]:
    """Returns the existing streams among ``streams``, in their order. Raises one of :data:`REDIS_AWAY`."""
    asked = list(streams)
    pipe = client.pipeline(transaction=False)
    for stream in asked:
        pipe.execute_command("EXISTS", stream)  # type: ignore[no-untyped-call]
    return [stream for stream, there in zip(asked, pipe.execute(), strict=True) if there]


def in_cluster(url: str) -> bool:
    """True when ``url`` names a Redis Cluster: ``redis+cluster://host:port,host:port``, or ``rediss+cluster``."""
    return urlsplit(url).scheme.endswith(_CLUSTER)


def server_of(url: str) -> str:
    """Returns the hosts and ports of ``url``, or the path of its socket, without its login: safe in a log."""
    if in_cluster(url):
        return ",".join(f"{host}:{port}" for host, port in _nodes(url)[0])
    parts = urlsplit(url)
    return parts.path if parts.scheme == "unix" else f"{parts.hostname or 'localhost'}:{parts.port or 6379}"


def connect_redis(url: str, **options: Any) -> redis.Redis:
    """Returns a client of the Redis at ``url``. A cluster client finds the node of each key.

    The client of a single Redis connects at its first command, a cluster client at once. Raises
    ``redis.ConnectionError`` when no node of a cluster answers, and :class:`SettingsError` for a malformed URL.
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
            # While one node is away the other nodes must stay usable.
            require_full_coverage=False,
            # One retry, perhaps at another node. The caller handles a second failure and decides how long to wait.
            retry=Retry(NoBackoff(), 1),
            **found,
            **options,
        )
    except RedisClusterException as error:
        raise redis.ConnectionError(str(error)) from error
    # All commands of Cardlog name one key, or several keys of one slot. For them both clients have the same interface.
    return cast("redis.Redis", client)


def connect_redis_async(url: str, **options: Any) -> redis.asyncio.Redis:
    """Returns an asyncio client as :func:`connect_redis` does. The client connects at its first command."""
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
    """Makes a cluster client find its nodes. Concurrent first commands would break its initialization.

    Does nothing for an initialized client or a single Redis. Raises one of :data:`REDIS_AWAY`.
    """
    if is_cluster(client):
        await cast("Any", client).initialize()


def _nodes(url: str) -> tuple[list[tuple[str, int]], dict[str, Any]]:
    """Returns the nodes in a cluster's URL, and its options: user, password, TLS."""
    scheme, _, rest = url.partition(f"{_CLUSTER}://")
    place, slash, path = rest.partition("/")
    login, at, hosts = place.rpartition("@")
    nodes: list[tuple[str, int]] = []
    options: dict[str, Any] = {}
    try:
        for host in hosts.split(","):
            parsed: Any = parse_url(f"{scheme}://{login}{at}{host}{slash}{path}")  # type: ignore[no-untyped-call]
            options = dict(parsed)
            nodes.append((options.pop("host"), options.pop("port", 6379)))
    except (ValueError, KeyError) as error:
        raise SettingsError(
            f"{variable_of('redis_url')} names a cluster that cannot be read: write it as "
            "redis+cluster://user:password@host:port,host:port"
        ) from error
    if options.pop("db", 0) or "path" in options:
        raise SettingsError(
            f"{variable_of('redis_url')} names a database: a Redis Cluster has only database 0, leave the path out"
        )
    if options.pop("connection_class", None) is not None:
        options["ssl"] = True
    return nodes, options
