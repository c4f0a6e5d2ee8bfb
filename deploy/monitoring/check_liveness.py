"""Whether the process of this container is alive; asked by the container engine: ``python -m
deploy.monitoring.check_liveness``.

It looks at what process 1 was told to run. Little is imported, for it is asked again and again.
"""

from __future__ import annotations

import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import psycopg

from events.health.heartbeat import UNSEEN_S, reports
from events.platform.database import connect
from events.platform.environment import load_settings
from events.platform.settings import Settings, SettingsError

PORTS = {"write": 8700, "read": 8701}
_PATIENCE_S = 4.0


def check_liveness(words: Sequence[str], settings: Settings) -> str | None:
    """Why the process started with the command line ``words`` should be started again; None when it lives.

    A service answers ``/healthz``. A worker was heard of within the last 15 s, by its name; it falls silent
    when it is stopped or hangs as a whole. Whatever else runs is alive as long as it runs, and so is a worker
    that Postgres can tell nothing of: a restart would not mend that.
    """
    for verb, look in (("serve", _service), ("work", _worker)):
        if verb in words[:-1]:
            return look(list(words[words.index(verb) + 1 :]), settings)
    return None


def _service(words: list[str], _: Settings) -> str | None:
    port = _option(words, "--port") or PORTS.get(words[0], 0)
    url = f"http://127.0.0.1:{port}/healthz"
    try:
        with urllib.request.urlopen(url, timeout=_PATIENCE_S):
            return None
    except (urllib.error.URLError, OSError) as error:
        return f"{url} does not answer: {error}"


def _worker(words: list[str], settings: Settings) -> str | None:
    name = _option(words, "--name") or f"{words[0]}-{socket.gethostname()}"
    try:
        with connect(settings.database_url, application="alive") as connection:
            heard = [report.seen_s for report in reports(connection) if report.worker == name]
    except psycopg.Error:
        return None
    if not heard:
        return f"{name} was never heard of"
    return f"{name} fell silent {min(heard):.0f} s ago" if min(heard) >= UNSEEN_S else None


def _option(words: Sequence[str], name: str) -> str | None:
    """The value of an option, given as two words or as one."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == name:
            return following
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return None


def main(command_line: Path = Path("/proc/1/cmdline")) -> int:
    """Exit status 0 while the process of that command line, words ended by NUL, is alive; else 1 and why."""
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
