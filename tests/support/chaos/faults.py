"""Injects faults, and runs a stack with several workers of a kind for them."""

import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx2
import psutil
import psycopg
from redis import Redis
from redis.exceptions import RedisError

from events.platform.database import connect
from tests.support.chaos.load import STREAM, Pusher, Turn
from tests.support.stack import COMMAND, clean_environment, start, stop
from tests.support.waiting import eventually

RECLAIM_MS, IDLE_TIMEOUT_MS = 1500, 5000
SETTINGS = {
    "CARDLOG_RECLAIM_AFTER_MS": str(RECLAIM_MS),
    "CARDLOG_IDLE_IN_TRANSACTION_TIMEOUT_MS": str(IDLE_TIMEOUT_MS),
    # The batches are small, so that no healthy worker exceeds its lease on a busy machine.
    "CARDLOG_BATCH_EVENTS": "16",
    "CARDLOG_EMBED_THREADS": "1",
}
SECOND = ("recorder", "extractor", "projector")
WORKERS = (*SECOND, "vectors")


class Site:
    """A stack, and a second recorder, extractor and projector beside it, as on a second machine."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._seconds: dict[str, subprocess.Popen[bytes]] = {}
        self.running = start(data, **SETTINGS)
        self.tend()
        try:
            # A first start on a busy machine unpacks, compiles and builds its dictionary.
            eventually(self._complete)
        except BaseException:
            self.stop()
            raise

    def _complete(self) -> bool:
        with self.connect() as connection:
            rows = connection.execute(
                """SELECT count(*) FROM pg_stat_activity
                   WHERE application_name IN ('cardlog extractor', 'cardlog cards')"""
            ).fetchall()
        return rows == [(4,)] and len(self.redis.xinfo_consumers(STREAM, "recorders")) == 2

    @property
    def redis(self) -> Redis:
        return self.running.redis

    @property
    def redis_operator(self) -> Redis:
        return self.running.redis_operator

    def where(self) -> tuple[str, str, str]:
        return self.running.write_url, self.running.redis_url, self.running.key

    def connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        return connect(self.running.admin_database_url, application="test")

    def tend(self) -> None:
        """Starts each second worker that does not run, as the supervisor of that machine would."""
        for kind in SECOND:
            process = self._seconds.get(kind)
            if process is None or process.poll() is not None:
                self._seconds[kind] = self._second(kind)

    def _second(self, kind: str) -> subprocess.Popen[bytes]:
        environment = SETTINGS | self.running.servers | {"CARDLOG_PROCESS": f"second {kind}"}
        with (self._data.parent / f"{self._data.name}.log").open("a") as log:
            return subprocess.Popen(
                [*COMMAND, "work", kind, "--name", f"second-{kind}"],
                stdin=subprocess.DEVNULL,
                stderr=log,
                env=clean_environment() | environment,
            )

    def first(self, kind: str) -> psutil.Process | None:
        """Returns the stack's own process of a kind. Of a server it is the process that is no child of another."""
        for process in self.running.workers("valkey" if kind == "redis" else kind):
            try:
                if process.ppid() == self.running.process.pid:
                    return process
            except psutil.Error:
                continue
        return None

    def second(self, kind: str) -> psutil.Process:
        return psutil.Process(self._seconds[kind].pid)

    def either(self, kind: str, chance: random.Random) -> psutil.Process | None:
        return self.second(kind) if kind in SECOND and chance.random() < 0.5 else self.first(kind)

    def restart(self) -> None:
        """Sends kill -9 to the supervisor and starts the stack again. The workers die too, and the servers survive."""
        self.running.process.kill()
        self.running.process.wait()
        assert self.running.process.stdout is not None
        self.running.process.stdout.close()
        self.running = start(self._data, **SETTINGS)
        self._end_seconds()  # the second workers know the servers of the old stack
        self.tend()

    def stop(self) -> int:
        self._end_seconds()
        return stop(self.running)

    def _end_seconds(self) -> None:
        for process in self._seconds.values():
            process.send_signal(signal.SIGCONT)
            process.terminate()
        for process in self._seconds.values():
            process.wait(20)
        self._seconds.clear()

    def log(self) -> str:
        """Returns the last lines that all processes logged."""
        lines = (self._data.parent / f"{self._data.name}.log").read_text(errors="replace").splitlines()
        return "\n".join([line for line in lines if " INFO " not in line][-60:])


