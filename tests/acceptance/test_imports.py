"""``cardlog import``: exported chats become turns, once, and a report tells what was left out."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from tests.support.stack import Running


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
