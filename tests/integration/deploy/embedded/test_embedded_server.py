"""Every embedded server waits for its start, and for the leftovers of an earlier run."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from deploy.embedded.lock import FolderInUseError, FolderLock
from deploy.embedded.postgres import EmbeddedPostgres
from deploy.embedded.server import EmbeddedServer, ServerError, StartStoppedError
from deploy.instance import Instance


class TestFolderLock:
    def test_is_free_again_when_its_holder_dies(self, tmp_path: Path) -> None:
        code = (
            "import sys; from pathlib import Path; from deploy.embedded.lock import FolderLock;"
            "FolderLock(Path(sys.argv[1])).acquire(); print('held', flush=True); sys.stdin.read()"
        )
        path = tmp_path / "new" / "lock"
        with subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            with pytest.raises(FolderInUseError, match=f"{path.parent} is in use by process {holder.pid};"):
                FolderLock(path).acquire()
            holder.kill()
        with FolderLock(path):
            assert path.read_text() == f"{os.getpid()}\n"


class Toy(EmbeddedServer):
    """A program that does nothing, for the behaviour that all servers share."""

    name = "toy"
    programs = ("sleep",)
    stop_signals = ((signal.SIGKILL, 10.0),)
    report_every_s = 0.01

    url = ""

    def _prepare(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    def _command(self) -> tuple[list[str], dict[str, str]]:
        return ["sleep", "1000"], {"PATH": os.environ["PATH"]}

    def _answers(self) -> bool:
        return False


class TestWaiting:
    def test_a_slow_start_is_waited_for_and_reported(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        class Slow(Toy):
            def _command(self) -> tuple[list[str], dict[str, str]]:
                return ["sh", "-c", "while echo step; do sleep .005; done"], {"PATH": os.environ["PATH"]}

            def _answers(self) -> bool:
                return len(caplog.messages) >= 3

        with Slow(tmp_path, 1):
            assert all(each.startswith("toy: starting for ") for each in caplog.messages)
            assert all(each.endswith(": step") for each in caplog.messages)

    def test_one_that_does_nothing_is_given_up(self, tmp_path: Path) -> None:
        class Stuck(Toy):
            idle_timeout_s = 0.1

        server = Stuck(tmp_path, 1)
        with pytest.raises(
            ServerError, match=r"(?s)toy was not ready .* has done nothing .*nothing was written"
        ):
            server.start()
        assert server.poll() == -1

    def test_a_start_ends_when_the_whole_stack_stops(self, tmp_path: Path) -> None:
        server = Toy(tmp_path, 1, stopping=lambda: server.pid is not None)
        with pytest.raises(StartStoppedError):
            server.start()
        assert server.poll() == -1


@contextlib.contextmanager
def zombie(folder: Path, *, uid: int, name: str = "postgres") -> Iterator[subprocess.Popen[bytes]]:
    """A process of that name that ended and whose parent did not collect it."""
    program = folder / name
    shutil.copy("/bin/true", program)
    process = subprocess.Popen([program], user=uid)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    yield process
    process.wait()


class TestLeftOvers:
    def left_by(self, server: EmbeddedPostgres, pid: int) -> None:
        """Leave the pid file of a server with this pid."""
        owner = server.folder.stat()
        lines = [
            str(pid),
            "/proc/self/cwd",
            "1700000000",
            "5432",
            "",
            "127.0.0.1",
            "       1         1",
            "ready",
        ]
        file = server.folder / "postmaster.pid"
        file.write_text("".join(f"{line}\n" for line in lines))
        os.chown(file, owner.st_uid, owner.st_gid)

    def test_a_dead_server_that_nobody_collects_is_dead(self, public_folder: Path) -> None:
        with EmbeddedPostgres(public_folder / "data", durable=False) as server:
            owner = server.folder.stat().st_uid
        with zombie(public_folder, uid=owner) as dead:
            self.left_by(server, dead.pid)
            with server:
                assert psutil.Process(dead.pid).status() == psutil.STATUS_ZOMBIE

    def test_a_server_of_another_folder_that_got_the_pid_is_no_obstacle(self, public_folder: Path) -> None:
        with EmbeddedPostgres(public_folder / "data", durable=False) as server:
            owner = server.folder.stat().st_uid
        program = public_folder / "postgres"
        shutil.copy("/bin/cat", program)
        with subprocess.Popen([program], stdin=subprocess.PIPE, user=owner, cwd="/") as other:
            self.left_by(server, other.pid)
            with server:
                assert other.poll() is None, "and it lives"

    def test_a_server_that_somebody_runs_by_hand_on_the_folder_is_respected(
        self, public_folder: Path
    ) -> None:
        with EmbeddedPostgres(public_folder / "data", durable=False) as server:
            owner = server.folder.stat().st_uid
        program = public_folder / "postgres"
        shutil.copy("/bin/cat", program)

        class Impatient(EmbeddedPostgres):
            transient_errors = ()

        with subprocess.Popen([program], stdin=subprocess.PIPE, user=owner, cwd=server.folder) as other:
            self.left_by(server, other.pid)
            with pytest.raises(ServerError, match="already exists"):
                Impatient(server.data, durable=False).start()
            assert other.poll() is None

    def test_an_instance_whose_process_is_a_zombie_does_not_run(self, tmp_path: Path) -> None:
        with zombie(tmp_path, uid=os.geteuid(), name="cardlog") as dead:
            started = psutil.Process(dead.pid).create_time()
            assert not Instance("", "", "", "", dead.pid, started, "").alive

    def test_a_folder_whose_holder_died_is_waited_for_while_something_of_it_is_left(
        self, tmp_path: Path
    ) -> None:
        code = (
            "import os, sys; from pathlib import Path; from deploy.embedded.lock import FolderLock\n"
            "FolderLock(Path(sys.argv[1])).acquire()\n"
            "if os.fork(): os._exit(0)\n"  # the other process holds the lock, as a process does that takes long to end
            "sys.stdin.read()"
        )
        path = tmp_path / "lock"
        holder = subprocess.Popen([sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE)
        with holder:
            os.waitid(os.P_PID, holder.pid, os.WEXITED | os.WNOWAIT)
            lock = FolderLock(path)
            with ThreadPoolExecutor(1) as pool:
                waiting = pool.submit(lock.acquire)
                holder.communicate()  # the other process ends, too
                waiting.result()
            lock.release()
