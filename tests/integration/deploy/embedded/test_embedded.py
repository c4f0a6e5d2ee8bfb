"""The embedded servers: start, stop, kill, leftovers, and several instances side by side."""

import contextlib
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import psycopg
import pytest
from redis import Redis

from deploy.embedded.installation import unpacked
from deploy.embedded.lock import FolderInUseError, FolderLock
from deploy.embedded.postgres import EmbeddedPostgres
from deploy.embedded.redis import EmbeddedRedis
from deploy.embedded.server import ServerError
from deploy.security.roles import create

STARTS_BOTH = """
import sys
from pathlib import Path
from deploy.embedded.postgres import EmbeddedPostgres
from deploy.embedded.redis import EmbeddedRedis
postgres, redis = EmbeddedPostgres(Path(sys.argv[1]), durable=False), EmbeddedRedis(Path(sys.argv[1]))
postgres.start(), redis.start()
print(postgres.pid, redis.pid, postgres.url, redis.url, flush=True)
sys.stdin.read()
"""


def note(server: EmbeddedPostgres, text: str) -> None:
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS notes (text text)")
        connection.execute("INSERT INTO notes VALUES (%s)", (text,))


def notes(server: EmbeddedPostgres) -> list[str]:
    with psycopg.connect(server.url) as connection:
        return [text for (text,) in connection.execute("SELECT text FROM notes ORDER BY text")]


def commands_of(data: Path) -> Path:
    """The file of the commands that Redis wrote since its last snapshot."""
    (file,) = (data / "redis" / "appendonlydir").glob("*.incr.aof")
    return file


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


