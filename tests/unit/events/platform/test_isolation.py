"""Isolation finds the culprit and does all other work once. While a server is away, nobody is the culprit."""

from __future__ import annotations

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


@pytest.mark.parametrize("state", ["54000", "22001", "22008", "22P05", "23505", "23514", "XX000", "42804"])
def test_what_a_value_causes_is_the_datas_fault(state: str) -> None:
    error = psycopg.errors.lookup(state)("no")
    assert is_the_datas_fault(error)
    assert not is_away(error)


@pytest.mark.parametrize(
    "state", ["08006", "57P01", "53100", "53300", "40001", "40P01", "57014", "25006", "55P03"]
)  # fmt: skip
def test_what_passes_by_itself_is_nobodys_fault(state: str) -> None:
    error = psycopg.errors.lookup(state)("no")
    assert is_away(error)
    assert not is_the_datas_fault(error)


@pytest.mark.parametrize("state", ["42P01", "42501", "3F000", "0A000", "XX001", "28000", "58P01"])
def test_a_server_that_is_not_as_it_should_be_is_nobodys_fault(state: str) -> None:
    error = psycopg.errors.lookup(state)("no")
    assert not is_the_datas_fault(error)
    assert not is_away(error)


def test_errors_of_the_machine_are_distinguished_from_errors_of_values() -> None:
    assert not is_the_datas_fault(MemoryError())
    assert not is_the_datas_fault(ConnectionResetError())
    assert not is_the_datas_fault(OSError(errno.ENOSPC, "full"))
    assert not is_the_datas_fault(KeyFileError("the log key file cannot be read"))
    assert is_the_datas_fault(OSError(errno.ENAMETOOLONG, "a zone of 5,000 letters"))
    assert is_the_datas_fault(OverflowError())
    assert is_the_datas_fault(psycopg.DataError("a NUL the driver refuses"))
