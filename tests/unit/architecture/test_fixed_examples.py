"""`make test` tries the same examples each time; only `make fuzz` searches with fresh ones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st


def test_a_property_is_tried_with_the_same_examples_each_time() -> None:
    seen: list[list[int]] = []

    @given(st.integers())
    def asked(number: int) -> None:
        seen[-1].append(number)

    for _ in range(2):
        seen.append([])
        asked()
    assert seen[0] == seen[1]
