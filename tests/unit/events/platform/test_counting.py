"""Numbers of things are plain English."""

from events.platform.counting import counted


def test_one_thing_is_singular_and_large_numbers_are_readable() -> None:
    assert [counted(number, "card") for number in (0, 1, 2, 12_000)] == [
        "0 cards", "1 card", "2 cards", "12,000 cards",
    ]  # fmt: skip
