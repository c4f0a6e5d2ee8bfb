"""Folding whole partitions into empty tables: the fast half of a rebuild, shared out to processes."""

from __future__ import annotations

import gc
import multiprocessing
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from psycopg import sql

from events.platform.database import connect
from events.platform.failures import is_away
from events.platform.sql import statement
from events.store.checkpoints import Claim
from events.store.log import Connection, heads, reason_of
from events.types.codec import decode, known_types
from events.types.envelope import Event
from projectors.generations.generations import Generation, Projector, ProjectorBlockedError
from projectors.parking.parking import is_the_events_fault
from projectors.rebuild.fail_fast_fold import FoldFailedError, fold_or_fail, found_in, place_of

_PACKAGE = "projectors.rebuild"
_ROWS_AT_ONCE = 500
_EVENTS_A_WORD = 2000

Say = Callable[[int, int, int], None]
"""Called with a partition, how many of its events are folded, and how many it has."""


@dataclass(frozen=True, slots=True)
class Task:
    """What every worker of one rebuild is told."""

    database_url: str
    projector: Projector
    generation: Generation


def bulk_connection(url: str, application: str, schema: str) -> Connection:
    """A connection for hard work on tables nobody uses yet, with ``schema`` first on its search path."""
    connection = connect(url, application=application)
    connection.execute(statement(_PACKAGE, "bulk_settings"))
    connection.execute(sql.SQL("SET search_path TO {}, public").format(sql.Identifier(schema)))
    return connection


