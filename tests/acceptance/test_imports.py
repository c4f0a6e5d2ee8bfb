"""``cardlog import``: exported chats become turns, once, and a report tells what was left out."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from tests.support.stack import Running
from tests.support.web import WEB


def taken(stack: Running, *words: str, status: int = 0) -> Any:
    done = stack.command("import", *words, "--json")
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


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
    report = taken(stack, str(tmp_path / "export.zip"), "--user", "ilse", "--timezone", "Europe/Rome")
    assert (report["turns"], report["known_before"]) == (2, 0)
    assert report["left_out"] == {
        "a message without words": {"count": 1, "broken": False, "places": ["conversations.json#1/3"]}
    }
    stack.wait()
    digest = stack.command("digest").stdout
    [card, *_] = stack.recall("ilse", "Where do I live?")["cards"]
    assert (card["value"], card["effective_at"][:19]) == ("Rome", "2024-05-03T10:00:00")
    again = taken(stack, str(whole), "--user", "ilse", status=1)
    assert (again["turns"], again["known_before"]) == (0, 2)
    stack.wait()
    assert stack.command("digest").stdout == digest
    refused = stack.command("import", str(whole), "--user", "ilse", "--timezone", "Rome")
    assert refused.stderr.startswith("cardlog import: --timezone is 'Rome'; use an IANA name")


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
    assert taken(stack, *words)["turns"] == 3
    stack.wait()
    cards = WEB.get(f"{stack.read_url}/v1/cards", params={"user_id": "adele", "kind": "state"}).json()[
        "cards"
    ]
    assert {(card["entity"], card["value"]) for card in cards} == {("nora", "Porto"), ("user", "Lisbon")}
    [baking] = json.loads(stack.command("ref", "list", *mine, "--json").stdout)
    assert baking["version"] == 1
    assert taken(stack, *words)["known_before"] == 3
    [session] = json.loads(stack.command("sessions", "list", *mine, "--json").stdout)
    turns = json.loads(stack.command("sessions", "show", session["session_id"], *mine, "--json").stdout)
    assert [(each["contact"], each["direction"], each["speaker"], each["said_at"]) for each in turns[1:]] == [
        ("Nora", "incoming", "Nora", "2026-05-13T16:41:00+01:00"),
        ("Nora", "outgoing", None, "2026-05-13T16:44:10+01:00"),
    ]
    refused = stack.command("import", "chat", str(file), *mine)
    assert refused.stderr.endswith("nobody in the chat is the user; give --me with one of 'Nora', 'Ada'\n")
    turn = {"user_id": "adele", "text": "Hi", "direction": "incoming"}
    answer = WEB.post(f"{stack.write_url}/v1/turns", json=turn)
    assert (answer.status_code, answer.json()["field"]) == (422, "contact")
