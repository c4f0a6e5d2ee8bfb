"""Finding the Cardlog a command should talk to: by settings, by data folder, or the one that runs here."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from events.platform.environment import data_folder
from events.platform.settings import Settings
from events.store import authentication

READY_FILE = "ready.json"


class NoInstanceError(RuntimeError):
    """There is nothing to talk to, or more than one; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A running stack, as its ready line told it."""

    write_url: str
    read_url: str
    redis_url: str
    database_url: str
    pid: int
    started: float
    data: str
    admin_database_url: str = ""
    log_key_file: str = ""

    @property
    def alive(self) -> bool:
        """Whether the process that wrote this still runs; its pid may have been given out again since."""
        try:
            same = abs(psutil.Process(self.pid).create_time() - self.started) < 1.0
        except psutil.Error:
            return False
        from deploy.embedded.processes import is_dead  # noqa: PLC0415 - its package brings the database driver

        return same and not is_dead(self.pid)

    @property
    def ports(self) -> set[int]:
        """Those of both services."""
        return {port for url in (self.write_url, self.read_url) if (port := urlsplit(url).port)}


def default_data() -> Path:
    """Where data is kept unless told otherwise."""
    return data_folder()


def announce(instance: Instance) -> None:
    """Leave word of ``instance`` in its data folder and in the user's list of running ones."""
    text = json.dumps(asdict(instance))
    for path in (Path(instance.data) / READY_FILE, _registry() / f"{instance.pid}.json"):
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # The URLs hold the servers' passwords: readable by nobody else.
            with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
                os.fchmod(file.fileno(), 0o600)
                file.truncate()
                file.write(text)
        except OSError:
            continue  # a home that cannot be written costs convenience only: --data still finds it


def withdraw(instance: Instance) -> None:
    """Take back what :func:`announce` left."""
    for path in (Path(instance.data) / READY_FILE, _registry() / f"{instance.pid}.json"):
        path.unlink(missing_ok=True)


def left_over(data: Path) -> Instance | None:
    """The stack that ran on the folder last and ended without a word; None when it stopped in order."""
    instance = _read(data / READY_FILE)
    return None if instance is None or instance.alive else instance


def find(settings: Settings, data: Path | None = None) -> tuple[Settings, Instance | None]:
    """``settings`` with the URLs of the instance meant, and that instance where it is one of ours.

    In this order: the folder given; ``CARDLOG_DATABASE_URL`` / ``CARDLOG_REDIS_URL``; the default folder;
    the only one running for this user, unless the default folder holds a Cardlog, which is meant then though it
    does not run. Raises :class:`NoInstanceError`.
    """
    if data is not None:
        instance = _read(data / READY_FILE)
        if instance is None or not instance.alive:
            raise NoInstanceError(f"no Cardlog runs on {data}; start one with: cardlog up --data {data}")
        return _with(settings, instance), instance
    if settings.database_url or settings.redis_url:
        return settings, None
    instance = _read(default_data() / READY_FILE)
    if instance is not None and instance.alive:
        return _with(settings, instance), instance
    running = [found for path in sorted(_registry().glob("*.json")) if (found := _read(path)) and found.alive]
    if running and (default_data() / "lock").exists():
        others = ", ".join(found.data for found in running)
        raise NoInstanceError(
            f"the Cardlog on {default_data()} does not run; start it with: cardlog up, "
            f"or say with --data that another one is meant: {others}"
        )
    if len(running) == 1:
        return _with(settings, running[0]), running[0]
    if running:
        folders = ", ".join(found.data for found in running)
        raise NoInstanceError(f"several Cardlogs run here; say which with --data: {folders}")
    raise NoInstanceError(
        "no Cardlog runs here; start one with: cardlog up (or set CARDLOG_DATABASE_URL and CARDLOG_REDIS_URL)"
    )


def _with(settings: Settings, instance: Instance) -> Settings:
    settings = replace(
        settings,
        database_url=instance.database_url,
        admin_database_url=instance.admin_database_url,
        redis_url=instance.redis_url,
        log_key_file=settings.log_key_file or instance.log_key_file,
    )
    # What this command appends is as good as what the instance's own processes append.
    authentication.use_file(settings.log_key_file)
    return settings


def _registry() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home) / "cardlog" / "running"


def _read(path: Path) -> Instance | None:
    try:
        return Instance(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return None
