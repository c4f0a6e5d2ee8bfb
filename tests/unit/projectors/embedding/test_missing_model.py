"""A machine without the embedding model says so, with the remedy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from events.platform.settings import Settings
from projectors.embedding.embedder import HASH_MODEL
from projectors.embedding.embedders import missing_model


def test_only_a_model_that_is_needed_here_is_missed(tmp_path: Path) -> None:
    settings = Settings(embed_model_path=str(tmp_path))
    missing = missing_model(settings)
    assert missing is not None
    assert "build it with: make model" in missing
    assert missing_model(replace(settings, embed_url="http://127.0.0.1:1")) is None
    assert missing_model(replace(settings, embed_model=HASH_MODEL)) is None
