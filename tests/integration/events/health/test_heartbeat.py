"""Every worker writes heartbeats while it works, and a last one when it ends."""

import threading

import pytest
from redis import Redis

from events.health.heartbeat import Heartbeat, HeartbeatReport, reports
from events.platform.database import Connection
from events.store import log
from events.types.envelope import Event, partition_of
from ingest.extraction.rules.extractor import RulesExtractor
from ingest.extraction.workers.rules_worker import ExtractorWorker
from ingest.recording.recorder import Recorder
from projectors.cards.projector import CardsProjector
from projectors.runner import Runner
from tests.support.overviews import overview
from tests.support.projectors.folding import settings_of
from tests.support.waiting import eventually, working

NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing"


def only(connection: Connection, stage: str) -> HeartbeatReport:
    [report] = [report for report in reports(connection) if report.stage == stage]
    return report


def test_a_heartbeat_is_written_while_its_worker_is_busy_and_says_goodbye(
    database: str, connection: Connection
) -> None:
    def seen_at() -> object:
        return connection.execute("SELECT max(seen_at) FROM log.heartbeats").fetchone()

    with Heartbeat(database, "cards", "w", every_s=0.02) as heartbeat:
        first = eventually(lambda: reports(connection) and seen_at())
        eventually(lambda: seen_at() != first)
        assert only(connection, "cards").alive
        assert only(connection, "cards").moved_s is None
        heartbeat.passed(0)
        heartbeat.passed(7)
        eventually(lambda: only(connection, "cards").done == 7)
        assert (only(connection, "cards").moved_s or 0.0) < 30
        eventually(lambda: only(connection, "cards").rate is not None)
    assert only(connection, "cards").state == "stopped"
    assert not only(connection, "cards").alive
    assert only(connection, "cards").rate is None


def test_a_change_of_state_is_written_at_once_and_the_last_error_is_kept(
    database: str, connection: Connection
) -> None:
    with Heartbeat(database, "vectors", "w", every_s=600.0) as heartbeat:
        eventually(lambda: reports(connection))
        heartbeat.waiting("no model\n  here")
        eventually(lambda: only(connection, "vectors").state == "waiting")
        assert only(connection, "vectors").detail == "no model here"
        heartbeat.running()
        eventually(lambda: only(connection, "vectors").state == "running")
        report = only(connection, "vectors")
        assert (report.detail, report.error) == (None, "no model here")
        assert report.error_at is not None


def test_a_worker_works_and_stops_without_postgres_too() -> None:
    with Heartbeat(NOWHERE, "cards", "w", every_s=0.01) as heartbeat:
        heartbeat.passed(1)
        heartbeat.waiting("postgres is away")


def test_the_last_heartbeat_names_the_error_that_ended_the_worker(
    database: str, connection: Connection
) -> None:
    with pytest.raises(ValueError, match="broken"), Heartbeat(database, "cards", "w"):
        raise ValueError("broken")
    report = only(connection, "cards")
    assert (report.state, report.error) == ("stopped", "ValueError: broken")


def test_a_worker_that_was_replaced_is_forgotten_and_a_lost_one_is_not(
    database: str, connection: Connection
) -> None:
    connection.execute(
        "INSERT INTO log.heartbeats (stage, worker, pid, state, done, seen_at) VALUES "
        "('cards', 'w', -1, 'running', 0, now() - interval '16 s'), "
        "('cards', 'w', -2, 'running', 0, now()), "
        "('cards', 'lost', -3, 'running', 0, now() - interval '50 min'), "
        "('cards', 'long gone', -4, 'running', 0, now() - interval '61 min'), "
        "('vectors', 'w', -5, 'running', 0, now() - interval '2 hours')"
    )
    with Heartbeat(database, "cards", "w"):
        eventually(lambda: any(report.pid > 0 for report in reports(connection)))
        eventually(lambda: len(reports(connection)) == 4)
    assert {report.pid for report in reports(connection) if report.pid < 0} == {-2, -3, -5}


def test_the_workers_of_a_process_share_one_connection(database: str, connection: Connection) -> None:
    with Heartbeat(database, "cards", "w"), Heartbeat(database, "people", "w"):
        eventually(lambda: {each.stage for each in reports(connection) if each.alive} == {"cards", "people"})
        assert connection.execute(
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE datname = current_database() AND application_name LIKE 'cardlog heartbeat%'"
        ).fetchall() == [(1,)]


def test_every_worker_writes_heartbeats(connection: Connection, redis: Redis, redis_url: str) -> None:
    settings = settings_of(connection, redis_url=redis_url)
    stop = threading.Event()
    redis.xadd("turns", {"user_id": "u1", "text": "I live in Oslo."})
    redis.xadd("turns", {"user_id": "", "text": "nobody's"})
    with (
        working(Recorder(settings, "r", stop.is_set).run, stop),
        working(ExtractorWorker(settings, RulesExtractor(), stop.is_set, "e").run, stop),
        working(Runner(settings, CardsProjector(supersede=True), stop.is_set, "c").run, stop),
    ):
        eventually(lambda: {report.stage: report.done for report in reports(connection)} == {
            "recorder": 2, "extractor": len(log_of(connection, "u1")), "cards": len(log_of(connection, "u1")),
        })  # fmt: skip
        seen = overview(settings)
        states = {stage.name: (stage.state, stage.behind, stage.workers) for stage in seen.stages}
        assert states["recorder"] == states["extractor"] == states["cards"] == ("running", 0, 1)
        assert states["vectors"] == ("unknown", None, None)
        assert not seen.well
        assert (seen.recorded, seen.dead, seen.parked) == (1, 1, 0)
        assert "user_id" in str(next(s for s in seen.stages if s.name == "recorder").error)
    assert {stage.state for stage in overview(settings).stages} == {"stopped", "unknown"}


def log_of(connection: Connection, user: str) -> list[Event]:
    return log.read(connection, partition_of(user))
