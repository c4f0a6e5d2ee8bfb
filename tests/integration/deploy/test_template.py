"""Processes of a stack: how they are forked, named, awaited and cleaned."""

import json
import logging
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from deploy.catch_up import CatchingUp, StillBehindError
from deploy.child import Child, end
from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from tests.support.events.turns import turn
from tests.support.stack import COMMAND, WITHOUT_MODEL, clean_environment
from tests.support.waiting import eventually

_PROGRAM = """
import json, os, signal, socket, sys, time
from deploy.child import Child
from deploy.template import Template, reap
from events.platform.settings import Settings

template = Template(Settings(embed_model="hash"))
listener = socket.create_server(("127.0.0.1", 0))
def ended(arguments, listener=None):
    child = Child("poet", arguments, dict(os.environ), listener, template)
    child.start()
    kept = type(child._process).__name__
    own = os.path.exists(f"/proc/{child.pid}") and int(open(f"/proc/{child.pid}/stat").read().split()[3]) == os.getpid()
    assert child.wait(240)
    return kept, own, child._process.returncode, child.tail
forked = ended(["work", "poet"])
listening = ended(["serve", "read"], listener)
hung = Child("hung", ["work", "recorder", "--help"], dict(os.environ), None, template)
hung.start()
os.kill(hung.pid, signal.SIGSTOP)
late = hung.wait(0.1)
os.kill(hung.pid, signal.SIGCONT)
assert not late and hung.wait(240), "a process that still runs is no ended one"
lives = Child("doctor", ["work", "recorder", "--help"], dict(os.environ), None, template)
lives.start()
os.kill(template.pid, signal.SIGKILL)
os.waitpid(template.pid, 0)
assert lives.wait(240)
def orphan():
    reading, writing = os.pipe()
    if not (between := os.fork()):
        if pid := os.fork():
            os.write(writing, str(pid).encode())
        os._exit(0)
    os.waitpid(between, 0)
    pid = int(os.read(reading, 20))
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    return pid
known = orphan()
reap({known})
waited = os.waitpid(known, 0) == (known, 0)
orphan(), orphan()
reap({known})
try:
    left = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG)
except ChildProcessError:
    left = None
print(json.dumps([forked, listening, lives.tail, waited, left, ended(["work", "poet"])]))
"""


def test_a_forked_worker_has_its_own_status_output_and_socket_and_outlives_the_process_that_forked_it() -> (
    None
):
    ran = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        capture_output=True,
        text=True,
        env=clean_environment(),
        timeout=240,
    )
    assert ran.returncode == 0, ran.stderr
    forked, listening, lives, waited, left, alone = json.loads(ran.stdout)
    kind, own, status, said = forked
    assert (kind, own, status) == ("Forked", True, 2)
    assert "must be one of recorder, extractor" in said
    assert listening[2] == 2
    assert "CARDLOG_DATABASE_URL is not set" in listening[3]
    assert "Run one worker" in lives
    assert (waited, left) == (
        True,
        None,
    )  # the status of a known process stays, and that of an orphan is taken
    kind, _, status, said = alone
    assert (kind, status) == ("Popen", 2)
    assert "must be one of recorder, extractor" in said


def test_the_last_lines_are_kept_and_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    child = Child("poet", ["work", "poet"], clean_environment(), None)
    child.start()
    assert child.wait(240)
    assert "must be one of recorder, extractor" in child.tail
    captured = capfd.readouterr()
    assert child.tail in captured.err
    assert captured.out == ""


def test_at_the_end_a_child_that_works_is_awaited_and_one_that_does_nothing_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    program = tmp_path / "program"
    program.write_text(
        f"""#!{sys.executable}
import signal, sys, time
asked = []
signal.signal(signal.SIGTERM, lambda *_: asked.append(True))
print("runs", flush=True)
while not asked:
    time.sleep(0.01)
while sys.argv[-1] == "stuck":
    signal.pause()
while time.process_time() < 2:
    pass
print("finished", flush=True)
"""
    )
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    busy, stuck = children = [
        Child(name, ["work", name], clean_environment(), None) for name in ("busy", "stuck")
    ]
    for child in children:
        child.start()
    eventually(lambda: all("runs" in child.tail for child in children))
    with caplog.at_level(logging.WARNING):
        end(children, idle_s=5.0, most_s=250.0)
    assert busy.tail.endswith("finished")
    assert caplog.messages == ["stuck does not stop; killing it"]
    assert stuck.wait(0)


@pytest.mark.parametrize(
    ("words", "name"),
    [(["work", "recorder"], "recorder"), (["serve", "write", "--port", "0"], "serve write")],
)
def test_a_process_that_runs_alone_is_named_as_in_a_stack(words: list[str], name: str) -> None:
    nowhere = {
        "CARDLOG_DATABASE_URL": "postgresql://x@127.0.0.1:1/x",
        "CARDLOG_REDIS_URL": "redis://127.0.0.1:1",
    }
    environment = clean_environment() | nowhere
    with subprocess.Popen([*COMMAND, *words], env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            assert f" WARNING {name}: " in process.stderr.readline()
        finally:
            process.kill()


PROGRAM = """
import sys, weakref
import uvicorn
from deploy.command_line import run

class Node:
    pass

def serve(self, sockets=None):
    node = Node()
    node.itself = node
    seen = weakref.ref(node)
    del node
    kept = [[] for _ in range(200_000)]
    print("collected" if seen() is None else "kept")

uvicorn.Server.run = serve
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize("service", ["write", "read"])
def test_a_service_that_serves_collects_garbage(database: str, redis_url: str, service: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "serve", service, "--insecure-no-auth"],
        env=os.environ | WITHOUT_MODEL | {"CARDLOG_DATABASE_URL": database, "CARDLOG_REDIS_URL": redis_url},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.stdout.split() == ["collected"], done.stderr


def test_it_tells_the_stage_that_is_behind(database: str, redis_url: str, connection: Connection) -> None:
    log.append(connection, [turn("u1", "I live in Lisbon.")])
    settings = replace(Settings(), database_url=database, redis_url=redis_url, turns_stream="empty")
    told: list[str] = []
    with pytest.raises(StillBehindError, match="extractor is 1 event behind"):
        CatchingUp(settings, 0.5, tell_every_s=0.0).run(told.append)
    assert "waiting: extractor is 1 event behind" in told