class Loader:
    """Folds partitions over two connections of its own, one to read the log and one to write tables.

    What is written is committed as it goes: a generation in building counts for nothing until it is
    whole, and whoever fails half-way leaves it to be thrown away. Raises :class:`FoldFailedError` naming
    partition, position, event and type for what cannot be folded, and for a hole in the log.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        name = f"rebuild {task.projector.name}"
        self._reader = bulk_connection(task.database_url, f"{name}, reading", "log")
        self._writer = bulk_connection(task.database_url, f"{name}, writing", task.generation.schema)

    def close(self) -> None:
        self._reader.close()
        self._writer.close()

    def fold(self, partition: int, say: Say) -> int:
        """Fold ``partition`` as far as it reaches now and set its checkpoint there; returns its events."""
        head = heads(self._reader)[partition]
        if not head:
            return 0
        wanted = self._check(partition, head)
        try:
            with self._reader.transaction():
                self._task.projector.load(self._writer, self._events(partition, head, wanted, say))
        except FoldFailedError:
            raise
        except Exception as error:
            if isinstance(error, ProjectorBlockedError) or not is_the_events_fault(error):
                raise
            raise self._culprit(partition, head, error) from error
        self._task.generation.processor.advance(self._writer, [(Claim(partition, 0, head), head)])
        return head

    def _check(self, partition: int, head: int) -> int:
        """No hole up to ``head``, and no type or version nobody here knows; returns how many events will be read."""
        names: dict[str, Any] = {
            "partition": partition,
            "head": head,
            "projection": self._task.generation.projection,
        }
        kinds = self._reader.execute(statement(_PACKAGE, "partition_types"), names).fetchall()
        if sum(count for _, _, count in kinds) != head:
            row = self._reader.execute(statement(_PACKAGE, "first_hole"), names).fetchone()
            assert row is not None
            raise FoldFailedError(f"partition {partition} has no position {row[0]}; run `cardlog log verify`")
        known = known_types()
        for kind, version, _ in kinds:
            if kind in known and version <= known[kind]:
                continue
            row = self._reader.execute(
                statement(_PACKAGE, "first_of_type"), {**names, "type": kind, "version": version}
            ).fetchone()
            if row is not None:
                what = f"schema version {version} is not known" if kind in known else "is an unknown type"
                raise FoldFailedError(f"{place_of(partition, row[0], row[1], kind)}: {kind} {what}")
        return sum(count for kind, _, count in kinds if kind in self._task.projector.types)

    def _events(self, partition: int, head: int, wanted: int, say: Say) -> Iterator[Event]:
        with self._reader.cursor("log", binary=True) as cursor:
            cursor.itersize = _ROWS_AT_ONCE
            cursor.execute(
                statement(_PACKAGE, "read_users"),
                {
                    "partition": partition,
                    "head": head,
                    "types": list(self._task.projector.types),
                    "projection": self._task.generation.projection,
                },
            )
            for number, row in enumerate(cursor, 1):
                yield _event(partition, row)
                if number % _EVENTS_A_WORD == 0:
                    say(partition, number * head // wanted, head)
        say(partition, head, head)

    def _culprit(self, partition: int, head: int, error: Exception) -> FoldFailedError:
        """The event that broke the load, found by folding the partition once more, slowly and into nothing."""
        try:
            with self._writer.transaction(force_rollback=True):
                scratch = sql.Identifier(f"{self._task.generation.schema}_scratch")
                self._writer.execute(sql.SQL("CREATE SCHEMA {}").format(scratch))
                self._writer.execute(sql.SQL("SET LOCAL search_path TO {}, public").format(scratch))
                self._task.projector.create_tables(self._writer)
                batch: list[Event] = []
                with self._reader.transaction():
                    for event in self._events(partition, head, head, lambda *_: None):
                        batch.append(event)
                        if len(batch) >= _ROWS_AT_ONCE:
                            fold_or_fail(self._writer, self._task.projector, batch)
                            batch = []
                fold_or_fail(self._writer, self._task.projector, batch)
        except FoldFailedError as found:
            return found
        return FoldFailedError(f"partition {partition} cannot be folded: {reason_of(error)}")


def _event(partition: int, row: Sequence[Any]) -> Event:
    position, event_id, user_id, stream, version, kind, schema_version, dedupe_key, *rest = row
    occurred_at, recorded_at, actor, causation_id, correlation_id, data = rest
    try:
        payload = decode(kind, schema_version, data)
    except Exception as error:
        raise found_in(partition, position, event_id, kind, error) from error
    return Event(
        partition=partition, position=position, event_id=event_id, user_id=user_id, stream=stream, version=version,
        type=kind, schema_version=schema_version, dedupe_key=dedupe_key, occurred_at=occurred_at,
        recorded_at=recorded_at, actor=actor, causation_id=causation_id, correlation_id=correlation_id, payload=payload,
    )  # fmt: skip


class LoadFailedError(RuntimeError):
    """A process of the rebuild failed; the message is its own."""


def load_all(task: Task, partitions: Mapping[int, int], workers: int, say: Say) -> int:
    """Fold every partition, the largest first; returns the most memory one process took, in bytes.

    With one worker in this process, else in ``workers`` processes that end with this one, however it ends.
    Raises what :class:`Loader` raises; the other processes are then stopped where they are.
    """
    order = sorted(partitions, key=lambda partition: -partitions[partition])
    if workers == 1:
        loader = Loader(task)
        try:
            for partition in order:
                loader.fold(partition, say)
        finally:
            loader.close()
        return _peak_bytes()
    context = multiprocessing.get_context("spawn")
    crew: dict[Pipe[Any, Any], BaseProcess] = {}
    try:
        for _ in range(workers):
            ours, theirs = context.Pipe()
            process: BaseProcess = context.Process(target=_work, args=(theirs, task), daemon=True)
            process.start()
            theirs.close()
            crew[ours] = process
        return _share_out(list(crew), order, say)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        raise LoadFailedError(
            "a process of the rebuild was killed; nothing was changed, start it again"
        ) from None
    finally:
        for pipe, process in crew.items():
            pipe.close()
            process.terminate()
            process.join()


def _share_out(crew: list[Pipe[Any, Any]], order: list[int], say: Say) -> int:
    waiting = iter(order)
    for pipe in crew:
        pipe.send(next(waiting, None))
    peak = 0
    while crew:
        for pipe in [pipe for pipe in wait(crew) if isinstance(pipe, Pipe)]:
            message = pipe.recv()
            match message:
                case ("folded", *place):
                    say(*place)
                case "done":
                    pipe.send(next(waiting, None))
                case ("gone", used):
                    peak = max(peak, used)
                    crew.remove(pipe)
                case ("failed", blocked, reason):
                    raise (ProjectorBlockedError if blocked else LoadFailedError)(reason)
    return peak


def _work(pipe: Pipe[Any, Any], task: Task) -> None:
    """A worker: one partition after the other, until told that there are no more or nobody is there to tell."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal tells everybody; who started us decides
    # Folding makes no cycles, and looking for them among thousands of events takes a sixth of the time.
    gc.disable()
    try:
        loader = Loader(task)
        while (partition := pipe.recv()) is not None:
            loader.fold(partition, lambda *place: pipe.send(("folded", *place)))
            pipe.send("done")
            gc.collect()
            gc.freeze()  # what is left stays: code, and the dictionary
        pipe.send(("gone", _peak_bytes()))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        sys.exit(1)
    except (FoldFailedError, ProjectorBlockedError) as error:
        pipe.send(("failed", isinstance(error, ProjectorBlockedError), str(error)))
    except Exception as error:
        pipe.send(("failed", False, _reason(error)))


def _reason(error: Exception) -> str:
    if is_away(error):
        return f"postgres cannot go on: {' '.join(str(error).split())}"
    return reason_of(error)


def _peak_bytes() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
