"""Status, top, metrics, readiness and logs agree. None of them shows an unknown number as zero."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from tests.support.stack import COMMAND, Running, clean_environment, typed
from tests.support.waiting import eventually
from tests.support.web import WEB

STAGES = ["recorder", "extractor", "cards", "vectors", "references", "problems", "people", "core", "webhooks"]


def status(running: Running) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(running.command("status", "--json").stdout)
    return document


def settled(running: Running) -> dict[str, Any]:
    """The status when nothing is left to do. A worker looks a moment later at what it appended itself."""

    def look() -> dict[str, Any] | None:
        found = status(running)
        return None if any(stage["behind"] for stage in found["stages"].values()) else found

    return eventually(look)


def metrics(url: str) -> dict[str, float]:
    """Every sample by its name and labels."""
    text = WEB.get(f"{url}/metrics").text
    lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


def becomes_ready(url: str) -> None:
    """Waits until a service is ready. On a busy machine any stage may look stuck for a moment."""
    eventually(lambda: WEB.get(f"{url}/readyz").status_code == 200)


@contextmanager
def frozen(running: Running, worker: str) -> Iterator[None]:
    """Stops the worker's process, and lets it continue afterwards."""
    processes = running.workers(worker)
    assert processes, f"no process of {worker}"
    for process in processes:
        process.suspend()
    try:
        yield
    finally:
        for process in processes:
            process.resume()


def test_status_shows_every_stage_and_says_that_all_is_well(watched: Running) -> None:
    def working() -> bool:
        watched.redis.xadd("turns", {"user_id": "u1", "text": "I live in Oslo."})
        watched.wait()
        # A rate covers the last ten seconds. On a busy machine the work may be older.
        return bool(status(watched)["stages"]["cards"]["rate"])

    eventually(working)
    seen = settled(watched)
    assert list(seen["stages"]) == STAGES
    for name in ("recorder", "extractor", "cards"):
        stage = seen["stages"][name]
        assert (stage["behind"], stage["seconds"], stage["parked"], stage["dead"]) == (0, 0.0, 0, 0)
        assert (stage["state"], stage["workers"], stage["stalled_s"]) == ("running", 1, 0.0)
    done = watched.command("status")
    assert done.returncode == 0, done.stdout
    heading, *rows = done.stdout.splitlines()
    assert heading.split() == ["stage", "behind", "seconds", "rate/s", "parked", "dead", "workers", "state"]
    assert [row.split()[0] for row in rows[: len(STAGES)]] == STAGES


def test_both_services_expose_the_same_facts_for_prometheus(watched: Running) -> None:
    seen = settled(watched)

    def look(url: str) -> dict[str, float] | None:
        found = metrics(url)  # they may be a moment old
        behind = [found[f'cardlog_stage_behind{{stage="{name}"}}'] for name in ("extractor", "cards")]
        return None if any(behind) else found

    for url in (watched.write_url, watched.read_url):
        found = eventually(partial(look, url))
        for name in ("extractor", "cards"):
            label = f'{{stage="{name}"}}'
            assert found[f"cardlog_stage_up{label}"] == found[f"cardlog_stage_workers{label}"] == 1
            assert found[f"cardlog_stage_behind{label}"] == found[f"cardlog_stage_stuck{label}"] == 0
            assert found[f"cardlog_stage_position{label}"] == seen["stages"][name]["position"] > 0
        assert found["cardlog_log_events_total"] == seen["events"]
        assert found['cardlog_server_up{server="postgres"}'] == 1
    assert metrics(watched.write_url)['cardlog_stage_behind{stage="recorder"}'] == 0
    assert 'cardlog_stage_behind{stage="recorder"}' not in metrics(watched.read_url), "it has no queue to ask"


