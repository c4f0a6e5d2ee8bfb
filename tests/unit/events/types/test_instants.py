"""A day stands for an instant of that day, and never for one ahead while the day lasts somewhere."""

from datetime import UTC, datetime

import pytest

from events.types.instants import InstantInvalidError, day_or_instant_of

NOW = datetime(2023, 11, 20, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2023-11-19", datetime(2023, 11, 19, 12, tzinfo=UTC)),
        (" 2023-11-20 ", NOW),
        ("2023-11-21", datetime(2023, 11, 21, 12, tzinfo=UTC)),
        ("2023-11-20T08:00:00Z", datetime(2023, 11, 20, 8, tzinfo=UTC)),
    ],
)
def test_a_day_is_its_noon_or_now(text: str, instant: datetime) -> None:
    assert day_or_instant_of(text, NOW) == instant


def test_a_day_that_began_in_the_east_is_now() -> None:
    evening = NOW.replace(hour=10)
    assert day_or_instant_of("2023-11-21", evening) == evening


@pytest.mark.parametrize(
    "text", ["yesterday", "2023-02-30", "1899-12-31", "2018", "2023-11", "20231120", "2023-11-20T08:00"]
)
def test_what_is_no_day_and_no_instant_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InstantInvalidError, match="such as 2023-11-20"):
        day_or_instant_of(text, NOW)
