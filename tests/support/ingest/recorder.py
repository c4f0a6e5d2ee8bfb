"""A recorder at work, its queue, and what it recorded."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from psycopg import sql
from redis import Redis

from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from events.types.envelope import partition_of
from ingest.recording.recorder import Recorder
from ingest.recording.turn_queue import TurnQueue
from tests.support.waiting import working


@contextmanager
def recording(settings: Settings, name: str = "r1") -> Iterator[None]:
    stop = threading.Event()
    with working(Recorder(settings, name, stop.is_set).run, stop):
        yield


def queue_of(settings: Settings) -> TurnQueue:
    return TurnQueue(Redis.from_url(settings.redis_url), settings.turns_stream, settings.consumer_group)


def settled(queue: TurnQueue) -> bool:
    backlog = queue.depth()
    return backlog.waiting == 0 and backlog.pending == 0


def texts(connection: Connection, user: str) -> list[str]:
    return [event.payload.text for event in log.read(connection, partition_of(user)) if event.user_id == user]


def allow_connections(connection: Connection, server: str, name: str, allowed: bool) -> None:
    """Allows connections, or ends all other connections and allows no new one."""
    from events.platform.database import connect

    with connect(server, application="test") as admin:
        admin.execute(
            sql.SQL("ALTER DATABASE {} WITH ALLOW_CONNECTIONS {}").format(
                sql.Identifier(name), sql.Literal(allowed)
            )
        )
        if not allowed:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> %s",
                (name, connection.info.backend_pid),
            )
