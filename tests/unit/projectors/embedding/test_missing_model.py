"""A machine without the embedding model says so, with the remedy."""

from dataclasses import replace
from pathlib import Path

import pytest

from events.platform.settings import Settings
from projectors.embedding.embedder import HASH_MODEL, SMALL_MODEL
from projectors.embedding.embedders import dimension_of, missing_model


def test_only_a_model_that_is_needed_here_is_missed(tmp_path: Path) -> None:
    settings = Settings(embed_model_path=str(tmp_path))
    missing = missing_model(settings)
    assert missing is not None
    assert "build it with: cardlog model fetch" in missing
    assert missing_model(replace(settings, embed_url="http://127.0.0.1:1")) is None
    assert missing_model(replace(settings, embed_model=HASH_MODEL)) is None


def test_who_declares_a_mode_is_told_the_remedy_and_no_folder_of_the_machine(tmp_path: Path) -> None:
    settings = replace(Settings(), embed_model=SMALL_MODEL, embed_model_path=str(tmp_path))
    with pytest.raises(ValueError, match=f"`cardlog model fetch --model {SMALL_MODEL}`") as error:
        dimension_of(settings, "")
    assert str(tmp_path) not in str(error.value)
