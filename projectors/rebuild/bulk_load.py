"""Folds whole partitions into empty tables, in several processes. This is the fast half of a rebuild."""

from __future__ import annotations

import gc
import multiprocessing
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from psycopg import sql
from psycopg.rows import TupleRow

from events.platform.database import Connection, connect, one_row, statement
from events.platform.failures import is_away
from events.platform.settings import Settings, SettingsError
from events.sealing import sealer
from events.store import authentication
from events.store.checkpoints import Claim
from events.store.log import heads, payload_of, reason_of
from events.types.codec import known_types
from events.types.envelope import Event
from events.types.tombstones import Erased
from projectors.generations.generations import Generation, make_tables
from projectors.generations.projector import Projector, ProjectorBlockedError
from projectors.parking import is_the_events_fault
from projectors.rebuild.fail_fast_fold import FoldFailedError, fold_or_fail, found_in, place_of

_PACKAGE = "projectors.rebuild"
_ROWS_AT_ONCE = 500
_EVENTS_PER_REPORT = 2000

OnProgress = Callable[[int, int, int], None]
"""A callback that gets a partition, the number of its folded events, and the number of its events."""


@dataclass(frozen=True, slots=True)
class Task:
    """The task of a rebuild, the same for every process."""

    settings: Settings
    projector: Projector
    generation: Generation


def bulk_connection(url: str, application: str, schema: str) -> Connection:
    """Returns a connection with settings for bulk work, and with ``schema`` first on its search path.

    Use it only for tables that nobody reads yet: its commits are asynchronous.
    """
    connection = connect(url, application=application)
    connection.execute(statement(_PACKAGE, "bulk_settings"))
    connection.execute(sql.SQL("SET search_path TO {}, public").format(sql.Identifier(schema)))
    return connection


