"""Tells an error of an away server from an error of the data, retries reads, and renders errors as one line."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import ParamSpec, TypeVar

import psycopg
from psycopg_pool import PoolTimeout

RETRY_S = 2.0
"""The longest time of retrying a read whose connections die, in seconds."""

NEEDS_OPERATOR = "needs an operator"
"""The reason of a worker begins with these words when only an operator can end its wait. Its stage is then stuck."""

_P = ParamSpec("_P")
_T = TypeVar("_T")

_AWAY_CLASSES = ("08", "53", "57P", "40")
_AWAY_STATES = frozenset(
    (
        "25006",  # read-only transaction: the server has just become a standby
        "25P03",  # idle in transaction for too long: a suspended process continued
        "55P03",  # the lock was not free in time
        "57014",  # cancelled by an operator or by a timeout
        "58000", "58030",  # the server cannot read or write its own files
    )
)  # fmt: skip


_LONGEST = 500
_ENDING: set[asyncio.Task[object]] = set()  # the event loop holds tasks only weakly
_UNWRITABLE = {0: "\ufffd"} | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def in_a_line(text: str, longest: int = _LONGEST) -> str:
    """Returns ``text`` as one line of at most ``longest`` characters that PostgreSQL can store.

    An error about NUL or a lone surrogate often quotes that character. The function replaces it by U+FFFD.
    """
    return " ".join(text[: 4 * longest].translate(_UNWRITABLE).split())[:longest]


def is_away(error: BaseException) -> bool:
    """True when the same statement may succeed later, unchanged. The data are then not at fault.

    True for a lost connection, a shutdown, exhausted resources and a lost race (SQLSTATE classes 08, 57P, 53
    and 40), for the states in ``_AWAY_STATES``, and for a closed connection. False for everything else. ``54000``
    (``program_limit_exceeded``) is False although psycopg counts it as an operational error: a value that is too large
    for an index stays too large.
    """
    if not isinstance(error, psycopg.Error):
        return False
    state = error.sqlstate
    if state is None:
        # The driver raised the error itself: a dead socket, a closed connection, a timeout of a pool.
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return state.startswith(_AWAY_CLASSES) or state in _AWAY_STATES


async def retry_on_lost_connection(
    read: Callable[_P, Awaitable[_T]], *args: _P.args, **kwargs: _P.kwargs
) -> _T:
    """Returns the result of ``read``, and calls it again when its connection dies or its statement is cancelled.

    A dead connection of a pool does not mean that the server is away. ``read`` must take its connection from a pool
    and must not write. Raises the errors of ``read``, and the last error when connections die for ``RETRY_S`` seconds.
    """
    until = time.monotonic() + RETRY_S
    while True:
        try:
            return await read(*args, **kwargs)
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            if not _may_pass(error) or time.monotonic() > until:
                raise


async def bounded(seconds: float, asking: Coroutine[object, object, _T]) -> _T:
    """Returns the result of ``asking``. Raises TimeoutError after ``seconds``, and then cancels ``asking``.

    The caller does not wait for the end of a cancelled statement, which takes psycopg up to ten seconds on a server
    that does not answer.
    """
    asked = asyncio.create_task(asking)
    try:
        done, _ = await asyncio.wait({asked}, timeout=seconds)
    finally:
        if not asked.done():
            asked.cancel()
            _ENDING.add(asked)
            asked.add_done_callback(_ended)
    if not done:
        raise TimeoutError(f"the server does not answer within {seconds:g} s")
    return asked.result()


def _ended(task: asyncio.Task[object]) -> None:
    _ENDING.discard(task)
    if not task.cancelled():
        task.exception()  # otherwise asyncio logs the error of a task that nobody waits for


def _may_pass(error: psycopg.Error) -> bool:
    """True when the connection broke, when the server ended it (SQLSTATE classes 08 and 57P), when the statement lost
    a race, as on a replica that applies the log (class 40), and when something cancelled it (57014).
    """
    if isinstance(error, PoolTimeout) or not is_away(error):
        return False
    return error.sqlstate is None or error.sqlstate.startswith(("08", "57P", "40", "57014"))
