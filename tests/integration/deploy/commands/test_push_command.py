"""A push that Redis does not take ends with the cause and the remedy."""

from pathlib import Path

import pytest

from deploy.command import main


def test_a_redis_that_is_away_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    turns = tmp_path / "turns.jsonl"
    turns.write_text('{"user_id": "ann", "text": "I live in Oslo."}\n')
    monkeypatch.setenv("CARDLOG_REDIS_URL", "redis://127.0.0.1:1/0")
    assert main(["push", str(turns)]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("cardlog push: Redis does not answer: ")
    assert line.endswith("; see that its server runs, then try again")
