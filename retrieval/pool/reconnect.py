"""Retries a read when its pooled connection is dead. A dead connection does not mean that the server is away."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

import psycopg
from psycopg_pool import PoolTimeout

from events.platform.failures import is_away

WITHIN_S = 2.0
"""The longest time of retrying, in seconds."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


async def retry_on_lost_connection(
    read: Callable[_P, Awaitable[_T]], *args: _P.args, **kwargs: _P.kwargs
) -> _T:
    """Returns the result of ``read``, and calls it again when its connection dies.

    ``read`` must take its connection from a pool and must not write. Raises the errors of ``read``, and the last
    error when connections die for ``WITHIN_S`` seconds.
    """
    until = time.monotonic() + WITHIN_S
    while True:
        try:
            return await read(*args, **kwargs)
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            if not _died(error) or time.monotonic() > until:
                raise


def _died(error: psycopg.Error) -> bool:
    """True when the connection broke, or when the server ended it (SQLSTATE classes 08 and 57P)."""
    if isinstance(error, PoolTimeout) or not is_away(error):
        return False
    return error.sqlstate is None or error.sqlstate.startswith(("08", "57P"))