def test_a_stalled_projector_makes_the_read_service_unready_by_name(watched: Running) -> None:
    with frozen(watched, "projector"):
        watched.redis.xadd("turns", {"user_id": "u2", "text": "I live in Bern."})
        refusal = eventually(lambda: (a := WEB.get(f"{watched.read_url}/readyz")).status_code == 503 and a)
        assert refusal.headers["content-type"] == "application/problem+json"
        problem = refusal.json()
        assert problem["stage"] == "cards"
        assert problem["behind"] > 0
        # Otherwise all replicas would leave their load balancer together, although each of them can answer.
        assert WEB.get(f"{watched.read_url}/readyz?stages=ignore").status_code == 200
        assert WEB.get(f"{watched.read_url}/healthz").status_code == 200
        becomes_ready(watched.write_url)
        stage = eventually(
            lambda: (found := status(watched)["stages"]["cards"])["state"] == "stopped" and found
        )
        assert "fell silent" in stage["detail"]
        assert stage["workers"] == 0
        assert not stage["rate"]
        assert stage["behind"] > 0
        assert stage["stalled_s"] > 1
        assert watched.command("status").returncode == 1
        # They may be a moment old.
        found = eventually(
            lambda: (m := metrics(watched.read_url))['cardlog_stage_up{stage="cards"}'] == 0 and m
        )
        assert found['cardlog_stage_stuck{stage="cards"}'] == 1
        assert 'cardlog_stage_rate{stage="cards"}' not in found
    becomes_ready(watched.read_url)
    eventually(lambda: watched.command("status").returncode == 0)


def test_a_stalled_recorder_makes_the_write_service_unready_by_name(watched: Running) -> None:
    with frozen(watched, "recorder"):
        # Two turns, because one may be on its way to the recorder already.
        for text in ("I live in Rome.", "I like rain."):
            watched.redis.xadd("turns", {"user_id": "u3", "text": text})
        refusal = eventually(lambda: (a := WEB.get(f"{watched.write_url}/readyz")).status_code == 503 and a)
        assert refusal.json()["stage"] == "recorder"
        assert WEB.get(f"{watched.write_url}/readyz?stages=ignore").status_code == 200
        becomes_ready(watched.read_url)
        stage = status(watched)["stages"]["recorder"]
        assert stage["behind"] == 2
        assert stage["seconds"] > 1
    becomes_ready(watched.write_url)


def test_without_vectors_the_services_stay_ready(watched: Running) -> None:
    with frozen(watched, "vectors"):
        watched.redis.xadd("turns", {"user_id": "u4", "text": "I live in Paris."})
        eventually(lambda: (status(watched)["stages"]["vectors"]["stalled_s"] or 0) > 1)
        becomes_ready(watched.read_url)
        becomes_ready(watched.write_url)
    watched.wait()


def test_a_hanging_postgres_is_reported_while_it_hangs_and_none_of_its_numbers_is_zero(
    watched: Running,
) -> None:
    servers = [process for process in watched.workers("postgres") if "postgres" in process.name()]
    parents = [process for process in servers if process.parent() not in servers]
    everyone = [*parents, *(child for process in parents for child in process.children(recursive=True))]
    assert everyone
    for process in everyone:
        process.suspend()

    def seen() -> dict[str, float] | None:
        found = metrics(watched.write_url)
        # The service answers for a moment with what it found before.
        return found if found['cardlog_server_up{server="postgres"}'] == 0 else None

    try:
        found = eventually(seen)
        assert found['cardlog_stage_behind{stage="recorder"}'] >= 0
        assert not [
            name for name in found if re.match(r'cardlog_stage_\w+\{stage="(extractor|cards|vectors)"', name)
        ]
        for path in ("/readyz", "/readyz?stages=ignore"):
            assert WEB.get(f"{watched.read_url}{path}").status_code == 503
        becomes_ready(watched.write_url)
        frame = watched.command("top", "--once")
        assert frame.returncode == 0, frame.stderr
        assert "postgres did not answer" in " ".join(frame.stdout.split())
        assert "events ?" in frame.stdout
    finally:
        for process in everyone:
            process.resume()
    eventually(lambda: status(watched)["well"])