@contextmanager
def stopped(process: psutil.Process) -> Iterator[None]:
    """SIGSTOP, and SIGCONT in the end."""
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


class Havoc:
    """Random faults, one after the other, in an order that follows from the seed; each kind before any comes again."""

    def __init__(self, site: Site, chance: random.Random, pusher: Pusher, spare: Iterable[Turn]) -> None:
        self._site = site
        self._chance = chance
        self._pusher = pusher
        self._spare = iter(spare)
        self._began = time.monotonic()
        self._paused: list[tuple[float, psutil.Process]] = []
        self.history: list[str] = []

    def wreak(self, seconds: float) -> None:
        """Injects faults for a time. Afterwards nothing is stopped, full or missing."""
        until = time.monotonic() + seconds
        deck: list[Callable[[], str]] = []
        try:
            while time.monotonic() < until:
                if not deck:
                    deck = self._deck()
                self._do(deck.pop())
                self._resume()
                self._site.tend()
                # The pause sets the density of faults and waits for no condition. The next fault often hits a recovery.
                time.sleep(self._chance.choice((0.0, 0.1, 0.5, 1.0, 2.5)))
        finally:
            self._resume(everybody=True)
            eventually(self._room)
            self._site.tend()

    def _do(self, fault: Callable[[], str]) -> None:
        began = time.monotonic() - self._began
        try:
            what = fault()
        except (psutil.Error, psycopg.Error, RedisError) as error:
            what = f"{getattr(fault, '__name__', fault)} hit nothing: {type(error).__name__}"
        self.history.append(f"{began:6.1f} s  {what}")

    def _deck(self) -> list[Callable[[], str]]:
        deck: list[Callable[[], str]] = [
            *(self._killing(kind) for kind in (*WORKERS, "write", "read", "redis", "postgres")),
            *(self._pausing(kind) for kind in (*WORKERS, "redis")),
            self.a_backend_is_killed,
            self.redis_is_full,
            self.postgres_connections_drop,
            self.redis_connections_drop,
            self.the_logs_clock_jumps,
            self.the_queues_clock_jumps,
        ]
        if not self.history:
            deck.append(
                self.the_supervisor_is_killed
            )  # once a run, because everything restarts and no other fault can happen
        self._chance.shuffle(deck)
        return deck

    def _killing(self, kind: str) -> Callable[[], str]:
        def kill() -> str:
            process = self._site.either(kind, self._chance)
            if process is None:
                return f"{kind} was not there to be killed"
            process.kill()
            return f"kill -9 {kind} ({process.pid})"

        return kill

    def _pausing(self, kind: str) -> Callable[[], str]:
        def pause() -> str:
            process = self._site.either(kind, self._chance)
            if process is None:
                return f"{kind} was not there to be stopped"
            seconds = self._chance.uniform(0.5, 2.5) * IDLE_TIMEOUT_MS / 1000
            process.send_signal(signal.SIGSTOP)
            self._paused.append((time.monotonic() + seconds, process))
            return f"SIGSTOP {kind} ({process.pid}) for {seconds:.1f} s"

        return pause

    def _resume(self, *, everybody: bool = False) -> None:
        now = time.monotonic()
        for due, process in [*self._paused]:
            if everybody or due <= now:
                self._paused.remove((due, process))
                if process.is_running():
                    process.send_signal(signal.SIGCONT)

    def a_backend_is_killed(self) -> str:
        """Kills one server process of Postgres. The server then restarts all others and recovers."""
        server = self._site.first("postgres")
        children = [] if server is None else server.children()
        if not children:
            return "no backend was there to be killed"
        victim = self._chance.choice(children)
        title = " ".join(victim.cmdline()).split(": ")[-1]
        victim.kill()
        return f"kill -9 postgres backend ({title.strip()})"

    def the_supervisor_is_killed(self) -> str:
        self._resume(everybody=True)
        self._site.restart()
        return "kill -9 the supervisor, started again"

    def redis_is_full(self) -> str:
        seconds = self._chance.uniform(0.5, 2.0)
        with full(self._site.redis_operator):
            time.sleep(seconds)
        return f"redis was full for {seconds:.1f} s"

    def _room(self) -> bool:
        try:
            return bool(self._site.redis_operator.config_set("maxmemory", 0))
        except RedisError:
            return False

    def postgres_connections_drop(self) -> str:
        share = self._chance.choice((0.3, 0.6, 1.0))
        with self._site.connect() as connection:
            dropped = connection.execute(
                """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                   WHERE application_name LIKE 'cardlog %%' AND random() < %s""",
                (share,),
            ).fetchone()
        assert dropped is not None
        return f"{dropped[0]} connections to postgres dropped"

    def redis_connections_drop(self) -> str:
        dropped = self._site.redis_operator.client_kill_filter(_type="normal", skipme=True)
        return f"{dropped} connections to redis dropped"

    def the_logs_clock_jumps(self) -> str:
        """The server's clock cannot be changed here. The log sees the traces of a clock that was an hour ahead."""
        with self._site.connect() as connection:
            connection.execute(
                """UPDATE log.heads SET recorded_at = clock_timestamp() + interval '1 hour'
                   WHERE partition = ANY (%s)""",
                (self._chance.sample(range(64), 16),),
            )
        return "the log's clock jumped an hour back on 16 partitions"

    def the_queues_clock_jumps(self) -> str:
        """Pushes an entry with an id from the future. Redis numbers all later entries behind it."""
        client = self._site.redis
        milliseconds, _, _ = str(client.xinfo_stream(STREAM)["last-generated-id"]).partition("-")
        turn = next(self._spare)
        client.xadd(STREAM, dict(turn.fields), id=f"{int(milliseconds) + 3_600_000}-0")  # type: ignore[arg-type]
        self._pusher.push(turn)
        return "the queue's clock jumped an hour ahead"


