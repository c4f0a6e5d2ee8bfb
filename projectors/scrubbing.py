"""Removes the bytes of erased words from the files of PostgreSQL and Redis.

A DELETE leaves bytes in pages, in indexes, in statistics and in the write-ahead log. A scrub therefore

1. rebuilds every projection while the live one serves, swaps it in, and drops the old tables,
2. writes the small tables anew (VACUUM FULL), each under a short lock,
3. moves the write-ahead log on until every segment of before is overwritten or gone,
4. lets Redis write its append-only file anew.

One scrub serves all erasures before it. A scrub that is interrupted can be repeated.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import psycopg
import redis
from psycopg.sql import SQL, Identifier

from events.platform.database import Connection, connect_owner, statement
from events.platform.settings import Settings
from events.platform.streams import REDIS_AWAY, connect_redis, in_cluster
from projectors.generations.generations import drop, list_generations
from projectors.generations.projector import Projector, ProjectorBlockedError
from projectors.rebuild.rebuild import Rebuild
from projectors.registry import projectors

logger = logging.getLogger(__name__)

_PACKAGE = "projectors"
_ROUNDS = 40
_LOCK_TIMEOUT = "2s"
_LOCK_ATTEMPTS = 30
_REWRITE_S = 600.0


@dataclass(slots=True)
class ScrubResult:
    """The steps of a scrub: their seconds, and for a step that was not done the reason with the remedy."""

    seconds: dict[str, float] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)
    erasures: int = 0

    @property
    def complete(self) -> bool:
        return not self.left

    def document(self) -> dict[str, object]:
        return {
            "scrubbed": self.complete,
            "seconds": {step: round(spent, 3) for step, spent in self.seconds.items()},
            "left": self.left,
            "erasures": self.erasures,
        }

    def lines(self) -> list[str]:
        """Returns the result for people."""
        found = [f"{step}: {spent:.1f} s" for step, spent in self.seconds.items() if step not in self.left]
        found += [f"{step}: not done: {why}" for step, why in self.left.items()]
        return [*found, f"scrubbed: {self.erasures} erasures" if self.complete else "not scrubbed yet"]


def scrub(settings: Settings) -> ScrubResult:
    """Removes the bytes of everything that was erased before. Readers and writers go on meanwhile.

    Needs the role that owns the database, for CHECKPOINT and VACUUM FULL: ``CARDLOG_ADMIN_DATABASE_URL``. The
    erasures count as scrubbed when every step is done. Raises the errors of a rebuild.
    """
    done = ScrubResult()
    with connect_owner(settings, application="scrub") as owner:
        [(began,)] = owner.execute(statement(_PACKAGE, "scrub_began")).fetchall()
        for projector in projectors(settings):
            _step(done, f"rebuild {projector.name}", partial(_rebuild, settings, owner, projector))
        _step(done, "write small tables anew", lambda: _vacuum(owner, "small_tables"))
        _step(done, "move the write-ahead log on", lambda: _move_log_on(owner))
        _step(done, "write the Redis file anew", lambda: _rewrite(settings))
        if done.complete:
            done.erasures = owner.execute(statement(_PACKAGE, "scrub_done"), {"began": began}).rowcount
    return done


class _LeftError(RuntimeError):
    """A step cannot be done here. The message gives the reason and the remedy."""


def _step(done: ScrubResult, name: str, work: Callable[[], None]) -> None:
    began = time.perf_counter()
    try:
        work()
    except _LeftError as error:
        done.left[name] = str(error)
    except psycopg.errors.InsufficientPrivilege as error:
        done.left[name] = (
            f"{error.diag.message_primary}; set CARDLOG_ADMIN_DATABASE_URL to the URL of a superuser, or of the owner "
            "with the roles pg_checkpoint and pg_monitor"
        )
    done.seconds[name] = time.perf_counter() - began


def _rebuild(settings: Settings, owner: Connection, projector: Projector) -> None:
    """Replaces the tables of a projection by fresh ones, and drops every older generation."""
    try:
        Rebuild(settings, projector).run()
    except ProjectorBlockedError as error:
        # Without the embedding model nothing can be embedded, but the tables can be copied under a lock.
        logger.warning("%s cannot be rebuilt, so its tables are locked and copied: %s", projector.name, error)
        _vacuum(owner, "tables_of", schema=projector.name)
    for each in list_generations(owner, projector.name):
        if each.status == "retired":
            drop(owner, projector.name, each.number)


def _vacuum(owner: Connection, name: str, **names: object) -> None:
    """Copies the tables that a statement names into new files without their deleted rows.

    A lock is waited for only a short time at once.
    """
    tables = owner.execute(statement(_PACKAGE, name), names).fetchall()
    owner.execute(statement(_PACKAGE, "lock_timeout"), {"timeout": _LOCK_TIMEOUT})
    for schema, table in tables:
        for attempt in range(_LOCK_ATTEMPTS):
            try:
                owner.execute(SQL("VACUUM (FULL, ANALYZE) {}").format(Identifier(schema, table)))
                break
            except psycopg.errors.LockNotAvailable:
                if attempt == _LOCK_ATTEMPTS - 1:
                    raise _LeftError(f"{schema}.{table} is locked all the time; try again later") from None
    owner.execute(statement(_PACKAGE, "lock_timeout"), {"timeout": "0"})


def _move_log_on(owner: Connection) -> None:
    """Writes on until no segment has bytes of before. The server keeps old segments under new names for later."""
    owner.execute(statement(_PACKAGE, "switch_segment"))
    owner.execute(statement(_PACKAGE, "checkpoint"))
    [(since,)] = owner.execute(statement(_PACKAGE, "next_second")).fetchall()
    for _ in range(_ROUNDS):
        [(old,)] = owner.execute(statement(_PACKAGE, "old_segments"), {"since": since}).fetchall()
        if not old:
            # The segment in use may be an old one that is overwritten only in part. A switch fills its rest with zeros.
            owner.execute(statement(_PACKAGE, "switch_segment"))
            owner.execute(statement(_PACKAGE, "checkpoint"))
            return
        for _ in range(old):
            owner.execute(statement(_PACKAGE, "switch_segment"))
        owner.execute(statement(_PACKAGE, "checkpoint"))
    raise _LeftError(
        f"{old} old segments of the write-ahead log stay: a replica, a replication slot or an archive still needs them"
    )


def _rewrite(settings: Settings) -> None:
    if not settings.redis_url:
        return
    if in_cluster(settings.redis_url):
        raise _LeftError("run BGREWRITEAOF on every node of the Redis Cluster")
    client: Any = connect_redis(settings.redis_url, socket_timeout=10)
    with client:
        try:
            if not client.info("persistence").get("aof_enabled"):
                return  # Without the append-only file there is nothing of the queue on disk.
            client.bgrewriteaof()
            deadline = time.monotonic() + _REWRITE_S
            while _rewriting(client):
                if time.monotonic() > deadline:
                    raise _LeftError("Redis does not finish BGREWRITEAOF")
                time.sleep(0.05)
        except redis.exceptions.NoPermissionError:
            raise _LeftError("the Redis user may not run BGREWRITEAOF; run it as an operator") from None
        except REDIS_AWAY as error:
            raise _LeftError(f"redis is away: {error}") from None


def _rewriting(client: Any) -> bool:
    found = client.info("persistence")
    return bool(found["aof_rewrite_in_progress"] or found["aof_rewrite_scheduled"])
