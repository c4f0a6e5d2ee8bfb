"""The health of every stage is true. An unknown number is shown as unknown and never as zero."""

import threading
from contextlib import closing
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from redis import Redis

from events.health.cached_probe import CachedProbe
from events.health.health_status import (
    STUCK_S,
    LogMonitor,
    WorkClock,
    assess,
    read_health,
)
from events.health.heartbeat import HeartbeatReport, WorkerState
from events.health.metrics import HealthSnapshot, StageMetrics
from events.health.stage_health import StageHealth
from events.platform.database import Connection, connect, migrate
from events.platform.settings import Settings
from events.store import log
from events.store.checkpoints import Processor
from events.types.envelope import partition_of, uuid7
from ingest.extraction.workers.rules_worker import PROCESSOR as EXTRACTOR
from ingest.recording.intake import Overviews
from ingest.recording.turn_queue import QueueDepth, TurnQueue
from projectors.cards.projector import CardsProjector
from projectors.generations.generations import begin, changing, ensure_live
from tests.support.databases import execute, name_of, url_of
from tests.support.events.payloads import FAILED
from tests.support.events.turns import turn
from tests.support.overviews import overview
from tests.support.projectors.folding import settings_of
from tests.support.roles import roles_for
from tests.support.waiting import eventually

NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing"


def said(
    state: WorkerState = "running",
    *,
    detail: str | None = None,
    seen_s: float = 1.0,
    rate: float | None = 2.0,
    worker: str = "w",
) -> HeartbeatReport:
    return HeartbeatReport(
        stage="cards", worker=worker, pid=1, state=state, detail=detail, error=None, error_at=None, done=0,
        rate=rate, seen_s=seen_s, moved_s=None,
    )  # fmt: skip


def judged(
    *reports: HeartbeatReport,
    name: str = "cards",
    behind: int = 5,
    seconds: float | None = 100.0,
    moved_s: float | None = 1.0,
) -> StageHealth:
    return assess(
        name, reports, behind=behind, seconds=seconds, moved_s=moved_s, parked=0, dead=0, position=7
    )


@pytest.mark.parametrize(
    ("stage", "state", "detail"),
    [
        (judged(said()), "running", None),
        (judged(said(), moved_s=31.0), "stuck", "no event was processed for 31 s"),
        (judged(said(), seconds=29.0, moved_s=3600.0), "running", None),
        (judged(said(), behind=0, seconds=0.0, moved_s=3600.0), "running", None),
        (judged(said(), moved_s=None), "stuck", "no event was processed for 100 s"),
        (judged(said("waiting", detail="no key"), moved_s=20.0), "waiting", "no key"),
        (judged(said("waiting", detail="no key"), moved_s=40.0), "stuck", "no key"),
        (judged(said("waiting", detail="no model"), moved_s=40.0, name="vectors"), "waiting", "no model"),
        (judged(said("waiting", detail="not idle"), moved_s=40.0, name="curator"), "waiting", "not idle"),
        (judged(said(), moved_s=40.0, name="vectors"), "stuck", "no event was processed for 40 s"),
        (judged(said("stopped", seen_s=3.0)), "stopped", "w (pid 1) stopped 3 s ago"),
        (judged(said(seen_s=16.0)), "stopped", "w (pid 1) fell silent 16 s ago"),
        (judged(said(), said(seen_s=16.0, worker="v")), "running", "v (pid 1) fell silent 16 s ago"),
        (judged(), "unknown", "has not been started yet"),
    ],
)
def test_a_stage_is_judged_by_its_work_and_its_workers(
    stage: StageHealth, state: str, detail: str | None
) -> None:
    assert (stage.state, stage.detail) == (state, detail)
    assert stage.well == (state in {"running", "waiting"})


def test_rates_are_added_up_and_unknown_when_one_is() -> None:
    assert judged(said(rate=2.0), said(rate=3.0)).rate == 5.0
    assert judged(said(rate=2.0), said(rate=None)).rate is None
    assert judged(said("stopped", rate=2.0)).rate is None


