"""The half-lives of facts: a replaceable value decays fast, an accumulating value slowly, other cards never."""

from datetime import UTC, datetime, timedelta

import pytest

from retrieval.recall.ranking.features import decay
from tests.support.tables import examples

NOW = datetime(2026, 5, 8, tzinfo=UTC)


@examples
def test_a_fact_fades(cardinality: str | None, days: int, weight: float) -> None:
    assert decay(cardinality, NOW - timedelta(days=days), NOW) == pytest.approx(weight, abs=0.005)
