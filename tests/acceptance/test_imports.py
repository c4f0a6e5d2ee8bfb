"""``cardlog import``: exported chats become turns, once, and a report tells what was left out."""

import json
import zipfile
from html import escape
from pathlib import Path
from typing import Any

import yaml
from markdown_it import MarkdownIt
from portable_ai_memory import load, validate

from ingest.migration.portable import content_hash
from tests.support.stack import Running
from tests.support.web import WEB


def test_an_export_counts_once_and_its_facts_are_cards(stack: Running, tmp_path: Path) -> None:
    said = [("m1", "human", "I live in Rome."), ("m2", "assistant", "Nice."), ("m3", "human", "")]
    messages = [
        {"uuid": name, "sender": sender, "created_at": f"2024-05-03T10:00:0{n}Z", "text": text}
        for n, (name, sender, text) in enumerate(said)
    ]
    talk = {"uuid": "k1", "name": "Rome", "chat_messages": messages}
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as packed:
        packed.writestr("conversations.json", json.dumps([talk]))
    whole = tmp_path / "conversations.json"
    whole.write_text(json.dumps([talk])[:-1], "utf-8")
    report = stack.told("import", str(tmp_path / "export.zip"), "--user", "ilse", "--timezone", "Europe/Rome")
    assert (report["turns"], report["known_before"]) == (2, 0)
    assert report["left_out"] == {
        "a message without words": {"count": 1, "broken": False, "places": ["conversations.json#1/3"]}
    }
    stack.wait()
    digest = stack.command("digest").stdout
    [card, *_] = stack.recall("ilse", "Where do I live?")["cards"]
    assert (card["value"], card["effective_at"][:19]) == ("Rome", "2024-05-03T10:00:00")
    again = stack.told("import", str(whole), "--user", "ilse", status=1)
    assert (again["turns"], again["known_before"]) == (0, 2)
    stack.wait()
    assert stack.command("digest").stdout == digest
    refused = stack.command("import", str(whole), "--user", "ilse", "--timezone", "Rome")
    assert refused.stderr.startswith("cardlog import: --timezone is 'Rome'; did you mean Europe/Rome?")


CHAT = """[13.05.26, 16:40:00] Nora: I live in Porto. You live in Rome.
[13.05.26, 16:41:00] Nora: Please add rye flour to my baking list.
[13.05.26, 16:44:10] Ada: I live in Lisbon.
"""


def test_what_a_contact_says_is_no_statement_of_the_user(stack: Running, tmp_path: Path) -> None:
    file = tmp_path / "_chat.txt"
    file.write_text(CHAT, "utf-8")
    mine = ("--user", "adele")
    made = stack.command("ref", "create", "todo_list", "baking", *mine, "--json")
    assert made.returncode == 0, made.stderr
    words = ("chat", str(file), *mine, "--me", "ada", "--timezone", "Europe/Lisbon")
    assert stack.told("import", *words)["turns"] == 3
    stack.wait()
    cards = WEB.get(f"{stack.read_url}/v1/cards", params={"user_id": "adele", "kind": "state"}).json()[
        "cards"
    ]
    assert {(card["entity"], card["value"]) for card in cards} == {("nora", "Porto"), ("user", "Lisbon")}
    [baking] = stack.told("ref", "list", *mine)
    assert baking["version"] == 1
    assert stack.told("import", *words)["known_before"] == 3
    [session] = stack.told("sessions", "list", *mine)
    turns = stack.told("sessions", "show", session["session_id"], *mine)
    assert [(each["contact"], each["direction"], each["speaker"], each["said_at"]) for each in turns[1:]] == [
        ("Nora", "incoming", "Nora", "2026-05-13T16:41:00+01:00"),
        ("Nora", "outgoing", None, "2026-05-13T16:44:10+01:00"),
    ]
    refused = stack.command("import", "chat", str(file), *mine)
    assert refused.stderr.endswith("nobody in the chat is the user; give --me with one of 'Nora', 'Ada'\n")
    turn = {"user_id": "adele", "text": "Hi", "direction": "incoming"}
    answer = WEB.post(f"{stack.write_url}/v1/turns", json=turn)
    assert (answer.status_code, answer.json()["field"]) == (422, "contact")


def pam(*memories: dict[str, Any]) -> dict[str, Any]:
    usual = {
        "type": "fact", "status": "active", "tags": ["home"],
        "temporal": {"created_at": "2024-05-03T10:00:00Z"}, "provenance": {"platform": "otherbot"},
    }  # fmt: skip
    several = [
        usual | {"id": f"m{n}", "content_hash": content_hash(each["content"])} | each
        for n, each in enumerate(memories)
    ]
    return {
        "schema": "portable-ai-memory",
        "schema_version": "1.0",
        "owner": {"id": "x"},
        "memories": several,
    }


