"""The memory of another system is migrated into a running Cardlog, over HTTP and with the command."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.support.stack import Running
from tests.support.web import WEB

FLAT = (
    "User has type 2 diabetes, diagnosed in 2018. Takes Metformin. Likes Greek yogurt but dislikes kale. "
    "Tries to walk daily."
)


@pytest.fixture
def user() -> str:
    return f"migrated {uuid4()}"


def migrate(stack: Running, user: str, **body: Any) -> dict[str, Any]:
    """Migrates until nothing is pending. ``taken`` of the answer counts the sentences of all requests."""
    headers = stack.administrator | body.pop("headers", {})
    taken = 0
    for _ in range(5):
        answer = WEB.post(
            f"{stack.write_url}/v1/memory/{user}/migrate",
            headers=headers,
            json={"wait_s": 30} | body,
            timeout=240,
        )
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        taken += found["taken"]
        found["taken"] = taken
        if body.get("wait_s") == 0 or not found["pending"] or found["dry_run"]:
            return found
    raise AssertionError(f"still pending: {found}")


def read(stack: Running, user: str, what: str = "", **query: Any) -> Any:
    answer = WEB.get(f"{stack.read_url}/v1/memory/{user}{what}", headers=stack.administrator, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def values(report: dict[str, Any], part: str) -> set[str]:
    return {
        f"{op['path']}={json.dumps(op['value'])}"
        for each in report[part]
        for op in each["patch"]
        if op["op"] == "add" and op["value"] not in ([], {})
    }


def test_flat_text_becomes_a_document_a_queue_and_episodes(stack: Running, user: str) -> None:
    planned = migrate(stack, user, text=FLAT, dry_run=True)
    assert WEB.get(f"{stack.read_url}/v1/memory/{user}", headers=stack.administrator).status_code == 404
    done = migrate(stack, user, text=FLAT)
    assert (done["sentences"], done["taken"], done["format"]) == (4, 4, "notes")
    assert values(done, "applied") == values(planned, "applied") == {
        '/healthProfile/conditions/-={"name": "type 2 diabetes", "since": "2018"}',
         '/healthProfile/medications/-={"name": "Metformin"}',
        '/preferences/likes/-="Greek yogurt"', '/preferences/dislikes/-="kale"',
    }  # fmt: skip
    walking = {'/dynamicCategories/exerciseRoutine/data/walking="daily"'}
    assert values(done, "queued") == values(planned, "queued") == walking
    assert {each["rationale"] for each in (*done["applied"], *done["queued"])} == {"migrated from notes"}
    document = read(stack, user)["document"]
    assert document["healthProfile"]["medications"] == [{"name": "Metformin"}]
    assert "exerciseRoutine" not in document["dynamicCategories"]
    [waiting] = read(stack, user, "/queue")["entries"]
    assert (waiting["kind"], waiting["fault"], waiting["confidence"]) == ("proposal", "confidence", 0.6)
    assert [each["text"] for each in done["kept"]] == [f"{each}." for each in FLAT.rstrip(".").split(". ")]
    stack.wait()  # the answer came before the sentences were cards
    [episode] = read(stack, user, "/episodes", paths="/healthProfile/medications", k=1)["episodes"]
    assert episode["content"] == "Takes Metformin."
    assert "/healthProfile/medications" in episode["related_paths"]
    approved = WEB.post(
        f"{stack.write_url}/v1/memory/{user}/queue/{waiting['queue_id']}/approve",
        headers=stack.administrator,
        json={"reason": "asked her"},
    )
    assert approved.status_code == 200, approved.text
    categories = read(stack, user)["document"]["dynamicCategories"]
    assert categories["exerciseRoutine"]["data"] == {"walking": "daily"}


def test_words_of_another_memory_do_not_replace_what_the_user_said(stack: Running, user: str) -> None:
    turn = {"user_id": user, "text": "I live in Lisbon.", "said_at": "2026-03-01T10:00:00Z"}
    stack.push(turn)
    stack.wait()
    done = migrate(stack, user, text="The user moved to Rome.")
    assert read(stack, user, paths="/profile/residence")["snippets"][0]["value"] == "Lisbon"
    assert [(each["kind"], each["path"]) for each in done["queued"]] == [
        ("contradiction", "/profile/residence")
    ]


def test_messages_of_an_old_conversation_are_the_users_own_words(stack: Running, user: str) -> None:
    done = migrate(
        stack,
        user,
        messages=[
            {"content": "I moved to Porto.", "said_at": "2024-05-03"},
            {"role": "assistant", "content": "How do you like Porto?"},
        ],
        source="old chat",
    )
    assert values(done, "applied") == {'/profile/residence="Porto"'}
    [card] = WEB.get(
        f"{stack.read_url}/v1/cards",
        headers=stack.administrator,
        params={"user_id": user, "kind": "state", "wait_for": done["token"]},
    ).json()["cards"]
    assert card["effective_at"].startswith("2024-05-03")


def test_the_command_migrates_an_export_and_continues(stack: Running, user: str, tmp_path: Path) -> None:
    export = tmp_path / "memories.json"
    memories = [
        {"id": "1", "memory": "Name is Alice", "user_id": "a", "updated_at": "2024-05-03T10:00:00-07:00"},
        {"id": "2", "memory": "Loves sci-fi movies", "user_id": "a", "created_at": None, "updated_at": None},
    ]  # fmt: skip
    export.write_text(json.dumps({"results": memories[:1], "relations": []}))
    tried = stack.command("core", "migrate", str(export), "--user", user, "--dry-run")
    assert (tried.returncode, "1 would be taken" in tried.stdout) == (0, True), tried.stdout + tried.stderr
    done = stack.command("core", "migrate", str(export), "--user", user, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["taken"] == 1
    export.write_text(json.dumps({"results": memories, "relations": [{"source": "a"}]}))
    again = stack.command("core", "migrate", str(export), "--user", user)
    assert (again.returncode, again.stdout.splitlines()[0]) == (
        0,
        "2 sentences (mem0): 1 taken, 2 kept as episodes, 2 changes applied, 0 waiting for an approval",
    ), again.stderr
    assert "relations of the graph are left out" in again.stderr
    assert read(stack, user)["document"]["profile"]["name"] == "Alice"


def test_a_sentence_of_two_parts_counts_once_and_a_repeat_notes_nothing(
    stack: Running, user: str, tmp_path: Path
) -> None:
    export = tmp_path / "memories.json"
    long = [{"memory": f"{word} " * 4_000} for word in ("blue", "green")]
    export.write_text(json.dumps([{"memory": "Likes tea"}, *long, {"memory": "Likes  tea"}]))
    for taken in (3, 0):
        done = stack.command("core", "migrate", str(export), "--user", user)
        counted = done.stdout.startswith(f"3 sentences (mem0): {taken} taken, 3 kept")
        assert (done.returncode, counted) == (0, True), done.stdout + done.stderr
        notes = stack.command("log", "show", "--user", user, "--type", "MemoryMigrated", "--json")
        assert len(notes.stdout.splitlines()) == 2, "one of each part"
