"""Patience with connections: a pool hands out one that died now and then, and that says nothing of the server."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

import psycopg
from psycopg_pool import PoolTimeout

from events.platform.failures import is_away

WITHIN_S = 2.0

_P = ParamSpec("_P")
_T = TypeVar("_T")


async def retry_on_lost_connection(
    read: Callable[_P, Awaitable[_T]], *args: _P.args, **kwargs: _P.kwargs
) -> _T:
    """What ``read`` gives, which takes a connection of a pool and changes nothing; read again where one died.

    Raises what ``read`` raises else, and the last error where connections die for ``WITHIN_S``.
    """
    until = time.monotonic() + WITHIN_S
    while True:
        try:
            return await read(*args, **kwargs)
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            if not _died(error) or time.monotonic() > until:
                raise


def _died(error: psycopg.Error) -> bool:
    """Whether the connection is over: it broke, or the server ended it (SQLSTATE classes 08 and 57P)."""
    if isinstance(error, PoolTimeout) or not is_away(error):
        return False
    return error.sqlstate is None or error.sqlstate.startswith(("08", "57P"))
