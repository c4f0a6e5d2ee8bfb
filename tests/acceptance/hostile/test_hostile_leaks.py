"""Words of users and secrets are in no log line, no metric, no error and no command line."""

import itertools
import json
import os
import secrets
import stat
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import psutil
import pytest

from deploy.instance import READY_FILE
from tests.acceptance.conftest import LOGIN, SECRETS
from tests.support.ingest.messages_api import MessagesApi, status
from tests.support.stack import Running

# Every mark is a word that nothing else holds. Longer texts hold a mark at their beginning, middle and end.
SAID, ASKED, MISUSED = (f"zq{name}{secrets.token_hex(8)}" for name in ("said", "asked", "misused"))
FIELDS = (
    "role", "said_at", "timezone", "context_layer", "session_id", "project_id", "mode", "speaker", "turn_id", "unknown",
)  # fmt: skip
ORDINARY = (
    f"I moved to {SAID} last week.",
    f"My dog is called {SAID}. I work at {SAID}.",
    f"{SAID} means something. I am learning {SAID}.",
    f"我住在{SAID}。",
)
HOSTILE = (
    f"I live in {SAID}{'x' * 20_000}{SAID}.",
    f"My dog is called {''.join(secrets.token_hex(4000))} {SAID}.",
    f"I moved to '{SAID}\"; DROP TABLE log.events; --",
    f"\x1b[31m{SAID}\x00\x01",
    f"\ud800{SAID}",
    f"{SAID}\n" * 3000,
)


@pytest.fixture(scope="module")
def refusals(by_model: Running, _model: MessagesApi) -> list[str]:
    """The bodies of refused requests, after ordinary and hostile traffic on each way in. The model refuses one."""
    running, found = by_model, list[str]()
    refusing = iter([status(400)])
    _model.trouble = lambda request: next(refusing, None) if "DROP TABLE" in request.question else None
    with httpx2.Client(timeout=120, headers=by_model.headers) as web:

        def ask(method: str, url: str, **request: Any) -> httpx2.Response:
            answer = web.request(method, url, **request)
            if answer.status_code >= 400:
                found.append(answer.text + repr(answer.headers.raw))
            return answer

        push, read = f"{running.write_url}/v1/turns", running.read_url
        for number, text in enumerate((*ORDINARY, *HOSTILE)):
            body = json.dumps({"user_id": "ada", "text": text, "turn_id": f"t{number}"}).encode()
            ask("POST", push, content=body, headers={"content-type": "application/json"})
        for field in FIELDS:
            ask("POST", push, json={"user_id": "ada", "text": SAID, field: [MISUSED]})
            ask("POST", push, json={"user_id": "ada", "text": SAID, field: f"\u0000{MISUSED}"})
        ask("POST", push, json={"user_id": "ada", "text": SAID, MISUSED: "x"})
        ask("POST", push, content=f'{{"user_id": "ada", "text": "{SAID}'.encode(),
            headers={"content-type": "application/json"})  # fmt: skip
        ask("POST", push, content=f"user_id=ada&text={SAID}".encode())
        with running.redis as redis:
            for field, number in itertools.product(FIELDS, range(2)):
                redis.xadd("turns", {"user_id": "ada", "text": SAID, field: MISUSED * (1 + 999 * number)})
            redis.xadd("turns", {"user_id": "ada", "text": SAID.encode() + b"\xff\x00"})
            redis.xadd("turns", {"user_id": f"\x00{MISUSED}", "text": SAID})
            redis.xadd("turns", {"text": SAID})
            redis.xadd("turns", {"user_id": "ada", "text": "x", MISUSED: SAID})
        assert running.command("wait", "--timeout", "60").returncode == 0
        assert next(refusing, None) is None
        for path in ("recall", "context"):
            ask(
                "POST",
                f"{read}/v1/{path}",
                json={"user_id": "ada", "query": f"Where is {ASKED}?", "explain": True},
            )
            ask("POST", f"{read}/v1/{path}", json={"user_id": "ada", "query": f"{ASKED} " * 5000})
            ask("POST", f"{read}/v1/{path}", json={"user_id": "ada", "query": f"{ASKED}\u0000"})
            ask("POST", f"{read}/v1/{path}", json={"user_id": "ada", "query": ASKED, "k": 10**9})
            for field in ("as_of", "timezone", "kinds", "wait_for", "context_layer", "unknown"):
                ask("POST", f"{read}/v1/{path}", json={"user_id": "ada", "query": ASKED, field: MISUSED})
        for field in ("tag", "cursor", "as_of", "timezone", "kind", "unknown", "concept_key"):
            ask("GET", f"{read}/v1/cards", params={"user_id": "ada", field: MISUSED * 50})
            ask("GET", f"{read}/v1/audit", params={"user_id": "ada", field: MISUSED})
        ask("GET", f"{read}/v1/cards/{MISUSED}", params={"user_id": "ada"})
        ask("GET", f"{read}/v1/{MISUSED}")
        ask("GET", f"{read}/v1/cards?user_id=ada&tag=%00{MISUSED}")
        ask(
            "GET", f"{read}/v1/cards", params={"user_id": "ada"}, headers={"authorization": f"Bearer {LOGIN}"}
        )
        ask(
            "GET",
            f"{read}/v1/cards",
            params={"user_id": "ada"},
            headers={"cookie": LOGIN, "origin": "http://x"},
        )
        ask("POST", f"{running.write_url}/v1/relations", json={"user_id": "ada", "reason": SAID})
    return found


