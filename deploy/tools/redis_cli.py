"""``redis-cli``: sends one command to Redis and prints the reply, where the real program is not installed.

It runs the real ``redis-cli`` or ``valkey-cli`` with the same arguments when ``PATH`` has one. Otherwise it knows
``-u URL`` (default: CARDLOG_REDIS_URL, else 127.0.0.1:6379), ``-x`` (the last argument comes from standard input), and
one command with its arguments.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

_USAGE = "usage: redis-cli [-u redis://[user]:password@host:port/db] [-x] COMMAND [ARGUMENT …]"
_INDENT = 3


def entry() -> NoReturn:
    """Runs as the process ``redis-cli``. Exit status 1 is an error of Redis, 2 a wrong command line."""
    words = sys.argv[1:]
    if (program := _real(Path(sys.argv[0]))) is not None:
        os.execv(program, [program, *words])  # noqa: S606 - the program that the user called by this name
    sys.exit(main(words))


def main(words: Sequence[str]) -> int:
    """Sends the command in ``words`` and prints the reply. Returns the exit status."""
    rest = list(words)
    url = os.environ.get("CARDLOG_REDIS_URL", "") or "redis://127.0.0.1:6379/0"
    from_input = False
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option == "-u" and rest:
            url = rest.pop(0)
        elif option == "-x":
            from_input = True
        else:
            print(_USAGE, file=sys.stderr)
            return 2
    if not rest:
        print(_USAGE, file=sys.stderr)
        return 2
    return _send(url, [*rest, sys.stdin.buffer.read()] if from_input else rest)


def _send(url: str, command: Sequence[str | bytes]) -> int:
    import redis  # noqa: PLC0415 - a wrong command line needs no driver

    from events.platform.settings import redacted  # noqa: PLC0415

    try:
        with redis.Redis.from_url(url, decode_responses=True, encoding_errors="backslashreplace") as client:
            client.response_callbacks.clear()  # the reply as Redis sent it
            reply = client.execute_command(*command)
    except redis.ResponseError as error:
        print(f"(error) {error}", file=sys.stderr)
        return 1
    except (redis.RedisError, ValueError, OSError) as error:
        print(f"redis-cli: {redacted(str(error))}", file=sys.stderr)
        return 1
    print("\n".join(_lines(reply, plain=not sys.stdout.isatty())))
    return 0


def _lines(reply: object, *, plain: bool) -> list[str]:
    """Returns a reply as lines: numbered and quoted for a terminal, plain for a pipe, as redis-cli prints it."""
    if isinstance(reply, dict):
        reply = [part for pair in reply.items() for part in pair]
    if isinstance(reply, list | tuple):
        if plain:
            return [line for each in reply for line in _lines(each, plain=True)]
        lines: list[str] = []
        for number, each in enumerate(reply, 1):
            first, *others = _lines(each, plain=False)
            lines += [f"{number}) {first}", *(" " * _INDENT + line for line in others)]
        return lines or ["(empty array)"]
    if reply is None:
        return ["" if plain else "(nil)"]
    if isinstance(reply, int):
        return [str(reply) if plain else f"(integer) {reply}"]
    text = str(reply)
    return [text if plain or text.isupper() else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"']


def _real(own: Path) -> str | None:
    """Returns the path of an installed redis-cli or valkey-cli that is not this program."""
    for name in ("redis-cli", "valkey-cli"):
        for folder in os.environ.get("PATH", "").split(os.pathsep):
            found = shutil.which(name, path=folder or ".")
            if found and not _same(Path(found), own):
                return found
    return None


def _same(found: Path, own: Path) -> bool:
    """True when ``found`` is this program, also in another environment of Cardlog."""
    try:
        return found.samefile(own) or b"deploy.tools.redis_cli" in found.read_bytes()[:4096]
    except OSError:
        return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
