"""A user and a person who is spoken of are erased while others talk: no file, table or answer holds their words."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import httpx2
import psycopg

from tests.support.stack import Running
from tests.support.web import WEB

CANARY = "Zyxwortflosse"
PERSON = "Quillwortine"
OTHERS = [f"user {number}" for number in range(20)]


class Load:
    """Others who talk and ask, until it is stopped. ``errors`` are the answers that no other user may get."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.errors: list[str] = []
        self.asked = 0

    def __enter__(self) -> Load:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        with httpx2.Client(timeout=120, headers=self._running.administrator) as client:
            while not self._stop.is_set():
                user = OTHERS[self.asked % len(OTHERS)]
                self.asked += 1
                turn = {"user_id": user, "text": f"My lucky number is {self.asked}."}
                question = {"user_id": user, "query": "Where do I live?"}
                for answer in (
                    client.post(f"{self._running.write_url}/v1/turns", json=turn),
                    client.post(f"{self._running.read_url}/v1/recall", json=question),
                ):
                    if answer.status_code not in (200, 202):
                        self.errors.append(f"{answer.status_code}: {answer.text}")
                    elif "cards" in answer.text and "Lisbon" not in answer.text:
                        self.errors.append(answer.text)


def files_with(folder: Path, *words: str) -> list[str]:
    """Names every file below ``folder`` whose bytes hold one of ``words``, in any case of its first letter."""
    wanted = [form.encode() for word in words for form in (word, word.lower(), word.upper())]
    found = []
    for path in sorted(folder.rglob("*")):
        try:
            content = path.read_bytes() if path.is_file() else b""
        except FileNotFoundError:
            continue
        found += [f"{path.relative_to(folder)}: {word.decode()}" for word in wanted if word in content]
    return found


def named(running: Running, found: str) -> str:
    """Returns the line of a found file, with the table or the index of a file of PostgreSQL."""
    number = found.partition(":")[0].rpartition("/")[2]
    if "/base/" not in found or not number.isdigit():
        return found
    with psycopg.connect(running.admin_database_url) as connection:
        row = connection.execute("SELECT pg_filenode_relation(0, %s)::text", (int(number),)).fetchone()
    return f"{found} ({row and row[0]})"


def test_no_byte_of_the_erased_stays(watched: Running) -> None:
    running, tmp_path = watched, watched.data.parent
    running.push(*({"user_id": user, "text": "I live in Lisbon."} for user in OTHERS))
    everywhere = dict.fromkeys(("speaker", "agent_id", "document_id", "mode"), CANARY)
    running.push(
        {"user_id": "ada", "text": f"I live in {CANARY}. My dog is called {CANARY}.", **everywhere},
        {"user_id": "ada", "text": f"I moved to {CANARY} yesterday.", "role": "assistant"},
        {"user_id": "bea", "text": f"My sister {PERSON} works at Acme.", "turn_id": "spoken"},
        {"user_id": "bea", "text": "I live in Lisbon."},
    )
    running.redis.xadd("turns", {"user_id": "ada", "text": CANARY, "said_at": f"never {CANARY}"})
    running.wait()
    cards = WEB.get(
        f"{running.read_url}/v1/cards",
        headers=running.administrator,
        params={"user_id": "ada", "status": "*"},
    ).json()["cards"]
    verified = WEB.post(
        f"{running.write_url}/v1/cards/{cards[0]['card_id']}/verify",
        json={"user_id": "ada", "note": f"{CANARY}, says {CANARY}"},
        headers=running.administrator,
    )
    assert verified.status_code == 202, verified.text
    running.wait()
    with httpx2.Client(timeout=120, headers=running.administrator) as client, Load(running) as load:
        began = time.monotonic()
        answer = client.delete(f"{running.write_url}/v1/users/ada")
        spent = time.monotonic() - began
        assert answer.status_code == 200, answer.text
        receipt: dict[str, Any] = answer.json()
        person = client.delete(f"{running.write_url}/v1/people/{PERSON.lower()}")
        assert person.status_code == 200, person.text
        assert person.json()["counts"]["turns"] == 1
        assert client.delete(f"{running.write_url}/v1/people/{PERSON}").status_code == 404
        assert client.delete(f"{running.write_url}/v1/users/ada").status_code == 404
        assert running.recall("ada", "Where do I live?")["cards"] == []
        done = running.command("erase", "--scrub", "--json", timeout=300)
        assert done.returncode == 0, done.stderr
        scrubbed = json.loads(done.stdout)
        assert scrubbed["scrubbed"], scrubbed
        asked = load.asked
    print(f"receipt in {spent:.2f} s, scrub {scrubbed['seconds']}, {asked} questions meanwhile")
    assert load.errors == []
    assert receipt["counts"]["turns"] == 2
    assert receipt["counts"]["dead letters"] == 1
    receipt_now = httpx2.get(
        f"{running.write_url}/v1/erasures/{receipt['erasure_id']}", headers=running.administrator
    ).json()
    assert all(receipt_now["steps"].values()), receipt_now
    running.wait()
    assert running.recall("bea", "Where do I live?")["cards"]
    assert running.command("log", "verify").returncode == 0
    file = tmp_path / "receipt.json"
    file.write_text(json.dumps(receipt_now))
    assert running.command("erase", "--verify", str(file)).returncode == 0
    file.write_text(json.dumps(receipt_now | {"users": 2}))
    assert running.command("erase", "--verify", str(file)).returncode == 1
    running.command("log", "export", str(tmp_path / "archive.jsonl"))
    for url in (running.write_url, running.read_url):
        (tmp_path / f"metrics {url[-4:]}").write_text(
            httpx2.get(f"{url}/metrics", headers=running.administrator).text
        )
    found = files_with(tmp_path, CANARY, PERSON)
    assert [named(running, each) for each in found] == []
