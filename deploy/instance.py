"""Finds the Cardlog that a command talks to: by settings, by data folder, or the one that runs on this machine."""

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from deploy.embedded.lock import is_dead
from deploy.environment import data_folder
from deploy.security.private_files import key_in, own_text, written_privately
from events.platform.settings import Settings, revealed
from events.sealing import sealer
from events.store import authentication

READY_FILE = "ready.json"


class NoInstanceError(RuntimeError):
    """No Cardlog runs, or several run. The message gives the remedy."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A running stack, with the fields of its ready line."""

    write_url: str
    read_url: str
    redis_url: str
    database_url: str
    pid: int
    started: float
    data: str
    admin_database_url: str = ""
    log_key_file: str = ""
    tombstones_file: str = ""
    kek_file: str = ""
    key_file: str = ""

    @property
    def explorer_url(self) -> str:
        return f"{self.read_url}/explorer/"

    @property
    def alive(self) -> bool:
        """True when the process that wrote this file still runs. Its pid alone may belong to another process now."""
        try:
            same = abs(psutil.Process(self.pid).create_time() - self.started) < 1.0
        except psutil.Error:
            return False
        return same and not is_dead(self.pid)

    @property
    def ports(self) -> set[int]:
        """The ports of both services."""
        return {port for url in (self.write_url, self.read_url) if (port := urlsplit(url).port)}


def announce(instance: Instance) -> None:
    """Writes ``instance`` to its data folder and to the user's list of running instances."""
    text = json.dumps(asdict(instance)).encode()
    for path in (Path(instance.data) / READY_FILE, _registry() / f"{instance.pid}.json"):
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # The URLs hold passwords, so only the owner may read the file. A link is replaced and not followed.
            with written_privately(path) as file:
                file.write(text)
        except (OSError, RuntimeError):
            continue  # without a writable home folder, --data still finds the instance


def withdraw(instance: Instance) -> None:
    """Removes the files of :func:`announce`."""
    for path in (Path(instance.data) / READY_FILE, _registry() / f"{instance.pid}.json"):
        path.unlink(missing_ok=True)


def left_over(data: Path) -> Instance | None:
    """Returns the last stack of the folder if it was killed, and None if it stopped in order or still runs."""
    instance = _read(data / READY_FILE)
    return None if instance is None or instance.alive else instance


def find(settings: Settings, data: Path | None = None) -> tuple[Settings, Instance | None]:
    """Returns ``settings`` with the URLs of the chosen instance, and the instance (None when settings name servers).

    The choice, in this order: the given folder; ``CARDLOG_DATABASE_URL`` and ``CARDLOG_REDIS_URL``; the default
    folder; the only instance of this user. When the default folder holds a Cardlog that does not run, no other
    instance is chosen. Settings that name the database of an instance of this user, as ``cardlog env`` prints it, get
    its owner's URL. Raises :class:`NoInstanceError`.
    """
    if data is not None:
        instance = _read(data / READY_FILE)
        if instance is None or not instance.alive:
            raise NoInstanceError(f"no Cardlog runs on {data}; start one with: cardlog up --data {data}")
        return _with(settings, instance), instance
    if settings.database_url or settings.redis_url:
        database = revealed(settings.database_url)
        owners = {each.database_url: each.admin_database_url for each in _announced()}
        owner = settings.admin_database_url or owners.get(database, "")
        return replace(settings, admin_database_url=owner), None
    instance = _read(data_folder() / READY_FILE)
    if instance is not None and instance.alive:
        return _with(settings, instance), instance
    running = [found for found in _announced() if found.alive]
    if running and (data_folder() / "lock").exists():
        others = ", ".join(found.data for found in running)
        raise NoInstanceError(
            f"the Cardlog on {data_folder()} does not run; start it with: cardlog up, "
            f"or choose another one with --data: {others}"
        )
    if len(running) == 1:
        return _with(settings, running[0]), running[0]
    if running:
        folders = ", ".join(found.data for found in running)
        raise NoInstanceError(f"several Cardlogs run here; choose one with --data: {folders}")
    raise NoInstanceError(
        "no Cardlog runs here; start one with: cardlog up (or set CARDLOG_DATABASE_URL and CARDLOG_REDIS_URL)"
    )


def addresses_of(settings: Settings, data: Path | None) -> tuple[Settings, str, str]:
    """Returns the settings with the key of the chosen services, and the URLs of the read and the write service.

    The services are those of the settings, or those of the Cardlog that runs here. Raises NoInstanceError.
    """
    read, write = settings.read_url, settings.write_url
    if not (read and write):
        settings, instance = find(settings, data)
        if instance is None:
            raise NoInstanceError(
                "set CARDLOG_READ_URL and CARDLOG_WRITE_URL, or name a running Cardlog with --data"
            )
        read, write = read or instance.read_url, write or instance.write_url
    return settings, read, write


def _with(settings: Settings, instance: Instance) -> Settings:
    settings = replace(
        settings,
        database_url=instance.database_url,
        admin_database_url=instance.admin_database_url,
        redis_url=instance.redis_url,
        log_key_file=settings.log_key_file or instance.log_key_file,
        tombstones_file=settings.tombstones_file or instance.tombstones_file,
        kek_file=settings.kek_file or instance.kek_file,
        key_file=settings.key_file or ("" if settings.api_key else instance.key_file),
    )
    # The command authenticates and seals its events with the same keys as the instance's own processes.
    authentication.use_file(settings.log_key_file)
    sealer.use_settings(settings)
    return settings


def api_key_of(settings: Settings) -> str:
    """Returns the API key of the command; an empty text when there is none.

    Raises SettingsError when the key file cannot be read.
    """
    if settings.api_key:
        return revealed(settings.api_key)
    return key_in(Path(settings.key_file)) if settings.key_file else ""


def authorization(settings: Settings) -> dict[str, str]:
    """Returns the header with :func:`api_key_of`; nothing when there is no key."""
    key = api_key_of(settings)
    return {"Authorization": f"Bearer {key}"} if key else {}


def _registry() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home) / "cardlog" / "running"


def _announced() -> list[Instance]:
    return [found for path in sorted(_registry().glob("*.json")) if (found := _read(path))]


def _read(path: Path) -> Instance | None:
    try:
        return Instance(**json.loads(own_text(path)))
    except (OSError, ValueError, TypeError):
        return None
