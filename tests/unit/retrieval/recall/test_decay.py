"""The half-lives of facts: a replaceable value decays fast, an accumulating value slowly, other cards never."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from retrieval.recall.ranking.features import decay

NOW = datetime(2026, 5, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("cardinality", "days", "weight"),
    [
        ("single_value", 30, 0.55),
        ("single_value", 90, 0.17),
        ("multi_value", 30, 0.86),
        ("multi_value", 90, 0.64),
        (None, 90, 1.0),
        ("single_value", 0, 1.0),
        ("single_value", -3, 1.0),
    ],
)
def test_a_fact_fades(cardinality: str | None, days: int, weight: float) -> None:
    assert decay(cardinality, NOW - timedelta(days=days), NOW) == pytest.approx(weight, abs=0.005)