@pytest.fixture(scope="module")
def kept(by_model: Running) -> dict[str, str]:
    """Every secret of the stack, by its name."""
    running = by_model
    ready = json.loads((running.data / READY_FILE).read_text())
    found = {
        name: urlsplit(ready[name]).password for name in ("database_url", "admin_database_url", "redis_url")
    }
    for name in ("operator", "pusher"):
        found[name] = (running.data / f"redis.{name}.password").read_text().strip()
    found["log key"] = json.loads((running.data / "log.key").read_text())["keys"][0]["secret"]
    return {**SECRETS, "login": LOGIN, **{name: text for name, text in found.items() if text}}


def leaked(text: str, marks: dict[str, str]) -> dict[str, list[str]]:
    """The lines of ``text`` with a mark, by the name of the mark."""
    return {
        name: [line[:400] for line in text.splitlines() if mark in line][:5]
        for name, mark in marks.items()
        if mark in text
    }


WORDS = {"said": SAID, "asked": ASKED, "misused": MISUSED}


def test_no_log_holds_words_or_secrets(
    by_model: Running, refusals: list[str], kept: dict[str, str], tmp_path: Path
) -> None:
    journal = by_model.data.parent / f"{by_model.data.name}.log"
    written = [journal, *by_model.data.glob("*.log"), *by_model.data.glob("*.log.old")]
    assert len(written) >= 3  # the stack's, and one of each embedded server
    for path in written:
        assert leaked(path.read_text(errors="replace"), WORDS | kept) == {}, path


def test_no_metric_and_no_status_holds_words_or_secrets(
    by_model: Running, refusals: list[str], kept: dict[str, str]
) -> None:
    texts = [
        httpx2.get(f"{url}/metrics", timeout=120).text for url in (by_model.write_url, by_model.read_url)
    ]
    texts += [
        httpx2.get(f"{url}/readyz", timeout=120).text for url in (by_model.write_url, by_model.read_url)
    ]
    texts += [
        httpx2.get(f"{url}/openapi.json", timeout=120).text for url in (by_model.write_url, by_model.read_url)
    ]
    for words in (("status", "--json"), ("doctor",), ("settings",), ("audit", "list", "--json")):
        done = by_model.command(*words)
        texts.append(done.stdout + done.stderr)
    for text in texts:
        assert leaked(text, WORDS | kept) == {}


def test_no_error_holds_words_of_a_memory_or_secrets(refusals: list[str], kept: dict[str, str]) -> None:
    assert len(refusals) > 30
    # An error may name the value that its sender just gave a field. It never repeats words and questions.
    for text in refusals:
        assert leaked(text, {"said": SAID, "asked": ASKED} | kept) == {}


def test_no_command_line_holds_secrets_and_only_the_owner_reads_environments(
    by_model: Running, refusals: list[str], kept: dict[str, str]
) -> None:
    stack = psutil.Process(by_model.process.pid)
    looked = 0
    for process in (stack, *stack.children(recursive=True)):
        folder = Path("/proc") / str(process.pid)
        line = (folder / "cmdline").read_bytes() + (folder / "comm").read_bytes()
        assert leaked(line.decode(errors="replace"), WORDS | kept) == {}
        mode = os.stat(folder / "environ").st_mode
        assert stat.S_IMODE(mode) == stat.S_IRUSR, "others could read the environment, which holds passwords"
        looked += 1
    assert looked >= 8