class TestPostgres:
    def test_has_what_the_log_and_the_channels_need(self, postgres: EmbeddedPostgres) -> None:
        with psycopg.connect(postgres.url) as connection:
            (nearest,) = connection.execute("SELECT '[1,2,3]'::vector <-> '[1,2,5]'::vector").fetchone() or ()
            (alike,) = connection.execute("SELECT similarity('我住在台北', '我住在台南')").fetchone() or ()
            (lowered,) = connection.execute("SELECT lower('ÀÉ')").fetchone() or ()
            (version,) = connection.execute("SHOW server_version_num").fetchone() or ()
            (encoding,) = connection.execute("SHOW server_encoding").fetchone() or ()
        assert nearest == 2
        assert 0 < alike < 1, "trigrams must see letters beyond ASCII"
        assert lowered == "àé"
        assert int(version) >= 180000
        assert encoding == "UTF8"

    def test_is_closed_to_others(self, postgres: EmbeddedPostgres) -> None:
        assert postgres.pid is not None
        listening = {
            each.laddr.ip
            for each in psutil.Process(postgres.pid).net_connections()
            if each.status == "LISTEN"
        }
        assert listening == {"127.0.0.1"}
        secret = postgres.folder / "cardlog.password"
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(postgres.url.replace(secret.read_text().strip(), "guess"))

    def test_only_passwords_that_people_choose_are_hashed_many_times(
        self, postgres: EmbeddedPostgres
    ) -> None:
        with psycopg.connect(postgres.url, autocommit=True) as connection:
            create(connection, "made")
            connection.execute("CREATE ROLE chosen LOGIN PASSWORD 'a word'")
            hashed = connection.execute(
                "SELECT rolname, split_part(rolpassword, ':', 1) FROM pg_authid WHERE rolcanlogin"
            ).fetchall()
            connection.execute("DROP ROLE made; DROP ROLE chosen")
        assert dict(hashed) == {
            "cardlog": "SCRAM-SHA-256$1",
            "made": "SCRAM-SHA-256$1",
            "chosen": "SCRAM-SHA-256$4096",
        }

    def test_runs_in_a_session_of_its_own_so_that_ctrl_c_is_ours(self, postgres: EmbeddedPostgres) -> None:
        assert postgres.pid is not None
        assert os.getsid(postgres.pid) == postgres.pid != os.getsid(0)

    def test_restart_keeps_data_and_port(self, tmp_path: Path) -> None:
        with EmbeddedPostgres(tmp_path, durable=True) as server:
            note(server, "kept")
            port, pid = server.port, server.pid
            server.restart()
            assert (server.port, server.poll()) == (port, None)
            assert server.pid != pid
            assert notes(server) == ["kept"]
        assert server.poll() == -1
        server.stop()
        with EmbeddedPostgres(tmp_path, durable=True) as again:
            assert notes(again) == ["kept"]

    def test_two_side_by_side_do_not_meet(self, postgres: EmbeddedPostgres, tmp_path: Path) -> None:
        note(postgres, "first")
        with EmbeddedPostgres(tmp_path, durable=False) as other:
            note(other, "second")
            assert other.port != postgres.port
            assert notes(other) == ["second"]
        assert postgres.poll() is None, "stopping one must not stop the other"
        assert notes(postgres) == ["first"]

    def test_a_folder_is_for_one_at_a_time(self, postgres: EmbeddedPostgres) -> None:
        second = EmbeddedPostgres(postgres.data, durable=False)
        with pytest.raises(FolderInUseError, match=f"is in use by process {os.getpid()};"):
            second.start()
        second.stop()
        assert postgres.poll() is None
        with psycopg.connect(postgres.url) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)

    def test_starts_again_after_kill_9_while_a_backend_is_still_busy(self, tmp_path: Path) -> None:
        with EmbeddedPostgres(tmp_path, durable=False) as server:
            note(server, "committed")
            assert server.pid is not None
            with contextlib.closing(psycopg.connect(server.url)) as busy:
                backend = busy.info.backend_pid
                # A computing backend does not notice that its postmaster died, and keeps shared memory.
                busy.pgconn.send_query(b"SELECT count(*) FROM generate_series(1, 1000000000) a")
                os.kill(server.pid, signal.SIGKILL)
                os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOWAIT)
                assert server.poll() == -signal.SIGKILL
                assert not gone(backend)
                server.start()
            assert gone(backend)
            assert notes(server) == ["committed"]

    def test_an_interrupted_creation_starts_again(self, tmp_path: Path) -> None:
        (tmp_path / "creating-postgres-x" / "base").mkdir(parents=True)
        with EmbeddedPostgres(tmp_path, durable=False) as server:
            note(server, "fine")
        assert sorted(each.name for each in tmp_path.iterdir()) == [
            "postgres",
            "postgres.lock",
            "postgres.log",
            "postgres.port",
        ]

    def test_a_failed_start_shows_the_log_and_releases_the_folder(self, tmp_path: Path) -> None:
        server = EmbeddedPostgres(tmp_path, durable=False)
        server.start()
        server.stop()
        with (server.folder / "postgresql.conf").open("a") as file:
            file.write("no_such_setting = 1\n")
        with pytest.raises(ServerError, match='unrecognized configuration parameter "no_such_setting"'):
            server.start()
        with FolderLock(tmp_path / "postgres.lock"):
            assert server.poll() == -1

    def test_a_place_that_cannot_hold_data_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("in the way")
        with pytest.raises(ServerError, match=r"postgres cannot use .*/file/data"):
            EmbeddedPostgres(tmp_path / "file" / "data").start()

    def test_data_of_another_version_is_refused(self, tmp_path: Path) -> None:
        folder = tmp_path / "postgres"
        folder.mkdir()
        (folder / "PG_VERSION").write_text("17\n")
        with pytest.raises(ServerError, match="was made by PostgreSQL 17, and this is PostgreSQL 18"):
            EmbeddedPostgres(tmp_path).start()

    def test_a_taken_port_is_reported(self, postgres: EmbeddedPostgres, tmp_path: Path) -> None:
        with pytest.raises(ServerError, match="another program has it"):
            EmbeddedPostgres(tmp_path, port=postgres.port, durable=False).start()

    def test_odd_and_long_paths(self, tmp_path: Path) -> None:
        data = tmp_path / "two  words 'single' \"double\" $HOME 台北" / ("long" * 30)
        with EmbeddedPostgres(data, durable=False) as server, EmbeddedRedis(data) as redis:
            note(server, "here")
            with Redis.from_url(redis.url) as client:
                assert client.set("here", "yes")
        assert len(str(data)) > 107, "longer than any socket path may be"
        assert (data / "postgres" / "PG_VERSION").exists()
        assert commands_of(data).stat().st_size > 0