@contextmanager
def full(client: Redis) -> Iterator[None]:
    """Leaves Redis no free memory."""
    client.config_set("maxmemory", 1)
    try:
        yield
    finally:
        client.config_set("maxmemory", 0)


@dataclass(slots=True)
class Watch:
    """Recalls constantly, and watches with its own connection when Postgres is really away."""

    site: Site
    questions: tuple[tuple[str, str], ...]
    answered: int = 0
    unavailable: list[tuple[float, float, str]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    unanswered: int = 0
    away: list[tuple[float, float]] = field(default_factory=list)
    _stopping: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Watches until the end of the block."""
        threads = [threading.Thread(target=self._ask), threading.Thread(target=self._look)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stopping.set()
            for thread in threads:
                thread.join(30)

    @property
    def unexcused(self) -> list[str]:
        """Returns the answers that no absence of Postgres excuses."""
        return self.failures + [
            f"503 from {begin:.2f} to {end:.2f}: {why}, away: {self.away}"
            for begin, end, why in self.unavailable
            if not any(gone <= end and begin <= back for gone, back in self.away)
        ]

    def _ask(self) -> None:
        with httpx2.Client(timeout=10) as client:
            for user, query in cycle(self.questions):
                if self._stopping.wait(0.05):
                    return
                begin = time.monotonic()
                try:
                    answer = client.post(
                        f"{self.site.running.read_url}/v1/recall",
                        json={"user_id": user, "query": query},
                        headers=self.site.running.headers,
                    )
                except httpx2.HTTPError:
                    self.unanswered += 1  # the service itself was killed or stopped
                    continue
                if answer.status_code == 200:
                    self.answered += 1
                elif answer.status_code == 503:
                    self.unavailable.append((begin, time.monotonic(), answer.text))
                else:
                    self.failures.append(f"{answer.status_code}: {answer.text}")

    def _look(self) -> None:
        here = time.monotonic()
        was_here = True
        while not self._stopping.is_set():
            try:
                with self.site.connect() as connection:
                    while not self._stopping.is_set():
                        connection.execute("SELECT")
                        now = time.monotonic()
                        if not was_here:
                            self.away.append((here, now))
                        was_here, here = True, now
                        self._stopping.wait(0.03)
            except psycopg.Error:
                was_here = False
                self._stopping.wait(0.03)
        if not was_here:
            self.away.append((here, time.monotonic()))


def seed() -> int:
    """Returns the seed of this run: CARDLOG_CHAOS_SEED, or a new one."""
    given = os.environ.setdefault("CARDLOG_CHAOS_SEED", str(random.SystemRandom().randrange(1_000_000)))
    return int(given)


def seconds() -> float:
    """Returns the duration of the random faults in seconds: CARDLOG_CHAOS_SECONDS, or two minutes."""
    return float(os.environ.get("CARDLOG_CHAOS_SECONDS", "120"))
