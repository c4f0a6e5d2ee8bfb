"""The list of guards fits the code, so that ``make guards`` can remove each of them."""

from tests.mutation.__main__ import guards, misfits


def test_every_guard_and_its_tests_exist() -> None:
    assert misfits(guards()) == []
