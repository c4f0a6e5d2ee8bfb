"""The embedded Redis: the rights of each account, and the loss from a damaged file."""

import logging
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from redis import Redis
from redis.exceptions import (
    AuthenticationError,
    NoPermissionError,
    OutOfMemoryError,
    RedisError,
    ResponseError,
)

from deploy.embedded.redis import EmbeddedRedis
from events.platform.key_file import new_key
from events.sealing import sealer as sealing
from events.sealing.entries import sealed_entry
from events.sealing.key_encryption import LocalKeyEncryption
from events.sealing.sealer import Sealer
from events.types.turn_contract import MAX_TEXT_BYTES
from ingest.recording.dead_letters import DeadLetters
from ingest.recording.turn_queue import TurnQueue
from tests.support.tables import examples

SNAPSHOT, LATER = 300, 700
BROKEN = bytes(16)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedRedis]:
    with EmbeddedRedis(tmp_path_factory.mktemp("data")) as server:
        yield server


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with 300 turns in the first of its append-only files and 700 in the second."""
    data = tmp_path_factory.mktemp("full")
    with EmbeddedRedis(data) as server, Redis.from_url(server.url) as client:
        for number in range(SNAPSHOT):
            client.xadd("turns", {"number": number})
        with Redis.from_url(server.operator_url) as operator:
            operator.bgrewriteaof()
            while operator.info("persistence")["aof_rewrite_in_progress"]:
                pass
        for number in range(SNAPSHOT, SNAPSHOT + LATER):
            client.xadd("turns", {"number": number})
    return data


@pytest.fixture
def damaged(full: Path, tmp_path: Path) -> Path:
    shutil.copytree(full, tmp_path / "data", dirs_exist_ok=True)
    return tmp_path / "data"


def store(data: Path) -> Path:
    return data / "redis" / "appendonlydir"


def only(data: Path, pattern: str) -> Path:
    (file,) = store(data).glob(pattern)
    return file


def numbers(server: EmbeddedRedis) -> list[int]:
    with Redis.from_url(server.url) as client:
        return [int(fields[b"number"]) for _, fields in client.xrange("turns")]


class TestClosed:
    def test_nobody_gets_in_without_the_password(self, server: EmbeddedRedis) -> None:
        with Redis("127.0.0.1", server.port) as stranger, pytest.raises(AuthenticationError):
            stranger.xlen("turns")
        with Redis("127.0.0.1", server.port, password="guess") as guesser, pytest.raises(AuthenticationError):
            guesser.xlen("turns")

    def test_the_password_is_its_owners_and_stays(self, tmp_path: Path) -> None:
        with EmbeddedRedis(tmp_path) as first:
            url = first.url
        with EmbeddedRedis(tmp_path, first.port) as second:
            assert second.url == url
        for name in ("redis.password", "redis.operator.password", "redis.pusher.password"):
            file = tmp_path / name
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            password = file.read_text().strip()
            assert len(password) >= 32
            assert password not in first.log.read_text()

    def test_a_truncated_password_is_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "redis.password").write_text("abc\n")
        with EmbeddedRedis(tmp_path) as server, Redis.from_url(server.url) as client:
            assert client.ping()
            assert "abc@" not in server.url

    def test_roots_files_of_an_older_cardlog_are_given_to_the_account(self, damaged: Path) -> None:
        if os.geteuid() == 0:
            assert store(damaged).stat().st_uid == 0, "a copy is root's"
        with EmbeddedRedis(damaged) as server:
            assert len(numbers(server)) == SNAPSHOT + LATER
            owner = psutil.Process(server.pid).uids().effective
            assert {each.stat().st_uid for each in (damaged / "redis").rglob("*")} == {owner}

    @examples
    def test_what_concerns_the_server_is_not_for_apps(self, server: EmbeddedRedis, command: str) -> None:
        with Redis.from_url(server.url) as client:
            with pytest.raises((NoPermissionError, ResponseError), match=r"no permissions|not allowed"):
                client.execute_command(*command.split())
            with pytest.raises(
                (NoPermissionError, ResponseError), match=r"ermissions|not allowed|ACL failure"
            ):
                client.eval("return redis.call(unpack(ARGV))", 0, *command.split())
        assert server.poll() is None

    @pytest.mark.parametrize("command", ["CONFIG SET dir /tmp", "MODULE LOAD /tmp/evil.so", "DEBUG SLEEP 0"])
    def test_not_even_an_operator_writes_or_loads_files_elsewhere(
        self, server: EmbeddedRedis, command: str
    ) -> None:
        with (
            Redis.from_url(server.operator_url) as operator,
            pytest.raises(ResponseError, match=r"protected config|not allowed"),
        ):
            operator.execute_command(*command.split())

    def test_an_operator_may_look_after_the_server(self, server: EmbeddedRedis) -> None:
        with Redis.from_url(server.operator_url) as operator:
            assert operator.config_set("maxmemory", 0)
            assert operator.flushdb()

    def test_a_pusher_only_pushes(self, server: EmbeddedRedis) -> None:
        with Redis.from_url(server.pusher_url) as pusher:
            assert pusher.rpush("turns:pushed", '{"user_id": "ada", "text": "hello"}')
            for command in (
                "XADD turns * user_id ada text hello", "XADD turns MAXLEN 0 * a b", "XADD turns:pushed * a b",
                "LTRIM turns:pushed 1 0", "LPOP turns:pushed", "LRANGE turns:pushed 0 1", "DEL turns:pushed",
                "XRANGE turns - +", "XREAD STREAMS turns 0", "XADD turns:dead * a b", "XADD mine * a b", "XLEN turns",
                "DEL turns", "XTRIM turns MAXLEN 0", "GET a", "KEYS *", "EVAL return 0", "PUBLISH a b", "INFO",
                "XGROUP CREATE turns g 0", "CONFIG GET *", "ACL LIST",
            ):  # fmt: skip
                with pytest.raises(NoPermissionError):
                    pusher.execute_command(*command.split())

    def test_its_memory_and_its_values_are_bounded(self, tmp_path: Path) -> None:
        longest = {"user_id": "ada", "text": "\1" * MAX_TEXT_BYTES, "metadata": "{}"}
        with EmbeddedRedis(tmp_path, memory_mib=16) as server, Redis.from_url(server.url) as client:
            sealing.use(Sealer(LocalKeyEncryption([new_key()])))
            try:
                assert client.xadd("turns", sealed_entry(longest))
            finally:
                sealing.use(None)
            with pytest.raises(RedisError):
                client.xadd("turns", {"user_id": "ada", "text": "x" * (1024 * 1024 + 1)})
            with Redis.from_url(server.pusher_url) as pusher:
                ten = ["x" * 1024 * 1024] * 10
                pusher.rpush("turns:pushed", *ten)
                with pytest.raises(OutOfMemoryError):
                    pusher.rpush("turns:pushed", *ten)
            assert client.xlen("turns") == 1

    def test_an_entry_as_large_as_the_server_takes_becomes_a_dead_letter_and_can_be_dropped(
        self, server: EmbeddedRedis
    ) -> None:
        with Redis.from_url(server.operator_url) as operator:
            operator.flushdb()
        with Redis.from_url(server.url) as client:
            queue = TurnQueue(client, "turns", "g")
            queue.open()
            client.xadd("turns", {b"f" * 1024 * 1024: b"", "text": "x" * 1024 * 1024})
            queue.settle([], [(entry, "text", "is long") for entry in queue.read("r", 1, 1)], frozenset())
            letters = DeadLetters(client, "turns")
            [letter] = letters
            assert "bytes of its fields are kept" in letter.reason
            assert letters.drop(letter, "too large")

    def test_it_is_a_current_version(self, server: EmbeddedRedis) -> None:
        with Redis.from_url(server.url, decode_responses=True) as client:
            assert tuple(map(int, client.info("server")["valkey_version"].split("."))) >= (9, 1)


def exchange(data: Path, old: bytes, new: bytes) -> None:
    file = only(data, "*.incr.aof")
    content = file.read_bytes()
    middle = content.index(old, len(content) // 2)
    file.write_bytes(content[:middle] + new + content[middle + len(old) :])


def break_the_commands(data: Path) -> None:
    # A command's length is broken. Other bytes inside of a word would be another word, which nobody can notice.
    exchange(data, b"*5\r\n", BROKEN)


def break_a_commands_name(data: Path) -> None:
    exchange(data, b"XADD", b"XODD")


def break_a_commands_length(data: Path) -> None:
    exchange(data, b"*5\r\n", b"*0\r\n")


def break_the_list(data: Path) -> None:
    (store(data) / "appendonly.aof.manifest").write_bytes(os.urandom(80))


def empty_the_list(data: Path) -> None:
    (store(data) / "appendonly.aof.manifest").write_bytes(b"")


def cut_the_list(data: Path) -> None:
    manifest = store(data) / "appendonly.aof.manifest"
    manifest.write_text(manifest.read_text().splitlines(keepends=True)[0])


def lose_the_list(data: Path) -> None:
    (store(data) / "appendonly.aof.manifest").unlink()


def lose_the_commands(data: Path) -> None:
    only(data, "*.incr.aof").unlink()


@pytest.mark.parametrize(
    ("damage", "least"),
    [
        (break_the_commands, SNAPSHOT + LATER // 2 - 5),
        (break_a_commands_name, SNAPSHOT + LATER // 2 - 5),  # valkey-check-aof accepts any name
        (break_a_commands_length, SNAPSHOT + LATER // 2 - 5),  # valkey-check-aof leaves an empty command
        (break_the_list, SNAPSHOT + LATER),
        (empty_the_list, SNAPSHOT + LATER),
        (cut_the_list, SNAPSHOT + LATER),  # the server starts without the commands
        (lose_the_list, SNAPSHOT + LATER),
        (lose_the_commands, SNAPSHOT),
    ],
)
def test_what_can_be_read_of_a_damaged_file_is_kept(
    damaged: Path, damage: Callable[[Path], None], least: int, caplog: pytest.LogCaptureFixture
) -> None:
    damage(damaged)
    as_it_was = {each.name: each.read_bytes() for each in store(damaged).iterdir()}
    with EmbeddedRedis(damaged) as server:
        kept = numbers(server)
        assert kept == list(range(len(kept)))
        assert len(kept) >= least
        with Redis.from_url(server.url) as client:
            client.xadd("turns", {"number": len(kept)})
    [warning] = [each.getMessage() for each in caplog.records if each.levelno >= logging.ERROR]
    assert "DAMAGED" in warning
    [copy] = (damaged / "redis").glob("appendonlydir.damaged-*")
    assert str(copy) in warning
    assert {each.name: each.read_bytes() for each in copy.iterdir()} == as_it_was, "kept as it was"
    caplog.clear()
    with EmbeddedRedis(damaged) as again:
        assert len(numbers(again)) == len(kept) + 1
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR], "repaired once and for all"


def test_files_that_cannot_be_read_at_all_are_set_aside(
    damaged: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.rmtree(store(damaged))
    store(damaged).write_text("a file where the folder was")
    with EmbeddedRedis(damaged) as server:
        assert numbers(server) == []
        with Redis.from_url(server.url) as client:
            client.xadd("turns", {"number": 1})
    [kept] = (damaged / "redis").glob("appendonlydir.unreadable-*")
    assert kept.read_text() == "a file where the folder was"
    [warning] = [each.getMessage() for each in caplog.records if each.levelno >= logging.ERROR]
    assert "STARTS EMPTY" in warning
    with EmbeddedRedis(damaged) as again:
        assert numbers(again) == [1]


@pytest.mark.parametrize("way", ["by its path", "by a link"])
def test_a_repair_does_not_leave_the_folder(damaged: Path, tmp_path: Path, way: str) -> None:
    """The account that runs Redis writes the list. Root must not truncate a file that the list names."""
    precious = tmp_path / "precious"
    precious.write_text("not a command")
    break_the_commands(damaged)
    commands = only(damaged, "*.incr.aof")
    manifest = store(damaged) / "appendonly.aof.manifest"
    if way == "by its path":
        manifest.write_text(manifest.read_text() + f"file {precious} seq 9 type i\n")
    else:
        (commands.parent / "appendonly.aof.9.incr.aof").symlink_to(precious)
        manifest.write_text(manifest.read_text() + "file appendonly.aof.9.incr.aof seq 9 type i\n")
    with EmbeddedRedis(damaged) as server:
        assert len(numbers(server)) >= SNAPSHOT
    assert precious.read_text() == "not a command"
