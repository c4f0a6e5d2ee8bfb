"""``cardlog core`` patches, shows, compares and rolls back a document, and answers a patch that waits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deploy.command import main
from events.platform.settings import variable_of
from projectors.core.projector import CoreProjector
from tests.support.projectors.folding import fold_live


@pytest.fixture(autouse=True)
def server(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable_of("database_url"), database)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main(["core", *arguments, "--user", "ada"])
    captured = capsys.readouterr()
    return status, captured.out + captured.err


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    status, text = run(capsys, *arguments, "--json")
    assert status == 0, text
    return json.loads(text)


def patch(*ops: dict[str, Any]) -> str:
    return json.dumps(ops)


def test_a_topic_becomes_a_category_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    notes = [{"op": "add", "path": f"/uncategorized/sleep_note_{each}", "value": "bad"} for each in (1, 2, 3)]
    assert run(capsys, "candidates") == (1, "cardlog core: ada has no document\n")
    told(capsys, "patch", patch(notes[0]))
    assert run(capsys, "candidates") == (0, "no topic recurs\n")
    told(capsys, "patch", patch(*notes[1:]))
    [found] = told(capsys, "candidates")
    assert (found["candidate"], found["occurrences"]) == ("sleep", 3)
    status, text = run(capsys, "candidates")
    assert (status, "sleep  as sleep  score" in text, "note_1 moved to /sleep/note1" in text) == (
        0,
        True,
        True,
    )
    assert "would move to /sleep/note1" in run(capsys, "promote", "sleep", "--dry-run")[1]
    promoted = told(
        capsys, "promote", "sleep", "--name", "sleepHealth", "--why", "often",
        "--member", "/uncategorized/sleep_note_1=aids",
    )  # fmt: skip
    assert (promoted["version"], promoted["moved"]["/uncategorized/sleep_note_1"]) == (3, "/sleepHealth/aids")
    assert run(capsys, "show", "/uncategorized/sleep_note_1") == (0, "bad\n")
    assert told(capsys, "revert", "sleepHealth")["version"] == 4
    assert told(capsys, "show", "/uncategorized")[0]["value"] == {
        "sleep_note_1": "bad", "sleep_note_2": "bad", "sleep_note_3": "bad",
    }  # fmt: skip
    for arguments in (("promote", "tea"), ("promote", "sleep", "--member", "x"), ("revert", "sleepHealth")):
        status, text = run(capsys, *arguments)
        assert (status, text.startswith("cardlog core: "), "Traceback" in text) == (1, True, False), text


def test_a_document_and_its_queue_from_the_command_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Any
) -> None:
    assert run(capsys, "show") == (1, "cardlog core: ada has no document\n")
    first = told(capsys, "patch", patch({"op": "add", "path": "/profile/residence", "value": "里斯本"}))
    assert first["version"] == 1
    file = tmp_path / "patch.json"
    file.write_text(patch({"op": "add", "path": "/profile/age", "value": 36}), "utf-8")
    assert told(capsys, "patch", str(file), "--why", "she said so", "--expect", "1")["version"] == 2
    assert run(capsys, "show", "/profile/residence") == (0, "里斯本\n")
    assert told(capsys, "show", "/profile/age", "--version", "1")[0]["found"] is False
    assert run(capsys, "diff", "1") == (0, "/profile/age: 36 added\n")
    refused = patch(
        {"op": "test", "path": "/profile/age", "value": 40},
        {"op": "replace", "path": "/profile/age", "value": 41},
    )
    status, text = run(capsys, "patch", refused)
    assert (status, "the value is another one; it waits as" in text) == (1, True)
    [entry] = told(capsys, "queue", "list")
    assert (entry["expected"], entry["actual"], entry["path"]) == (40, 36, "/profile/age")
    assert "(expected 40, found 36)" in run(capsys, "queue", "list")[1]
    assert told(capsys, "queue", "approve", entry["queue_id"], "--reason", "asked her")["version"] == 3
    assert run(capsys, "queue", "list") == (0, "no patch waits\n")
    status, text = run(capsys, "queue", "refuse", entry["queue_id"])
    assert (status, "approved already" in text) == (1, True)
    assert run(capsys, "rollback", first["event_id"], "--dry-run") == (0, "remove /profile/residence\n")
    assert told(capsys, "rollback", first["event_id"])["version"] == 4
    assert [each["kind"] for each in told(capsys, "history")] == ["rollback", "approval", "patch", "patch"]
    told(capsys, "cherry-pick", first["event_id"])
    assert run(capsys, "show", "/profile/residence") == (0, "里斯本\n")
    for arguments in (("patch", "{"), ("patch", "[1]"), ("show", "x"), ("diff", "99"), ("rollback",)):
        status, text = run(capsys, *arguments)
        assert (status != 0, "Traceback" in text) == (True, False), text


def test_a_review_records_each_candidate_once(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    notes = [{"op": "add", "path": f"/uncategorized/sleep_note_{each}", "value": "bad"} for each in (1, 2, 3)]
    told(capsys, "patch", patch(*notes))
    for recorded in (1, 0):
        fold_live(database, CoreProjector())
        assert main(["core", "review", "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == {"events": recorded}
    [proposed] = told(capsys, "candidates")
    assert proposed["proposed_at"]
