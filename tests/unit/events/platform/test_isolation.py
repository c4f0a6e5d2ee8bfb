"""Isolation finds the culprit and does all other work once. While a server is away, nobody is the culprit."""

import errno
import math
from collections.abc import Sequence

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.platform.failures import is_away
from events.platform.isolation import is_the_datas_fault, isolate
from events.platform.key_file import KeyFileError
from tests.support.tables import examples


@given(st.lists(st.booleans(), max_size=200))
def test_every_culprit_is_found_and_everything_else_is_done_once_and_in_order(bad: list[bool]) -> None:
    done: list[int] = []

    def attempt(items: Sequence[int]) -> None:
        if any(bad[item] for item in items):
            raise ValueError("poison")
        done.extend(items)

    culprits = isolate(range(len(bad)), attempt)

    assert [culprit.item for culprit in culprits] == [place for place, is_bad in enumerate(bad) if is_bad]
    assert done == [place for place, is_bad in enumerate(bad) if not is_bad]
    assert all(str(culprit.error) == "poison" for culprit in culprits)


@given(st.integers(1, 2000), st.data())
def test_one_culprit_costs_the_logarithm_of_the_batch(size: int, data: st.DataObject) -> None:
    poison = data.draw(st.integers(0, size - 1))
    attempts = 0

    def attempt(items: Sequence[int]) -> None:
        nonlocal attempts
        attempts += 1
        if poison in items:
            raise ValueError

    assert [culprit.item for culprit in isolate(range(size), attempt)] == [poison]
    assert attempts <= 2 * math.ceil(math.log2(size)) + 1 if size > 1 else attempts == 1


def test_weather_is_raised_and_nobody_is_blamed() -> None:
    def attempt(_: Sequence[int]) -> None:
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    with pytest.raises(psycopg.OperationalError):
        isolate([1, 2], attempt)


@examples
def test_a_state_of_the_server_names_who_is_at_fault(state: str, fault: str) -> None:
    error = psycopg.errors.lookup(state)("said the server")
    assert (is_away(error), is_the_datas_fault(error)) == (fault == "away", fault == "data")


def test_errors_of_the_machine_are_distinguished_from_errors_of_values() -> None:
    assert not is_the_datas_fault(MemoryError())
    assert not is_the_datas_fault(ConnectionResetError())
    assert not is_the_datas_fault(OSError(errno.ENOSPC, "full"))
    assert not is_the_datas_fault(KeyFileError("the log key file cannot be read"))
    assert is_the_datas_fault(OSError(errno.ENAMETOOLONG, "a zone of 5,000 letters"))
    assert is_the_datas_fault(OverflowError())
    assert is_the_datas_fault(psycopg.DataError("a NUL the driver refuses"))
