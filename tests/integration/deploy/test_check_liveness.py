"""The health check of a container separates silent processes, live processes and unknown ones."""

import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from deploy.check_liveness import check_liveness, main
from deploy.embedded.server import free_port
from events.health.heartbeat import UNSEEN_S, Heartbeat
from events.platform.settings import Settings
from tests.support.waiting import eventually

NOWHERE = replace(
    Settings(), database_url="postgresql://nobody@127.0.0.1:1/nothing", redis_url="redis://127.0.0.1:1/0"
)


def test_a_service_that_does_not_answer_is_ill_and_one_that_answers_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")  # not asked
    port = str(free_port())
    words = ["/opt/cardlog/bin/python", "/opt/cardlog/bin/cardlog", "serve", "write", "--port", port, ""]
    assert "does not answer" in str(check_liveness(words, NOWHERE))
    process = subprocess.Popen(
        [sys.executable, "-m", "deploy.command", *words[2:-1]],
        env={
            **os.environ,
            "CARDLOG_DATABASE_URL": NOWHERE.database_url,
            "CARDLOG_REDIS_URL": NOWHERE.redis_url,
        },
        stderr=subprocess.DEVNULL,
    )
    try:
        eventually(lambda: check_liveness(words, NOWHERE) is None)
        # The port listens, but only an answer counts as life.
        process.send_signal(signal.SIGSTOP)
        assert "does not answer" in str(check_liveness(words, NOWHERE))
    finally:
        process.kill()
        process.wait(240)


def test_the_port_is_that_of_the_service_unless_it_is_set() -> None:
    # A Cardlog of this machine may have these ports. It speaks no TLS, so it does not answer.
    secret = replace(NOWHERE, tls_cert_file="server.pem")
    for words, port in (
        (["cardlog", "serve", "write"], 8700),
        (["cardlog", "serve", "read", "--host", "0.0.0.0"], 8701),
        (["cardlog", "proxy", "--host", "0.0.0.0"], 8703),
        (["cardlog", "serve", "read", "--port=9"], 9),
    ):
        assert f":{port}/healthz does not answer" in str(check_liveness(words, secret))


@pytest.mark.parametrize("named", [True, False])
def test_a_silent_worker_is_ill(database: str, named: bool) -> None:
    settings = replace(Settings(), database_url=database)
    name = "one" if named else f"projector-{socket.gethostname()}"
    words = ["cardlog", "work", "projector", *(["--name", name] if named else []), ""]
    assert check_liveness(words, settings) == f"{name} has no heartbeat"
    with Heartbeat(database, "cards", name):
        eventually(lambda: check_liveness(words, settings) is None)
    with psycopg.connect(database) as connection:
        connection.execute(
            "UPDATE log.heartbeats SET seen_at = seen_at - make_interval(secs => %s) WHERE worker = %s",
            (UNSEEN_S, name),
        )
    assert f"the last heartbeat of {name} is 15 s old" in str(check_liveness(words, settings))
    assert check_liveness(["cardlog", "work", "projector", "--name", "another"], settings) is not None


def test_an_unknown_state_is_no_reason_to_kill(empty_database: str) -> None:
    words = ["cardlog", "work", "extractor"]
    assert check_liveness(words, NOWHERE) is None
    assert check_liveness(words, replace(Settings(), database_url=empty_database)) is None  # not migrated yet
    assert check_liveness(["sh", "-c", "sleep 9"], NOWHERE) is None
    assert check_liveness(["cardlog", "log", "verify"], NOWHERE) is None


def test_the_exit_status_is_the_verdict_and_the_reason_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = tmp_path / "cmdline"
    line.write_bytes(b"/opt/cardlog/bin/python\0/opt/cardlog/bin/cardlog\0serve\0read\0--port\x001\0")
    assert main(line) == 1
    assert ":1/healthz does not answer" in capsys.readouterr().err
    line.write_bytes(b"/opt/cardlog/bin/python\0/opt/cardlog/bin/cardlog\0log\0verify\0")
    assert main(line) == 0
    monkeypatch.setenv("CARDLOG_POOL_SIZE", "many")
    assert main(line) == 1
    assert "CARDLOG_POOL_SIZE" in capsys.readouterr().err