class Loader:
    """Folds partitions over two connections. One connection reads the log and the other writes the tables.

    The loader commits while it writes. A generation with status ``building`` is not used before it is complete,
    and a failed rebuild removes it.
    Raises :class:`FoldFailedError` for an event that cannot be folded, with partition, position, event id and
    type, and for a hole in the log.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        name = f"rebuild {task.projector.name}"
        self._reader = bulk_connection(task.settings.database_url, f"{name}, reading", "log")
        self._writer = bulk_connection(task.settings.database_url, f"{name}, writing", task.generation.schema)

    def close(self) -> None:
        self._reader.close()
        self._writer.close()

    def fold(self, partition: int, on_progress: OnProgress) -> int:
        """Folds ``partition`` up to its current head and sets the checkpoint there. Returns the head."""
        head = heads(self._reader)[partition]
        if not head:
            return 0
        wanted = self._check(partition, head)
        try:
            with self._reader.transaction():
                self._task.projector.load(self._writer, self._events(partition, head, wanted, on_progress))
        except FoldFailedError:
            raise
        except Exception as error:
            if isinstance(error, ProjectorBlockedError) or not is_the_events_fault(error):
                raise
            raise self._culprit(partition, head, error) from error
        self._task.generation.processor.advance(self._writer, [(Claim(partition, 0, head), head)])
        return head

    def _check(self, partition: int, head: int) -> int:
        """Returns the number of events that the fold will read.

        Raises :class:`FoldFailedError` for a hole up to ``head``, and for an unknown type or schema version.
        """
        names: dict[str, object] = {
            "partition": partition,
            "head": head,
            "projection": self._task.generation.projection,
        }
        kinds = self._reader.execute(statement(_PACKAGE, "partition_types"), names).fetchall()
        if sum(count for _, _, count in kinds) != head:
            [hole] = one_row(self._reader, statement(_PACKAGE, "first_hole"), names)
            raise FoldFailedError(f"partition {partition} has no position {hole}; run `cardlog log verify`")
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

    def _events(self, partition: int, head: int, wanted: int, on_progress: OnProgress) -> Iterator[Event]:
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
                event = _event(partition, row)
                if not isinstance(event.payload, Erased):
                    yield event
                if number % _EVENTS_PER_REPORT == 0:
                    on_progress(partition, number * head // wanted, head)
        on_progress(partition, head, head)

    def _culprit(self, partition: int, head: int, error: Exception) -> FoldFailedError:
        """Returns the error that names the event at fault.

        The partition is folded again in small batches into a scratch schema, which is rolled back.
        """
        try:
            with self._writer.transaction(force_rollback=True):
                make_tables(self._writer, self._task.projector, f"{self._task.generation.schema}_scratch")
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


def _event(partition: int, row: TupleRow) -> Event:
    position, event_id, user_id, stream, version, kind, schema_version, dedupe_key, *rest = row
    occurred_at, recorded_at, actor, causation_id, correlation_id, data = rest
    try:
        payload = payload_of(data, partition, position, event_id, user_id, kind, schema_version)
    except SettingsError:
        # A missing key-encryption key says nothing about the event.
        raise
    except Exception as error:
        raise found_in(partition, position, event_id, kind, error) from error
    return Event(
        partition=partition, position=position, event_id=event_id, user_id=user_id, stream=stream, version=version,
        type=kind, schema_version=schema_version, dedupe_key=dedupe_key, occurred_at=occurred_at,
        recorded_at=recorded_at, actor=actor, causation_id=causation_id, correlation_id=correlation_id, payload=payload,
    )  # fmt: skip


class LoadFailedError(RuntimeError):
    """A process of the rebuild failed. The message is the message of that process."""


def load_all(task: Task, partitions: Mapping[int, int], workers: int, on_progress: OnProgress) -> int:
    """Folds every partition, the largest first. Returns the peak memory of one process in bytes.

    ``partitions`` maps each partition to its number of events. One worker runs in this process. More workers run
    in ``workers`` processes, which end when this process ends for any reason.
    Raises the errors of :class:`Loader`, and :class:`LoadFailedError` for any other failure of a process. The
    other processes are then terminated.
    """
    order = sorted(partitions, key=lambda partition: -partitions[partition])
    if workers == 1:
        loader = Loader(task)
        try:
            for partition in order:
                loader.fold(partition, on_progress)
        finally:
            loader.close()
        return _peak_bytes()
    context = multiprocessing.get_context("spawn")
    workers_by_pipe: dict[Pipe[Any, Any], BaseProcess] = {}
    try:
        for _ in range(workers):
            ours, theirs = context.Pipe()
            process: BaseProcess = context.Process(target=_work, args=(theirs, task), daemon=True)
            process.start()
            theirs.close()
            workers_by_pipe[ours] = process
        return _share_out(list(workers_by_pipe), order, on_progress)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        raise LoadFailedError(
            "a process of the rebuild was killed; nothing was changed, start the rebuild again"
        ) from None
    finally:
        for pipe, process in workers_by_pipe.items():
            pipe.close()
            process.terminate()
            process.join()


def _share_out(pipes: list[Pipe[Any, Any]], order: list[int], on_progress: OnProgress) -> int:
    waiting = iter(order)
    for pipe in pipes:
        pipe.send(next(waiting, None))
    peak = 0
    while pipes:
        for pipe in [pipe for pipe in wait(pipes) if isinstance(pipe, Pipe)]:
            message = pipe.recv()
            match message:
                case ("folded", *place):
                    on_progress(*place)
                case "done":
                    pipe.send(next(waiting, None))
                case ("gone", used):
                    peak = max(peak, used)
                    pipes.remove(pipe)
                case ("failed", blocked, reason):
                    raise (ProjectorBlockedError if blocked else LoadFailedError)(reason)
    return peak


def _work(pipe: Pipe[Any, Any], task: Task) -> None:
    """Folds one partition after the other until the parent sends None or is gone."""
    # A terminal sends SIGINT to every process of its group. The parent alone decides when to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Folding makes no reference cycles. Collecting cycles among thousands of events takes a sixth of the time.
    gc.disable()
    try:
        authentication.use_file(task.settings.log_key_file)
        sealer.use_settings(task.settings)
        loader = Loader(task)
        while (partition := pipe.recv()) is not None:
            loader.fold(partition, lambda *place: pipe.send(("folded", *place)))
            pipe.send("done")
            gc.collect()
            gc.freeze()  # the remaining objects stay until the end: code, and the dictionary
        pipe.send(("gone", _peak_bytes()))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        sys.exit(1)
    except (FoldFailedError, ProjectorBlockedError) as error:
        pipe.send(("failed", isinstance(error, ProjectorBlockedError), str(error)))
    except Exception as error:
        pipe.send(("failed", False, _reason(error)))


def _reason(error: Exception) -> str:
    if is_away(error):
        return f"postgres is away: {' '.join(str(error).split())}"
    return reason_of(error)


def _peak_bytes() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
