"""``cardlog eval extraction`` gives a correct extractor the full score. A missed or invented card costs score."""

from __future__ import annotations

import json

import pytest

from deploy.command import main
from evaluation.extraction_trial import KINDS, cases
from tests.support.ingest.messages_api import MessagesApi, status

ALL = cases()


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)


def test_the_command_measures_the_rules_where_there_is_no_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "extraction", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["extractor"], found["conversations"], found["failed"]) == ("rules", len(ALL), 0)
    assert found["kinds"]["state"]["precision"] > 0.9
    assert set(found["kinds"]["state"]["languages"]) == {"en", "zh"}
    assert main(["eval", "extraction", "--mistakes"]) == 0
    assert capsys.readouterr().out.count("\n") > len(KINDS) * 3


def test_the_command_measures_the_model_where_there_is_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["eval", "extraction", "--extractor", "claude"]) == 2
    assert "ANTHROPIC_API_KEY is not set" in capsys.readouterr().err
    with MessagesApi() as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        assert main(["eval", "extraction", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["extractor"] == "claude"
        assert found["usage"]["calls"] == len(api.requests) > 0
        assert found["kinds"]["state"]["precision"] > 0.9
        api.trouble = lambda _: status(401)
        assert main(["eval", "extraction", "--json"]) == 1
        assert json.loads(capsys.readouterr().out)["failed"] > 0
