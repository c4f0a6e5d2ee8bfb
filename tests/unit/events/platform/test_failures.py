"""Errors of a server that is away are distinguished from errors of the data."""

import asyncio

import psycopg
import pytest
from psycopg import errors
from psycopg_pool import PoolTimeout

from events.platform.failures import is_away, retry_on_lost_connection


def test_a_connection_that_died_has_no_state() -> None:
    assert is_away(psycopg.OperationalError("server closed the connection unexpectedly"))
    assert is_away(psycopg.InterfaceError("the connection is closed"))
    assert not is_away(psycopg.DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes"))
    assert not is_away(ValueError("no database at all"))


@pytest.mark.parametrize(
    "error",
    [
        *(errors.lookup(state)("said the server") for state in ("08006", "57P01", "57014", "40001")),
        psycopg.OperationalError("the socket is closed"),
    ],
)
def test_a_read_that_was_interrupted_is_done_again(error: psycopg.Error) -> None:
    faults = [error]

    async def read() -> str:
        if faults:
            raise faults.pop()
        return "read"

    assert asyncio.run(retry_on_lost_connection(read)) == "read"


@pytest.mark.parametrize("error", [PoolTimeout("no connection"), errors.lookup("53200")("out of memory")])
def test_a_read_that_would_burden_a_full_server_is_not_done_again(error: psycopg.Error) -> None:
    calls = []

    async def read() -> None:
        calls.append(1)
        raise error

    with pytest.raises(psycopg.Error):
        asyncio.run(retry_on_lost_connection(read))
    assert calls == [1]
