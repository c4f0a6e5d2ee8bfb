"""``cardlog doctor`` warns of a prompt that no cache keeps and of a pgvector that damages its index."""

import pytest

from deploy.command import main
from deploy.commands.operate.doctor import old_pgvector
from events.platform.settings import Settings
from ingest.extraction.claude.extractor import ClaudeExtractor
from tests.support.deployed import compose


@pytest.mark.parametrize(
    ("version", "warns"), [("0.8.3", True), ("0.7", True), ("0.8.4", False), ("0.10.0", False)]
)
def test_a_pgvector_below_the_repair_is_named(version: str, warns: bool) -> None:
    warning = old_pgvector(version)
    assert (warning is not None) == warns
    assert warning is None or (version in warning and "0.8.4" in warning)


def test_the_pgvector_of_the_compose_file_needs_no_warning() -> None:
    version = compose()["services"]["postgres"]["image"].removeprefix("pgvector/pgvector:")
    assert version[0].isdigit()
    assert old_pgvector(version) is None


def test_a_model_whose_cache_wants_a_longer_prompt_is_named() -> None:
    named, silent = (
        ClaudeExtractor(Settings(model=model)).uncached()
        for model in ("claude-haiku-4-5", "claude-haiku-5-5")
    )
    assert silent is None
    assert named is not None
    assert "claude-haiku-4-5" in named
    assert "4,096" in named


def test_a_missing_setting_fails_one_check_and_the_others_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CARDLOG_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/nothing")
    monkeypatch.delenv("CARDLOG_REDIS_URL", raising=False)
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "FAIL  redis: CARDLOG_REDIS_URL is not set" in said
    assert "extraction:" in said
