"""``cardlog eval record`` keeps what a model answers, and ``cardlog eval answers`` replays it without a server."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deploy.command import main
from evaluation.answers.conversations import Conversation, own
from evaluation.answers.memory import open_memory
from evaluation.answers.readings import Readings
from evaluation.answers.recorded_model import RecordedExtractor
from evaluation.answers.trial import check_recording, read_all, run_trial
from events.platform.settings import Settings, variable_of
from tests.support.ingest.messages_api import MessagesApi

NAME = "cn-assistant"
SETTINGS = Settings(embed_model="hash")  # a model would take most of the time, and says nothing of recordings
[WHOLE] = [each for each in own() if each.name == NAME]
SHORT = replace(WHOLE, sessions=WHOLE.sessions[:2], questions=WHOLE.questions[:4], group="private")


@pytest.fixture(autouse=True)
def no_other_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CARDLOG_EVAL_DATA", raising=False)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    monkeypatch.setenv(variable_of("embed_model"), SETTINGS.embed_model)


def recorder(api: MessagesApi, folder: Path, conversation: Conversation = SHORT) -> RecordedExtractor:
    settings = replace(SETTINGS, anthropic_base_url=api.url)
    private = [conversation.name] if conversation.private else []
    return RecordedExtractor(settings, Readings(folder), private=private, recording=True, by="a stand-in")


def record(extractor: RecordedExtractor, conversation: Conversation = SHORT) -> None:
    with open_memory(SETTINGS, extractor) as memory:
        read_all(memory, [conversation], lambda *_: None, lambda: check_recording(extractor))


def replayed(folder: Path, conversation: Conversation = SHORT) -> tuple[RecordedExtractor, dict[str, Any]]:
    extractor = RecordedExtractor(SETTINGS, Readings(folder))
    result = run_trial(SETTINGS, [conversation], extractor, lambda *_: None)
    return extractor, result.score().document()


def test_a_recording_is_replayed_without_a_server_and_goes_on_where_it_was_interrupted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with MessagesApi() as api:
        assert main(["eval", "record", "--to", str(tmp_path), "--base-url", api.url, "--only", NAME]) == 0
        asked = len(api.requests)
        files = sorted(tmp_path.rglob("*.json"))
        assert len(files) == asked == len(WHOLE.sessions)
        files[0].unlink()
        assert main(["eval", "record", "--to", str(tmp_path), "--base-url", api.url, "--only", NAME]) == 0
        assert len(api.requests) == asked + 1
    assert f"1 readings recorded, {asked - 1} were there" in capsys.readouterr().out
    reading = json.loads(files[0].read_text("utf-8"))
    assert reading["prompt_version"] == files[0].parent.parent.name
    assert reading["model"] == SETTINGS.model
    assert main(["eval", "answers", "--readings", str(tmp_path), "--only", NAME, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["readings"]["replayed"], found["readings"]["missing"]) == (asked, {})
    assert found["readings"]["drifted"] == 0
    for reader in ("model", "rules"):
        scores = found["readers"][reader]["all/all"]
        assert scores["questions"] == len(WHOLE.questions)
        assert scores["top_5"] > 0.5
        assert scores["control"]["top_5"] < 0.15


def test_a_missing_reading_gives_no_card_and_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", "answers", "--readings", str(tmp_path), "--only", NAME, "--no-rules"]) == 1
    printed = capsys.readouterr().out
    assert f"MISSING: {len(WHOLE.sessions)} readings ({NAME} {len(WHOLE.sessions)})" in printed
    assert "rules" not in printed.split("MISSING")[0]
    extractor, score = replayed(tmp_path)
    assert extractor.counts.missing == {NAME: 2}
    assert (score["top_10"], score["evidence_at_10"]) == (0.0, 0.0)


def test_a_private_reading_holds_no_sentence_and_gives_the_same_answers(tmp_path: Path) -> None:
    with MessagesApi() as api:
        record(recorder(api, tmp_path / "private"))
        open_words = replace(SHORT, group="own")
        record(recorder(api, tmp_path / "open", open_words), open_words)
    written = "".join(path.read_text("utf-8") for path in (tmp_path / "private").rglob("*.json"))
    assert '"by": "a stand-in"' in written
    texts = [turn.text for session in SHORT.sessions for turn in session]
    assert not any(text[place : place + 8] in written for text in texts for place in range(len(text) - 7))
    assert replayed(tmp_path / "private")[1] == replayed(tmp_path / "open")[1]
