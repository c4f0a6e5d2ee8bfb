"""Every price names its source, and a prefix that is too short for a cache costs the full price."""

from datetime import date

import pytest

from events.platform.settings import Settings
from ingest.extraction.claude.extractor import ClaudeExtractor
from ingest.extraction.claude.model_client import PRICES
from ingest.extraction.extractor_port import SessionBatch
from tests.support.ingest.claude import said


@pytest.mark.parametrize("model", PRICES)
def test_every_price_has_a_source_and_a_day(model: str) -> None:
    price = PRICES[model]
    assert price["source"].startswith("https://") == (price["input"] > 0)
    assert date.fromisoformat(price["read_on"]) >= date(2026, 11, 25)
    told = price["least_to_cache_source"]
    assert (told == "no source") == (price["least_to_cache"] is None)


def test_a_prefix_below_the_least_of_the_model_is_estimated_without_a_cache() -> None:
    batches = [SessionBatch((said("I moved to Lisbon"),))] * 3
    cached, uncached = (
        ClaudeExtractor(Settings(model=model)).estimate(batches)
        for model in ("claude-haiku-5-5", "claude-haiku-4-5")
    )
    assert cached.cache_read_tokens == 2 * cached.cache_write_tokens > 0
    assert (uncached.cache_read_tokens, uncached.cache_write_tokens) == (0, 0)
    assert uncached.input_tokens == cached.input_tokens + 3 * cached.cache_write_tokens
