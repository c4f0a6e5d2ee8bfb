"""The decay of facts, and a file of coefficients that cannot be used."""

import json
import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from retrieval.recall.ranking import linear
from retrieval.recall.ranking.features import decay
from retrieval.recall.ranking.linear import load, shipped
from tests.support.tables import examples, examples_and


@pytest.fixture(autouse=True)
def heard(caplog: pytest.LogCaptureFixture) -> None:
    """A command that a test ran before may have silenced warnings for its process."""
    caplog.set_level(logging.WARNING, logger=linear.__name__)


def document(**changed: Any) -> dict[str, Any]:
    return {"version": 3, "fitted": {"words": 2.0}, "chosen": {"layer": 0.5}} | changed


@examples_and(" " * 65_000 + json.dumps(document()))
def test_a_broken_file_is_named_and_the_shipped_one_is_used(
    text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "ranking.json"
    path.write_text(text)
    assert load(str(path)).coefficients == shipped().coefficients
    assert str(path) in caplog.text


def test_a_missing_file_is_named_and_a_good_one_is_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "ranking.json"
    assert load(str(path)).coefficients == shipped().coefficients
    assert "No such file" in caplog.text
    path.write_text(json.dumps(document()))
    model = load(str(path))
    assert model.coefficients == {"words": 2.0, "layer": 0.5}
    assert model.contributions({"words": 0.5, "unknown": 3.0}) == {"words": 1.0}


NOW = datetime(2026, 5, 8, tzinfo=UTC)


@examples
def test_a_fact_fades(cardinality: str | None, days: int, weight: float) -> None:
    assert decay(cardinality, NOW - timedelta(days=days), NOW) == pytest.approx(weight, abs=0.005)