def test_behind_and_age_are_counted_from_the_log(connection: Connection) -> None:
    ensure_live(connection, CardsProjector(supersede=True))
    EXTRACTOR.open(connection)
    log.append(connection, [turn("u1", "one"), turn("u1", "two"), turn("u2", "three")])
    rewrite(
        connection, "UPDATE log.events SET recorded_at = recorded_at - interval '1 hour' WHERE position = 1"
    )
    cards = read_health(connection).reader("cards")
    assert (cards.behind, cards.position, cards.parked) == (3, 0, 0)
    assert 3600 <= (cards.seconds or 0) < 3700
    assert 3600 <= (cards.stalled_s or 0) < 3700
    move(connection, "cards", 1, "now() - interval '10 min'")
    cards = read_health(connection).reader("cards")
    assert (cards.behind, cards.position) == (0, 3)
    assert (cards.seconds, cards.stalled_s) == (0.0, 0.0)
    log.append(connection, [turn("u1", "four")])
    cards = read_health(connection).reader("cards")
    assert cards.behind == 1
    assert (cards.stalled_s or 99) < 60, "it has not had work for long"
    assert read_health(connection).reader("extractor").behind == 4
    assert read_health(connection).events == 4


def test_a_role_that_sees_one_tenant_at_a_time_counts_no_unknown_number_as_zero(
    database: str, connection: Connection
) -> None:
    ensure_live(connection, CardsProjector(supersede=True))
    move(connection, "cards", 0, "now() - interval '1 hour'")
    log.append(connection, [turn("u1", "one")])
    with roles_for(database, ("reader",)) as [url], connect(url, application="test") as limited:
        clock = WorkClock()
        seen = read_health(limited, clock)
        cards = seen.reader("cards")
        assert (seen.whole, seen.parked, cards.behind) == (False, None, 1)
        assert (cards.parked, cards.seconds) == (None, None)
        # The stage processed nothing for an hour because it had nothing to do. The age of its work is not known.
        assert (cards.stalled_s or 0) < STUCK_S
        metrics = CollectorRegistry()
        metrics.register(StageMetrics(lambda: HealthSnapshot(seen.readers, {})))
        samples = generate_latest(metrics).decode()
        assert 'cardlog_stage_behind{stage="cards"} 1.0' in samples
        assert "cardlog_stage_parked{" not in samples
        assert 'cardlog_stage_seconds_behind{stage="cards"}' not in samples


def rewrite(connection: Connection, change: str) -> None:
    connection.execute("ALTER TABLE log.events DISABLE TRIGGER events_append_only")
    connection.execute(change)
    connection.execute("ALTER TABLE log.events ENABLE TRIGGER events_append_only")


def move(connection: Connection, processor: str, generation: int, moved_at: str) -> None:
    connection.execute(
        "UPDATE log.checkpoints c SET position = h.position, moved_at = " + moved_at + " FROM log.heads h "
        "WHERE h.partition = c.partition AND processor = %s AND generation = %s",
        (processor, generation),
    )


def test_the_age_of_an_event_that_is_missing_is_unknown(connection: Connection) -> None:
    EXTRACTOR.open(connection)
    log.append(connection, [turn("u1", "one")])
    rewrite(connection, "DELETE FROM log.events")
    extractor = read_health(connection).reader("extractor")
    assert (extractor.behind, extractor.seconds) == (1, None)
    assert extractor.stalled_s is None


def test_parked_events_and_given_up_turns_are_counted(connection: Connection) -> None:
    generation = ensure_live(connection, CardsProjector(supersede=True))
    EXTRACTOR.open(connection)
    log.append(connection, [turn("u1", "one"), replace(turn("u1", "two"), payload=FAILED)])
    connection.execute(
        "INSERT INTO log.parked (processor, generation, partition, user_id, position, event_id, reason, attempts) "
        "VALUES ('cards', %s, %s, 'u1', 1, %s, 'no room', 1)",
        (generation.number, partition_of("u1"), uuid7()),
    )
    standing = read_health(connection)
    assert (standing.reader("cards").parked, standing.parked) == (1, 1)
    assert standing.reader("cards").error == "no room"
    assert standing.reader("extractor").dead == 1