def test_servers_that_are_away_are_unknown_and_the_exit_status_says_so() -> None:
    away = {
        "CARDLOG_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing",
        "CARDLOG_REDIS_URL": "redis://127.0.0.1:1/0",
    }
    done = typed("status", "--json", given=away)
    assert done.returncode == 1
    seen = json.loads(done.stdout)
    assert list(seen["stages"]) == [name for name in STAGES if name != "webhooks"]
    for stage in seen["stages"].values():
        assert stage["behind"] is stage["seconds"] is stage["rate"] is stage["workers"] is None
        assert stage["state"] == "unknown"
    assert [seen[name] for name in ("events", "parked", "dead", "recorded", "duplicates")] == [None] * 5
    frame = typed("top", "--once", given=away)
    assert frame.returncode == 0
    assert "away" in frame.stdout


def test_watching_prints_a_document_each_time_until_it_is_interrupted(watched: Running) -> None:
    process = subprocess.Popen(
        [*COMMAND, "status", "--json", "--watch", "--every", "0.1", "--data", str(watched.data)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment(),
    )  # fmt: skip
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        seen = [json.loads(process.stdout.readline()) for _ in range(3)]
        process.send_signal(signal.SIGINT)
        assert "Traceback" not in process.stderr.read()
    assert all(list(document["stages"]) == STAGES for document in seen)


@pytest.mark.parametrize("leave", ["q", "Ctrl-C"])
def test_top_is_live_in_a_terminal_until_q_or_ctrl_c(watched: Running, leave: str) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "top", "--every", "0.1", "--data", str(watched.data)],
        stdin=theirs, stdout=theirs, stderr=subprocess.PIPE,
        env=clean_environment() | {"TERM": "xterm-256color", "COLUMNS": "120", "LINES": "30"},
    )  # fmt: skip
    os.close(theirs)
    with process:
        shown = _read_until(ours, lambda text: text.count("extractor") >= 3)
        assert "rate/s" in shown
        if leave == "q":
            os.write(ours, b"q")
        else:
            process.send_signal(signal.SIGINT)
        assert process.wait(240) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""
    os.close(ours)


def _read_until(terminal: int, done: Callable[[str], bool]) -> str:
    text, until = "", time.monotonic() + 120
    while not done(text):
        assert time.monotonic() < until, text[-2000:]
        if select.select([terminal], [], [], 1.0)[0]:
            text += os.read(terminal, 65536).decode(errors="replace")
    return text


def test_the_log_is_one_json_object_a_line_without_anybodys_words(watched: Running) -> None:
    words = "hush, this is between us"
    entry = str(watched.redis.xadd("turns", {"user_id": "u5", "text": words, "role": "robot"}))
    watched.redis.xadd("turns", {"user_id": "u5", "text": words, "turn_id": "same"})
    watched.redis.xadd("turns", {"user_id": "u5", "text": words, "turn_id": "same"})
    watched.wait()

    def read_journal() -> str:
        return (watched.data.parent / f"{watched.data.name}.log").read_text()

    # A line is passed on a moment after its turn is settled.
    eventually(lambda: entry in (journal := read_journal()) and '"same"' in journal)
    journal = read_journal()
    lines = [json.loads(line) for line in journal.splitlines()]
    assert {"recorder", "extractor", "projector", "vectors", "up"} <= {line["process"] for line in lines}
    assert all({"time", "level", "message"} <= line.keys() for line in lines)
    [invalid] = [line for line in lines if line.get("entry_id") == entry]
    assert (invalid["level"], invalid["field"]) == ("warning", "role")
    [duplicate] = [line for line in lines if line.get("turn_id") == "same"]
    assert duplicate["position"] >= 1
    assert words not in journal
    assert "postgresql://cardlog:" not in journal
    seen = status(watched)
    assert seen["dead"] == seen["stages"]["recorder"]["dead"] == 1
    # The heartbeat holds the error and is written once a second.
    eventually(lambda: "role" in (status(watched)["stages"]["recorder"]["error"] or ""))
    eventually(lambda: metrics(watched.write_url)["cardlog_dead"] == 1)
