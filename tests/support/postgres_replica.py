"""A streaming replica of an embedded PostgreSQL."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg

from deploy.embedded.postgres import EmbeddedPostgres
from tests.support.waiting import eventually


class ReplicaPostgres(EmbeddedPostgres):
    """A copy of the server at ``primary_url``, taken while that runs, which then follows it."""

    def __init__(self, data: Path, primary_url: str) -> None:
        super().__init__(data, durable=False)
        self._primary_url = primary_url

    def _create(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="creating-postgres-", dir=self.data))
        if self._account is not None:
            self._account.own(folder)
        done = subprocess.run(
            [
                str(self._home / "bin" / "pg_basebackup"),
                f"--dbname={self._primary_url}",
                f"--pgdata={self._where(folder)}",
                "--checkpoint=fast",
                "--wal-method=stream",
                "--no-sync",
                "--write-recovery-conf",
            ],
            cwd=folder,
            env=self._environment(),
            capture_output=True,
            text=True,
            user=self._account.uid if self._account else None,
            group=self._account.gid if self._account else None,
            extra_groups=[] if self._account else None,
        )
        assert done.returncode == 0, done.stderr
        assert (folder / "standby.signal").exists()
        folder.rename(self.folder)

    def _repair_data(self, output: str) -> bool:
        """Takes a new copy if PostgreSQL 18.1 cannot recover a killed one: it reads a block past the end of a file."""
        if "could not read blocks" not in output:
            return False
        shutil.rmtree(self.folder)
        self._create()
        return True

    def _set_up(self) -> None:
        """Does nothing: the replica gets all its data from the primary."""

    def pause(self) -> None:
        """Pauses the replay until :meth:`resume`. The primary's data is still received."""
        self._execute("SELECT pg_wal_replay_pause()")
        eventually(lambda: self._execute("SELECT pg_get_wal_replay_pause_state()") == "paused")

    def resume(self) -> None:
        self._execute("SELECT pg_wal_replay_resume()")

    def level(self) -> None:
        """Returns when the replica has everything that the primary has committed."""
        with psycopg.connect(self._primary_url, autocommit=True) as primary:
            end = primary.execute("SELECT pg_current_wal_flush_lsn()::text").fetchone()
        assert end is not None
        eventually(lambda: self._execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", end[0]))

    def _execute(self, query: str, *values: str) -> object:
        with psycopg.connect(self.url, autocommit=True) as connection:
            row = connection.execute(query, values or None).fetchone()
        return None if row is None else row[0]

    def forget(self) -> None:
        """Removes the replica's files."""
        shutil.rmtree(self.folder, ignore_errors=True)
