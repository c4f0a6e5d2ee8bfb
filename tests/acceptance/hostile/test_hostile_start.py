"""The files and servers of a Cardlog are closed to others, and a server that cannot start again stops nobody else."""

from __future__ import annotations

import os
import signal
import stat

import pytest
from redis.exceptions import RedisError

from tests.support.stack import Running
from tests.support.waiting import eventually


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


@pytest.mark.timeout(200)
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

    eventually(listens, within=90)
    stack.redis.xadd("turns", {"user_id": "without redis", "text": "I moved to Cairo."})
    stack.wait()
    assert stack.recall("without redis", "where do I live?")["cards"][0]["value"] == "Cairo"
