"""Cardlog starts after every end: all processes killed, zombies left."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from redis.exceptions import RedisError

from deploy.embedded.server import free_port
from tests.acceptance.conftest import LONG
from tests.support.stack import COMMAND, WITHOUT_MODEL, Running, clean_environment, started
from tests.support.waiting import eventually

ROUNDS = 2
PARENT = """
import ctypes, os, sys
PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
for line in sys.stdin:
    os.posix_spawn(sys.executable, sys.argv[1:], os.environ)
"""


@pytest.fixture
def negligent(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """The first process of a container, as it were: all orphans are its children, and it collects nobody.

    A line on its input starts a Cardlog, with the same ports each time.
    """
    ports = [f"--port-{kind}={free_port()}" for kind in ("write", "read")]
    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen(
            [sys.executable, "-c", PARENT, *COMMAND, "up", "--data", tmp_path / "data", *ports],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=clean_environment() | WITHOUT_MODEL | LONG,
        ) as process,
    ):
        yield process
        kill_all_of(process)


def kill_all_of(parent: subprocess.Popen[str]) -> list[psutil.Process]:
    """Sends kill -9 to all descendants of ``parent``. Returns the killed processes."""
    killed = psutil.Process(parent.pid).children(recursive=True)
    for each in killed:
        if each.is_running():
            each.kill()
    return killed


@pytest.mark.timeout(900)
def test_ready_at_once_after_kill_9_of_everything_beside_zombies(
    negligent: subprocess.Popen[str], tmp_path: Path
) -> None:
    assert negligent.stdin is not None
    assert negligent.stdout is not None
    postmaster: psutil.Process | None = None
    for number in range(ROUNDS):
        negligent.stdin.write("start\n")
        negligent.stdin.flush()
        running = started(negligent, negligent.stdout.readline(), tmp_path / "data")
        assert postmaster is None or postmaster.status() == psutil.STATUS_ZOMBIE, "nobody collected it"
        running.redis.xadd("turns", {"user_id": "u", "text": f"I bought item number {number} yesterday."})
        running.wait()
        found = running.recall("u", f"item number {number}")["cards"]
        assert {f"I bought item number {each} yesterday." for each in range(number + 1)} <= {
            card["content"] for card in found
        }
        pid = int((tmp_path / "data" / "postgres" / "postmaster.pid").read_text().split()[0])
        postmaster = psutil.Process(pid)
        kill_all_of(negligent)


class TestClosed:
    def test_all_files_are_their_owners_alone(self, stack: Running) -> None:
        assert stat.S_IMODE(stack.data.stat().st_mode) == 0o700
        for each in stack.data.rglob("*"):
            try:
                mode = stat.S_IMODE(each.stat().st_mode)
            except FileNotFoundError:  # a server removed the file
                continue
            assert not mode & 0o077, f"{each} is {mode:o}"

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to give up")
    def test_no_server_runs_as_root(self, stack: Running) -> None:
        servers = [*stack.workers("postgres"), *stack.workers("valkey-server")]
        assert {each.name() for each in servers} == {"postgres", "valkey-server"}
        assert not [each for each in servers if each.uids().effective == 0]


def test_a_redis_that_cannot_start_again_stops_nobody_else(stack: Running) -> None:
    stack.redis.xadd("turns", {"user_id": "without redis", "text": "I live in Oslo."})
    stack.wait()
    [server] = stack.workers("valkey-server")
    in_the_way = stack.data / "redis.password"
    password = in_the_way.read_text()
    in_the_way.unlink()
    in_the_way.mkdir()
    try:
        server.send_signal(signal.SIGKILL)
        log = stack.data.parent / "data.log"
        eventually(lambda: "trying again in" in log.read_text())
        assert stack.recall("without redis", "where do I live?")["cards"][0]["value"] == "Oslo"
    finally:
        in_the_way.rmdir()
        in_the_way.write_text(password)

    def listens() -> bool:
        try:
            return bool(stack.redis.ping())
        except RedisError:
            return False

    eventually(listens)
    stack.redis.xadd("turns", {"user_id": "without redis", "text": "I moved to Cairo."})
    stack.wait()
    assert stack.recall("without redis", "where do I live?")["cards"][0]["value"] == "Cairo"