def test_a_generation_in_building_is_distinguished_from_an_abandoned_one(
    database: str, connection: Connection
) -> None:
    projector = CardsProjector(supersede=True)
    ensure_live(connection, projector)
    log.append(connection, [turn("u1", "one")])
    with connect(database, application="rebuild") as other, changing(other, "cards"):
        generation = begin(other, projector)
        found = read_health(connection).reader(f"cards_g{generation.number}")
        assert (found.state, found.behind, found.well) == ("building", 1, True)
        assert read_health(connection).reader("cards").behind == 1
    found = read_health(connection).reader(f"cards_g{generation.number}")
    assert (found.state, found.well) == ("abandoned", True)


def test_readers_nobody_started_are_listed_as_unknown(empty_database: str) -> None:
    with connect(empty_database, application="test") as connection:
        migrate(connection)
        Processor("reader").open(connection)
        log.append(connection, [turn("u1", "one")])
        found = {stage.name: (stage.behind, stage.state) for stage in read_health(connection).readers}
    assert found == {
        "reader": (1, "unknown"),
        "extractor": (None, "unknown"),
        "cards": (None, "unknown"),
        "vectors": (None, "unknown"),
        "references": (None, "unknown"),
        "problems": (None, "unknown"),
        "people": (None, "unknown"),
        "core": (None, "unknown"),
    }


def test_without_redis_or_postgres_everything_of_theirs_is_unknown(
    database: str, redis: Redis, redis_url: str
) -> None:
    redis.xadd("turns", {"user_id": "u1", "text": "hello"})
    without_postgres = overview(Settings(database_url=NOWHERE, redis_url=redis_url))
    assert (without_postgres.events, without_postgres.parked) == (None, None)
    assert (without_postgres.dead, without_postgres.recorded) == (0, 0)
    recorder, *others = without_postgres.stages
    assert (recorder.behind, recorder.workers, recorder.state) == (1, None, "unknown")
    for stage in others:
        assert (stage.behind, stage.seconds, stage.rate, stage.parked, stage.dead) == (None,) * 5
        assert stage.detail is not None
        assert stage.detail.startswith("postgres is away: ")
    without_redis = overview(Settings(database_url=database, redis_url="redis://127.0.0.1:1/0"))
    recorder = without_redis.stages[0]
    assert (recorder.behind, recorder.seconds, recorder.dead, recorder.state) == (None, None, None, "unknown")
    assert (without_redis.dead, without_redis.recorded, without_redis.duplicates) == (None, None, None)
    assert without_redis.events == 0
    assert not without_redis.well


def test_an_unreported_rate_is_computed_from_two_probes(
    redis: Redis, redis_url: str, connection: Connection
) -> None:
    Processor("stray").open(connection)
    log.append(connection, [turn("u1", "one"), turn("u1", "two")])
    with closing(Overviews(settings_of(connection, redis_url=redis_url))) as looking:
        assert next(stage for stage in looking().stages if stage.name == "stray").rate is None
        move(connection, "stray", 0, "now()")
        stray = next(stage for stage in looking().stages if stage.name == "stray")
        assert (stray.rate or 0) > 0