def test_a_round_trip_over_pam_keeps_the_memories_and_its_validator_passes(
    stack: Running, tmp_path: Path
) -> None:
    given = pam(
        {"content": "User lives in Porto.", "type": "identity", "confidence": {"initial": 0.9, "current": 1.0}},
        {"content": "User likes green tea.", "type": "preference", "summary": "tea", "metadata": {"domain": "food"},
         "temporal": {"created_at": "2024-05-03T10:00:00Z", "valid_from": "2023-01-01T00:00:00Z"}},
        {"content": "User was in Oslo.", "status": "superseded", "type": "custom", "custom_type": "trip",
         "temporal": {"created_at": "2022-05-03T10:00:00Z", "superseded_by": "m0"}},
        {"content": "User is a dentist.", "status": "retracted"},
        {"content": "User is a pilot.", "content_hash": "sha256:" + "0" * 64},
    )  # fmt: skip
    source, written = tmp_path / "given.json", tmp_path / "written.json"
    source.write_text(json.dumps(given), "utf-8")
    report = stack.told("import", "pam", str(source), "--user", "petra", status=1)
    assert (report["turns"], sorted(report["left_out"])) == (
        3, ["a memory that was taken back", "a memory whose content_hash is another"],
    )  # fmt: skip
    stack.wait()
    assert any(
        card["value"] == "Porto" for card in stack.recall("petra", "Where does the user live?")["cards"]
    )
    assert stack.told("import", "pam", str(source), "--user", "petra", status=1)["known_before"] == 3
    for text in ("My dog is called Rex.", "I have a dentist appointment on 17 March."):
        stack.redis.xadd("turns", {"user_id": "petra", "text": text, "said_at": "2024-02-02T10:00:00Z"})
    stack.wait()
    done = stack.command("export", "pam", str(written), "--user", "petra")
    assert done.returncode == 0, done.stderr
    result = validate(load(written))
    assert (result.is_valid, result.warnings) == (True, [])
    found = {each["id"]: each for each in json.loads(written.read_text("utf-8"))["memories"]}
    assert [found.pop(each["id"]) for each in given["memories"][:3]] == given["memories"][:3]
    assert [each["metadata"]["value"] for each in found.values() if each["type"] == "fact"] == ["Rex"]
    assert {each["temporal"]["created_at"] for each in found.values()} == {"2024-02-02T10:00:00Z"}
    stack.told("import", "pam", str(written), "--user", "petronella")
    stack.wait()
    [plan] = [
        card for card in stack.recall("petronella", "When is the dentist?")["cards"]
        if "dentist" in card["content"] and card["occurred_at"]
    ]  # fmt: skip
    assert plan["occurred_at"][:10] == "2024-03-17"


def test_words_have_no_meaning_in_the_index_of_a_folder_of_markdown(stack: Running, tmp_path: Path) -> None:
    given, written = tmp_path / "given", tmp_path / "written"
    given.mkdir()
    said = r"Go ![a](http://a.test) <script>alert(1)</script> **now** \](http://b.test) &lt;"
    (given / "hostile.md").write_text(f"---\ntype: Place\n---\n{said}\n", "utf-8")
    stack.told("import", "okf", str(given), "--user", "mallory")
    stack.wait()
    assert stack.command("export", "okf", str(written), "--user", "mallory").returncode == 0
    _, _, body = (written / "index.md").read_text("utf-8").split("---\n")
    [file] = [each for each in written.iterdir() if each.name != "index.md"]
    link = f'<a href="{file.name}">{escape(said[:80], quote=False)}</a>'
    assert MarkdownIt().render(body) == f"<h1>Memory</h1>\n<ul>\n<li>{link}</li>\n</ul>\n"


def test_a_round_trip_over_markdown_keeps_what_is_true_now(stack: Running, tmp_path: Path) -> None:
    given, written = tmp_path / "given", tmp_path / "written"
    given.mkdir()
    (given / "index.md").write_text("# Mine\n", "utf-8")
    (given / "home.md").write_text(
        "---\ntype: Place\ntitle: Home\ndate: 2024-05-03\n---\nUser lives in Ghent.\n", "utf-8"
    )
    (given / "bad.md").write_text("---\ntype: [\n---\nUser lives in Oslo.\n", "utf-8")
    report = stack.told("import", "okf", str(given), "--user", "otto", status=1)
    assert (report["turns"], list(report["left_out"])) == (1, ["a file that cannot be read"])
    stack.wait()
    assert stack.command("export", "okf", str(written), "--user", "otto").stdout == "wrote 1 file\n"
    [file] = [each for each in written.iterdir() if each.name != "index.md"]
    assert file.name in (written / "index.md").read_text("utf-8")
    _, head, body = file.read_text("utf-8").split("---\n")
    front = {"type": "Place", "id": "home", "tags": [], "timestamp": "2024-05-03T00:00:00Z", "title": "Home"}
    assert (yaml.safe_load(head), body) == (front, "\nUser lives in Ghent.\n")
    assert stack.told("import", "okf", str(written), "--user", "otto")["known_before"] == 1