class TestRedis:
    def test_acknowledged_turns_survive_kill_9(self, tmp_path: Path) -> None:
        with EmbeddedRedis(tmp_path) as server:
            with Redis.from_url(server.url) as client:
                for number in range(100):
                    client.xadd("turns", {"text": str(number)})
                os.kill(server.pid or 0, signal.SIGKILL)
            server.restart()
            with Redis.from_url(server.url) as client:
                assert client.xlen("turns") == 100

    def test_a_torn_last_record_is_cut_off(self, tmp_path: Path) -> None:
        with EmbeddedRedis(tmp_path) as server, Redis.from_url(server.url) as client:
            client.xadd("turns", {"text": "whole"})
            client.xadd("turns", {"text": "torn"})
        file = commands_of(tmp_path)
        os.truncate(file, file.stat().st_size - 3)
        with EmbeddedRedis(tmp_path) as server, Redis.from_url(server.url, decode_responses=True) as client:
            assert [fields for _, fields in client.xrange("turns")] == [{"text": "whole"}]

    def test_promises_kept_in_its_settings(self, tmp_path: Path) -> None:
        with (
            EmbeddedRedis(tmp_path) as server,
            Redis.from_url(server.operator_url, decode_responses=True) as client,
        ):
            settings = client.config_get("*")
            assert (settings["appendonly"], settings["appendfsync"]) == ("yes", "no")
            assert settings["maxmemory-policy"] == "noeviction"
            assert settings["bind"] == "127.0.0.1"
            other = EmbeddedRedis(tmp_path)
            with pytest.raises(FolderInUseError):
                other.start()


def test_servers_of_a_killed_process_are_taken_over(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STARTS_BOTH, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as first:
        assert first.stdout is not None
        postgres_pid, redis_pid, postgres_url, redis_url = first.stdout.readline().split()
        with psycopg.connect(postgres_url) as connection:
            connection.execute("CREATE TABLE left_over AS SELECT 1 AS number")
        with Redis.from_url(redis_url) as client:
            client.set("left", "over")
        first.kill()
    old = [int(postgres_pid), int(redis_pid)]
    assert [gone(pid) for pid in old] == [False, False], "they outlive the one who started them"
    with EmbeddedPostgres(tmp_path, durable=False) as postgres, EmbeddedRedis(tmp_path) as redis:
        assert [gone(pid) for pid in old] == [True, True]
        with psycopg.connect(postgres.url) as connection:
            assert connection.execute("SELECT number FROM left_over").fetchone() == (1,)
        with Redis.from_url(redis.url) as client:
            assert client.get("left") == b"over"


class TestInstallation:
    def test_side_by_side_it_is_unpacked_once_and_whole(self, public_folder: Path) -> None:
        code = (
            "import sys; from pathlib import Path; from deploy.embedded.installation import unpacked;"
            "print(unpacked([Path(sys.argv[1])]))"
        )
        place = public_folder / "new" / "cache"
        command = [sys.executable, "-c", code, str(place)]
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, umask=0o077) for _ in range(2)]
        said = {process.communicate()[0].strip() for process in both}
        assert [process.returncode for process in both] == [0, 0]
        (home,) = map(Path, said)
        assert {each.name for each in place.iterdir()} == {"unpack.lock", home.name}
        assert stat.S_IMODE((home / "lib").stat().st_mode) == 0o755, "readable whatever the umask was"
        environment = {"LD_LIBRARY_PATH": str(home / "lib")}
        version = subprocess.run(
            [home / "bin/postgres", "-V"], env=environment, capture_output=True, check=True
        )
        assert b"PostgreSQL) 18" in version.stdout
        assert unpacked([place]) == home

    def test_never_runs_programs_from_a_folder_others_can_write_to(self, public_folder: Path) -> None:
        public_folder.chmod(0o777)
        with pytest.raises(ServerError, match="belongs to another user, or"):
            unpacked([public_folder])
        assert list(public_folder.iterdir()) == []
