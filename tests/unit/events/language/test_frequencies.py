"""An activity and its frequency are told apart, and other words are left alone."""

from __future__ import annotations

import pytest

from events.language.frequencies import with_frequency


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("walk daily", ("walk", "daily")),
        ("lifting weights every other day", ("lifting weights", "every other day")),
        ("yoga three times a week", ("yoga", "three times a week")),
        ("yoga, twice weekly", ("yoga", "twice weekly")),
        ("tennis every Sunday", ("tennis", "every Sunday")),
        ("每天散步", ("散步", "每天")),
        ("每週三次瑜伽", ("瑜伽", "每週三次")),
        ("daily", None),
        ("the daily news", None),
        ("every dog", None),
        ("每天", None),
    ],
)
def test_an_activity_and_its_frequency(text: str, found: tuple[str, str] | None) -> None:
    assert with_frequency(text) == found
