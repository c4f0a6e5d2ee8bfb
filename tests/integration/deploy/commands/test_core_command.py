"""``cardlog core`` patches, shows, compares and rolls back a document, and answers a patch that waits."""

import json
import sys
from io import StringIO
from typing import Any

import pytest

from events.platform.settings import variable_of
from projectors.core.projector import CoreProjector
from tests.support.projectors.folding import fold_live
from tests.support.verbs import Verb


@pytest.fixture(autouse=True)
def server(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable_of("database_url"), database)


@pytest.fixture
def core(capsys: pytest.CaptureFixture[str]) -> Verb:
    return Verb(capsys, "core", "--user", "ada")


def patch(*ops: dict[str, Any]) -> str:
    return json.dumps(ops)


def test_a_topic_becomes_a_category_from_the_command_line(core: Verb) -> None:
    notes = [{"op": "add", "path": f"/uncategorized/sleep_note_{each}", "value": "bad"} for each in (1, 2, 3)]
    assert core("candidates") == (1, "cardlog core: ada has no document\n")
    core.told("patch", patch(notes[0]))
    assert core("candidates") == (0, "no topic recurs\n")
    core.told("patch", patch(*notes[1:]))
    [found] = core.told("candidates")
    assert (found["candidate"], found["occurrences"]) == ("sleep", 3)
    status, text = core("candidates")
    assert (status, "sleep  as sleep  score" in text, "note_1 moved to /sleep/note1" in text) == (
        0,
        True,
        True,
    )
    assert "would move to /sleep/note1" in core("promote", "sleep", "--dry-run")[1]
    promoted = core.told("promote", "sleep", "--name", "sleepHealth", "--why", "often",
        "--member", "/uncategorized/sleep_note_1=aids",
    )  # fmt: skip
    assert (promoted["version"], promoted["moved"]["/uncategorized/sleep_note_1"]) == (3, "/sleepHealth/aids")
    assert core("show", "/uncategorized/sleep_note_1") == (0, "bad\n")
    assert core.told("revert", "sleepHealth")["version"] == 4
    assert core.told("show", "/uncategorized")[0]["value"] == {
        "sleep_note_1": "bad", "sleep_note_2": "bad", "sleep_note_3": "bad",
    }  # fmt: skip
    for arguments in (("promote", "tea"), ("promote", "sleep", "--member", "x"), ("revert", "sleepHealth")):
        status, text = core(*arguments)
        assert (status, text.startswith("cardlog core: "), "Traceback" in text) == (1, True, False), text


def test_a_document_and_its_queue_from_the_command_line(
    core: Verb, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert core("show") == (1, "cardlog core: ada has no document\n")
    first = core.told("patch", patch({"op": "add", "path": "/profile/residence", "value": "里斯本"}))
    assert first["version"] == 1
    file = tmp_path / "patch.json"
    file.write_text(patch({"op": "add", "path": "/profile/age", "value": 36}), "utf-8")
    assert core.told("patch", str(file), "--why", "she said so", "--expect", "1")["version"] == 2
    assert core("show", "/profile/residence") == (0, "里斯本\n")
    assert core("show", "--version", "9") == (2, "cardlog core: --version 9 never was; use 0 to 2\n")
    assert core.told("show", "/profile/age", "--version", "1")[0]["found"] is False
    assert core("diff", "1") == (0, "/profile/age: 36 added\n")
    refused = patch(
        {"op": "test", "path": "/profile/age", "value": 40},
        {"op": "replace", "path": "/profile/age", "value": 41},
    )
    status, text = core("patch", refused)
    assert (status, "the value is another one; it waits as" in text) == (1, True)
    [entry] = core.told("queue", "list")
    assert (entry["expected"], entry["actual"], entry["path"]) == (40, 36, "/profile/age")
    assert "(expected 40, found 36)" in core("queue", "list")[1]
    monkeypatch.setattr(sys, "stdin", StringIO(patch({"op": "add", "path": "/profile/age", "value": 40})))
    assert core.told("queue", "approve", entry["queue_id"], "--patch", "-")["version"] == 3
    assert core("queue", "list") == (0, "no patch waits\n")
    status, text = core("queue", "refuse", entry["queue_id"])
    assert (status, "approved already" in text) == (1, True)
    assert core("rollback", first["event_id"], "--dry-run") == (0, "remove /profile/residence\n")
    assert core.told("rollback", first["event_id"])["version"] == 4
    assert [each["kind"] for each in core.told("history")] == ["rollback", "approval", "patch", "patch"]
    core.told("cherry-pick", first["event_id"])
    assert core("show", "/profile/residence") == (0, "里斯本\n")
    monkeypatch.setattr(sys, "stdin", StringIO(patch({"op": "remove", "path": "/profile/age"})))
    assert core.told("patch", "-")["version"] == 6
    for arguments in (("patch", "{"), ("patch", "[1]"), ("show", "x"), ("diff", "99"), ("rollback",)):
        status, text = core(*arguments)
        assert (status != 0, "Traceback" in text) == (True, False), text


def test_a_review_records_each_candidate_once(
    database: str, core: Verb, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = [{"op": "add", "path": f"/uncategorized/sleep_note_{each}", "value": "bad"} for each in (1, 2, 3)]
    core.told("patch", patch(*notes))
    for recorded in (1, 0):
        fold_live(database, CoreProjector())
        assert Verb(capsys, "core").told("review") == {"events": recorded}
    [proposed] = core.told("candidates")
    assert proposed["proposed_at"]