def test_the_backlog_counts_what_waits_whether_the_delivered_is_trimmed_or_not(
    redis: Redis, redis_url: str
) -> None:
    queue = TurnQueue(Redis.from_url(redis_url), "turns", "g")
    assert queue.depth() == QueueDepth(0, 0, None)
    ids = [str(redis.xadd("turns", {"n": number})) for number in range(10)]
    assert queue.depth() == QueueDepth(10, 0, ids[0])
    queue.open()
    assert queue.depth() == QueueDepth(10, 0, ids[0])
    taken = queue.read("r", 4, 10)
    assert queue.depth() == QueueDepth(6, 4, ids[0])
    queue.settle(taken[1:], [], frozenset())
    assert queue.depth() == QueueDepth(6, 1, ids[0])
    queue.settle(taken[:1], [], frozenset())
    assert queue.depth() == QueueDepth(6, 0, ids[4])
    queue.trim()
    assert queue.depth() == QueueDepth(6, 0, ids[4])
    queue.settle(queue.read("r", 10, 10), [], frozenset())
    assert queue.depth() == QueueDepth(0, 0, None)


def test_a_hanging_probe_is_unknown_and_only_one_runs() -> None:
    going_on, looks = threading.Event(), []

    def hang() -> int:
        looks.append(1)
        going_on.wait(30)
        return len(looks)

    probe = CachedProbe(hang, fresh_s=600.0, patience_s=0.02)
    assert [probe(), probe(), probe()] == [None, None, None]
    assert len(looks) == 1
    going_on.set()
    assert eventually(probe) == 1
    assert probe() == 1


def test_a_failing_probe_is_unknown_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> int:
        raise ValueError("cannot see")

    caplog.set_level("WARNING")  # a command that ran in this process before may have set another level
    assert CachedProbe(fail)() is None
    # On a busy machine the probe fails after its caller stopped waiting.
    assert eventually(lambda: "the probe failed" in caplog.text)


def test_an_extractors_counts_are_those_of_each_workers_last_process() -> None:
    counts = {"turns": 12, "calls": 3, "input_tokens": 900, "cost_usd": 0.25}
    now = replace(said(worker="one"), stage="extractor", counts=counts)
    before = replace(now, pid=7, seen_s=10.0, counts={"turns": 500})
    other = replace(now, worker="two", counts={"turns": 4})
    seen = HealthSnapshot((), {}, reports=(before, now, other, replace(now, stage="cards", worker="three")))
    registry = CollectorRegistry()
    registry.register(StageMetrics(lambda: seen))
    told = [line for line in generate_latest(registry).decode().splitlines() if line[0] != "#"]
    assert set(told) == {
        'cardlog_extraction_turns_total{worker="one"} 12.0',
        'cardlog_extraction_turns_total{worker="two"} 4.0',
        'cardlog_extraction_calls_total{worker="one"} 3.0',
        'cardlog_extraction_input_tokens_total{worker="one"} 900.0',
        'cardlog_extraction_cost_usd_total{worker="one"} 0.25',
    }


def test_watching_continues_after_postgres_cut_the_connection(database: str, connection: Connection) -> None:
    with closing(LogMonitor(database, "watching")) as watch:
        assert watch().events == 0
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE application_name = 'cardlog watching'"
        )
        assert watch().events == 0, "the server is there"


def test_while_postgres_is_away_every_stage_that_was_there_is_unknown(
    database: str, connection: Connection
) -> None:
    Processor("reader").open(connection)
    server = url_of(database, "postgres")
    watch = LogMonitor(database, "watching")
    try:
        names = [stage.name for stage in watch().readers]
        assert "reader" in names
        execute(server, "ALTER DATABASE {} ALLOW_CONNECTIONS false", name_of(database))
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE application_name = 'cardlog watching'"
        )
        away = watch()
        assert (away.events, [stage.name for stage in away.readers]) == (None, names)
        assert "not currently accepting connections" in str(away.reader("reader").detail)
    finally:
        execute(server, "ALTER DATABASE {} ALLOW_CONNECTIONS true", name_of(database))
        watch.close()


def test_a_foreign_database_is_distinguished_from_one_that_is_away(empty_database: str) -> None:
    standing = LogMonitor(empty_database, "watching")()
    assert standing.events is None
    assert "postgres failed" in str(standing.reader("cards").detail)
