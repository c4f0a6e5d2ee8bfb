"""``cardlog push``: pushes turns from a file onto the queue itself, so it needs Redis and no service."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import orjson
import redis
from cyclopts import Parameter

from deploy.options import File, Given, Tenant
from deploy.progress import Progress
from deploy.security.private_files import reading
from events.http.tokens import read_queue_key
from events.platform.counting import counted
from events.platform.settings import Settings
from events.platform.streams import connect_redis, stream_of, without_command
from events.types.envelope import uuid7
from events.types.tenancy import DEFAULT_TENANT, storage_id
from events.types.turn_contract import TurnInvalidError, fields_of, parse_turn

_PAGE = 500


def push(
    file: Annotated[File, Parameter(help="a JSONL file, or - for standard input")],
    /,
    *,
    tenant: Tenant = DEFAULT_TENANT,
    cardlog: Given[Settings],
) -> int:
    """Push turns from JSON lines with the fields of the turn contract.

    A line that breaks the contract is reported and skipped. The other lines are pushed, and the exit status is 1. The
    recorder drops a turn whose turn_id it knows or that was erased, so the turns may be fewer than what was pushed.
    """
    client = connect_redis(cardlog.redis_url, socket_timeout=10)
    key = None if tenant == DEFAULT_TENANT else read_queue_key(cardlog)
    size = _size(file)
    pushed = bad = 0
    page: list[dict[str, str]] = []

    def flush() -> int:
        pipe = client.pipeline(transaction=False)
        for turn in page:
            entry = turn if key is None else key.entry_of({"turn_id": str(uuid7()), **turn}, tenant)
            pipe.xadd(stream_of(cardlog, storage_id(tenant, turn["user_id"])), entry)  # type: ignore[arg-type]
        try:
            pipe.execute()
        except redis.RedisError as error:
            raise without_command(error) from None
        count = len(page)
        page.clear()
        return count

    with Progress("turns" if size is None else "bytes") as progress:
        read = 0
        for number, line in _lines(file):
            read += len(line)
            try:
                page.append(_turn(line))
            except TurnInvalidError as error:
                bad += 1
                print(f"line {number}: {error}", file=sys.stderr)
                continue
            if len(page) >= _PAGE:
                pushed += flush()
                progress(pushed if size is None else read, size)
        pushed += flush()
    print(
        f"pushed {counted(pushed, 'turn')}" + (f"; {counted(bad, 'invalid line')}" if bad else ""),
        file=sys.stderr,
    )
    return 1 if bad else 0


def _size(name: str) -> int | None:
    """Returns the bytes of a file, or None when the size is unknown: standard input, a pipe, an unreadable file."""
    path = Path(name)
    return path.stat().st_size if name != "-" and path.is_file() else None


def _lines(name: str) -> Iterator[tuple[int, bytes]]:
    with reading(name) as file:
        yield from enumerate(file, 1)


def _turn(line: bytes) -> dict[str, str]:
    if not line.strip():
        raise TurnInvalidError("(line)", "is empty")
    try:
        document = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise TurnInvalidError("(line)", f"is not valid JSON in UTF-8: {error}") from None
    if not isinstance(document, dict):
        raise TurnInvalidError("(line)", "must be a JSON object")
    turn = fields_of(document)
    parse_turn(turn, entry_time=datetime.now(UTC), entry_id="0-0")
    return turn
