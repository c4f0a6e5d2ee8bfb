"""Checks if the main process of this container is alive: ``python -m deploy.check_liveness``.

The container engine runs it. It reads the command line of process 1. It imports little, because it runs often.
"""

import socket
import ssl
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import psycopg

from deploy.environment import load_settings
from events.health.heartbeat import UNSEEN_S, reports
from events.platform.database import connect
from events.platform.settings import Settings, SettingsError

PORTS = {"write": 8700, "read": 8701}
ALL_PORTS = PORTS | {"embed": 8702, "proxy": 8703}
_PATIENCE_S = 4.0


def check_liveness(words: Sequence[str], settings: Settings) -> str | None:
    """Returns the reason to restart the process with the command line ``words``, or None when the process is alive.

    A service or a proxy is alive when it answers ``/healthz``. A worker is alive when its last heartbeat is younger
    than 15 s. A worker that is stopped, or hangs completely, writes no heartbeat. Any other process is alive while it
    runs. A worker also counts as alive while Postgres does not answer, because a restart does not help then.
    """
    for verb, look in (("serve", _service), ("work", _worker)):
        if verb in words[:-1]:
            return look(list(words[words.index(verb) + 1 :]), settings)
    return _service(list(words[words.index("proxy") :]), settings) if "proxy" in words else None


def _service(words: list[str], settings: Settings) -> str | None:
    port = _option(words, "--port") or ALL_PORTS.get(words[0], 0)
    scheme = "https" if settings.tls_cert_file else "http"
    url = f"{scheme}://127.0.0.1:{port}/healthz"
    # The certificate names the service and not this address. Nothing secret is sent.
    context = ssl._create_unverified_context() if settings.tls_cert_file else None  # noqa: S323
    # A proxy of the environment is for other machines.
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
    )
    try:
        with opener.open(url, timeout=_PATIENCE_S):
            return None
    except (urllib.error.URLError, OSError) as error:
        return f"{url} does not answer: {error}"


def _worker(words: list[str], settings: Settings) -> str | None:
    name = _option(words, "--name") or f"{words[0]}-{socket.gethostname()}"
    try:
        with connect(settings.database_url, application="alive") as connection:
            ages = [report.seen_s for report in reports(connection) if report.worker == name]
    except psycopg.Error:
        return None
    if not ages:
        return f"{name} has no heartbeat"
    return f"the last heartbeat of {name} is {min(ages):.0f} s old" if min(ages) >= UNSEEN_S else None


def _option(words: Sequence[str], name: str) -> str | None:
    """Returns the value of an option, written as two words or as one."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == name:
            return following
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return None


def main(command_line: Path = Path("/proc/1/cmdline")) -> int:
    """Returns exit status 0 when the process is alive, else prints the reason and returns 1.

    The file ``command_line`` holds the words of the process, each ended by NUL.
    """
    words = command_line.read_bytes().decode(errors="replace").split("\0")
    try:
        why = check_liveness(words, load_settings())
    except SettingsError as error:
        why = str(error)
    if why is not None:
        print(why, file=sys.stderr)
    return 0 if why is None else 1


if __name__ == "__main__":
    sys.exit(main())
