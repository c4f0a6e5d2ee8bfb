"""Rebuilds a projection from the log while the live generation serves, and makes the new generation live."""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from psycopg import IsolationLevel

from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.store import log
from projectors.generations.digest import TableDigest, differences, digest_of
from projectors.generations.generations import (
    Generation,
    begin,
    changing,
    ensure_live,
    list_generations,
    remove,
    run_step,
    settle_all,
    with_fold_paused,
)
from projectors.generations.projector import Projector, StepKind
from projectors.rebuild.bulk_load import Task, bulk_connection, load_all
from projectors.rebuild.swap import catch_up, level, swap

_SMALL = 20_000
"""The number of events that one process folds in the time that a second process needs to start."""


RebuildPhase = Literal["folding", "indexing", "catching up", "comparing", "swapping"]


def usual_workers() -> int:
    """Returns the number of cores plus one.

    Each process sometimes waits for its server. On two cores, three processes took 63 s where two took 88 s.
    """
    return (os.cpu_count() or 1) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildProgress:
    """The progress of a rebuild.

    ``events`` of ``total`` are folded. ``eta_s`` is the remaining time in seconds, or None when it is unknown.
    ``partitions`` holds the finished share (0 to 1) of each partition that has started.
    """

    projection: str
    generation: int
    stage: RebuildPhase
    events: int
    total: int
    events_per_s: float
    eta_s: float | None
    partitions: dict[int, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildResult:
    """The result of a rebuild.

    ``seconds`` is the time from the first read event to the swap, without the comparison. ``stages`` holds the
    seconds of each phase. ``equal`` is None when nothing was compared, and ``unequal`` names the tables that differ.
    ``replaced`` and ``swap_ms`` are None when there was no swap. ``swap_ms`` is the time in which the live
    projection was not folded. ``memory_bytes`` is the peak memory of one process.
    """

    projection: str
    generation: int
    replaced: int | None
    events: int
    seconds: float
    stages: dict[str, float]
    swap_ms: float | None
    memory_bytes: int
    equal: bool | None = None
    unequal: tuple[str, ...] = ()
    tables: dict[str, TableDigest] = field(default_factory=dict)

    @property
    def events_per_s(self) -> float:
        return self.events / self.seconds if self.seconds else 0.0


class Rebuild:
    """Rebuilds one projection once.

    The live generation answers until the swap, and is kept as a retired generation. A rebuild that ends early (an
    exception, a signal, a crash of the machine) leaves the live generation unchanged. The unfinished generation is
    removed at once if possible, otherwise by the next rebuild.
    ``run`` raises :class:`projectors.generations.generations.GenerationError` when another rebuild, rollback or
    drop is running, :class:`projectors.rebuild.fail_fast_fold.FoldFailedError` or
    :class:`projectors.rebuild.bulk_load.LoadFailedError` for an event that cannot be folded, and
    :class:`projectors.generations.generations.ProjectorBlockedError` when the embedder is not available.
    """

    def __init__(
        self,
        settings: Settings,
        projector: Projector,
        *,
        workers: int | None = None,
        verify: bool = False,
        on_progress: Callable[[RebuildProgress], None] = lambda _: None,
    ) -> None:
        self._settings = settings
        self._projector = projector
        self._workers = workers
        self._verify = verify
        self._on_progress = on_progress
        self._stages: dict[str, float] = {}
        self._started_at = 0.0

    def run(self) -> RebuildResult:
        """Rebuilds, compares when ``verify`` is set, and swaps unless the comparison found a difference."""
        name = self._projector.name
        with connect(self._settings.database_url, application=f"rebuild {name}") as connection:
            ensure_live(connection, self._projector)
            with changing(connection, name):
                for each in list_generations(connection, name):
                    if each.status == "building":
                        remove(connection, each.generation)
                generation = begin(connection, self._projector)
                try:
                    return self._run(connection, generation)
                except BaseException:
                    self._abandon(generation)
                    raise

    def _run(self, connection: Connection, generation: Generation) -> RebuildResult:
        heads = log.heads(connection)
        total = sum(heads.values())
        self._started_at = time.perf_counter()
        workers = self._workers or max(1, min(usual_workers(), total // _SMALL))
        task = Task(self._settings, self._projector, generation)
        done = dict.fromkeys(heads, 0)
        shares: dict[int, float] = {}

        def on_progress(partition: int, events: int, head: int) -> None:
            done[partition], heads[partition] = events, head
            shares[partition] = events / head
            self._report(generation, "folding", sum(done.values()), sum(heads.values()), shares)

        with self._timed("folding"):
            memory = load_all(task, heads, workers, on_progress)
        self._report(generation, "indexing", total, total, shares)
        with self._timed("indexing"):
            self._finish(generation, workers)
        self._report(generation, "catching up", total, total, shares)
        with self._timed("catching up"):
            catch_up(connection, self._projector, generation)
        unequal: list[str] | None = None
        tables: dict[str, TableDigest] = {}
        if self._verify:
            self._report(generation, "comparing", total, total, shares)
            with self._timed("comparing"):
                unequal, tables = self._compare(connection, generation)
        replaced = swap_ms = None
        if not unequal:
            with self._timed("catching up"):
                catch_up(connection, self._projector, generation)
            self._report(generation, "swapping", total, total, shares)
            with self._timed("swapping"):
                replaced = swap(connection, self._projector, generation).number
            swap_ms = self._stages["swapping"] * 1000
        seconds = sum(spent for stage, spent in self._stages.items() if stage != "comparing")
        return RebuildResult(
            projection=generation.projection,
            generation=generation.number,
            replaced=replaced,
            events=sum(generation.processor.positions(connection).values()),
            seconds=seconds,
            stages=self._stages,
            swap_ms=swap_ms,
            memory_bytes=memory,
            equal=None if unequal is None else not unequal,
            unequal=tuple(unequal or ()),
            tables=tables,
        )

    def _finish(self, generation: Generation, workers: int) -> None:
        """Builds all indexes and then the statistics, several at once: one a worker, and at most one a core."""
        kinds: tuple[StepKind, ...] = ("indexes", "statistics")
        name = f"rebuild {generation.projection}, indexes"
        connections: list[Connection] = []

        def work(kind: StepKind, number: int) -> None:
            with bulk_connection(self._settings.database_url, name, generation.schema) as connection:
                connections.append(connection)
                run_step(connection, generation.schema, kind, number)

        for kind in kinds:
            with ThreadPoolExecutor(max(1, min(workers, os.cpu_count() or 1))) as pool:
                futures = [pool.submit(work, kind, each) for each in range(len(self._projector.steps(kind)))]
                try:
                    for future in as_completed(futures):
                        future.result()
                except BaseException:
                    # The pool waits for its threads, and the threads wait for the server. So cancel the statements.
                    pool.shutdown(wait=False, cancel_futures=True)
                    for connection in connections:
                        if not connection.closed:
                            connection.cancel_safe()
                    raise

    def _compare(
        self, connection: Connection, generation: Generation
    ) -> tuple[list[str], dict[str, TableDigest]]:
        """Compares the digests of both generations at the same positions. Returns (differences, rebuilt digests).

        Both generations are brought to the same positions while live folding is paused, and one snapshot is taken.
        Live folding then continues, and the digests are computed from the snapshot.
        """
        name = self._projector.name
        url, application = self._settings.database_url, f"rebuild {name}, comparing"
        with connect(url, application=application, autocommit=False) as snapshot:
            snapshot.isolation_level = IsolationLevel.REPEATABLE_READ
            settle_all(connection, self._projector, name)
            with with_fold_paused(connection, name):
                live = ensure_live(connection, self._projector)
                heads = log.heads(connection)
                level(connection, self._projector, live, name, heads, park=True)
                settle_all(connection, self._projector, name)
                level(connection, self._projector, generation, generation.schema, heads)
                # This first statement takes the snapshot that all later statements see.
                if live.processor.positions(snapshot) != generation.processor.positions(snapshot):
                    raise RuntimeError(
                        f"another process folded {name} while folding was paused; rebuild again"
                    )
            rebuilt = digest_of(snapshot, self._projector, generation.schema)
            found = differences(digest_of(snapshot, self._projector, name), rebuilt)
        return found, rebuilt

    def _report(
        self, generation: Generation, stage: RebuildPhase, events: int, total: int, shares: dict[int, float]
    ) -> None:
        spent = time.perf_counter() - self._started_at
        rate = events / spent if spent else 0.0
        self._on_progress(
            RebuildProgress(
                projection=generation.projection,
                generation=generation.number,
                stage=stage,
                events=events,
                total=total,
                events_per_s=rate,
                eta_s=(total - events) / rate if rate and stage == "folding" else None,
                partitions=dict(shares),
            )
        )

    @contextmanager
    def _timed(self, stage: RebuildPhase) -> Iterator[None]:
        begun = time.perf_counter()
        try:
            yield
        finally:
            self._stages[stage] = self._stages.get(stage, 0.0) + time.perf_counter() - begun

    def _abandon(self, generation: Generation) -> None:
        """Removes the unfinished generation. When that fails, the next rebuild removes it."""
        try:
            with connect(self._settings.database_url, application="rebuild, cleaning up") as connection:
                remove(connection, generation)
        except Exception:
            return
