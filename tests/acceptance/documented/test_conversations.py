"""What the pages about conversations, reading and the API say."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.support.stack import Running, clean_environment
from tests.support.tables import examples_and
from tests.support.waiting import eventually
from tests.support.web import WEB


def push(stack: Running, body: Any) -> Any:
    return WEB.post(f"{stack.write_url}/v1/turns", json=body, headers=stack.headers)


def cards(stack: Running, user: str, **query: Any) -> list[dict[str, Any]]:
    answer = WEB.get(
        f"{stack.read_url}/v1/cards", params={"user_id": user} | query, headers=stack.headers, timeout=30
    )
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["cards"]
    return found


def test_a_conversation_and_its_metadata_are_kept_and_found(stack: Running) -> None:
    user = f"talk {uuid4()}"
    pushed = push(
        stack,
        {
            "user_id": user, "session_id": "chat-7", "said_at": "2026-03-05T10:00:00+08:00",
            "metadata": {"channel": "web", "n": 1},
            "messages": [
                {"role": "developer", "content": "You are helpful."},
                {"role": "user", "content": "I live in Porto.", "name": "Ana"},
                {
                    "role": "assistant",
                    "content": [{"type": "text", "text": "Nice."}, {"type": "text", "text": "How is it?"}],
                },
                {"content": "I work at Acme.", "metadata": {"channel": "phone", "of": ["work", {"deep": True}]}},
            ],
        },
    )  # fmt: skip
    assert pushed.status_code == 202, pushed.text
    assert len(pushed.json()["turn_ids"]) == 4
    metadata = json.dumps({"channel": "stream", "n": 1.0})
    stack.redis.xadd("turns", {"user_id": user, "text": "My dog is called Rex.", "metadata": metadata})
    # Waiting turns are filtered, too.
    waiting = stack.recall(user, "What is my dog called?", metadata={"channel": "stream"}, k=50)
    assert {json.dumps(card["metadata"], sort_keys=True) for card in waiting["cards"]} <= {metadata}
    stack.wait()
    by_value = {card["value"]: card for card in cards(stack, user, kind="state")}
    assert by_value["Porto"]["metadata"] == {"channel": "web", "n": 1}
    assert (by_value["Porto"]["session_id"], by_value["Porto"]["speaker"]) == ("chat-7", "Ana")
    assert by_value["Acme"]["metadata"] == {"channel": "phone", "of": ["work", {"deep": True}]}
    assert {card["value"] for card in cards(stack, user, kind="state", metadata='{"n": 1}')} >= {"Porto"}
    assert "Acme" not in {card["value"] for card in cards(stack, user, metadata='{"n": 1}')}
    assert {card["metadata"]["channel"] for card in cards(stack, user, metadata='{"n": 1}')} == {
        "web",
        "stream",
    }
    for wanted, found in (
        ({"channel": "web"}, {"web"}), ({"of": [{"deep": True}]}, {"phone"}), ({"of": [{"deep": 1}]}, set()),
        ({"channel": "fax"}, set()), ({}, {"web", "phone", "stream"}),
    ):  # fmt: skip
        for query in (
            "Where do I live, where do I work, and what is my dog called?",
            "What do you know about me?",
        ):
            answer = stack.recall(user, query, metadata=wanted, k=50)
            assert {card["metadata"]["channel"] for card in answer["cards"]} == found, wanted


@examples_and(
    ({"messages": [{"content": "a"}] * 1001}, "(body)", None),
    ({"text": "a", "metadata": {"a": "x" * 5000}}, "metadata", None),
)
def test_a_wrong_conversation_is_refused_with_field_and_message(
    stack: Running, wrong: dict[str, Any], field: str, index: int | None
) -> None:
    answer = push(stack, {"user_id": "talk"} | wrong)
    assert answer.status_code == 422, answer.text
    problem = answer.json()
    assert (problem["field"], problem.get("index")) == (field, index), problem
    assert problem["reason"]


def test_a_role_that_is_none_is_refused_with_all_roles_of_a_message(stack: Running) -> None:
    answer = push(stack, {"user_id": "talk", "messages": [{"content": "a", "role": "tool"}]})
    assert answer.json()["reason"] == "is 'tool'; use one of user, assistant, system, developer"


def test_wrong_metadata_on_the_stream_are_a_dead_letter_and_in_a_question_a_problem(stack: Running) -> None:
    entry = stack.redis.xadd("turns", {"user_id": "talk", "text": "hello", "metadata": "{broken"})

    operator: Any = stack.redis_operator

    def dead() -> list[tuple[str, dict[str, str]]]:
        return [(name, each) for name, each in operator.xrange("turns:dead") if each["entry_id"] == entry]

    [(name, letter)] = eventually(dead)
    operator.xdel("turns:dead", name)
    assert letter["field"] == "metadata"
    assert "is not valid JSON" in letter["reason"]
    for query in ("{", "[]", '{"a": 1e300}'):
        answer = WEB.get(
            f"{stack.read_url}/v1/cards", params={"user_id": "talk", "metadata": query}, headers=stack.headers
        )
        assert (answer.status_code, answer.json()["field"]) == (422, "metadata")


@pytest.mark.parametrize("service", ["read", "write"])
def test_the_root_leads_to_a_page_that_loads_nothing(stack: Running, service: str) -> None:
    url = getattr(stack, f"{service}_url")
    answer = WEB.get(f"{url}/", follow_redirects=True)
    assert (answer.status_code, answer.url.path) == (200, "/docs")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert not re.search(r"<script|<img|<link|@import|src=|url\(", answer.text)
    assert set(re.findall(r"href='?([^'# >][^' >]*)", answer.text)) == {"openapi.json"}
    document = WEB.get(f"{url}/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert f"<code>{method.upper()} {path}</code>" in answer.text
            assert f"id='{operation['operationId']}'" in answer.text
    for name in re.findall(r"href='#schema-(\w+)'", answer.text):
        assert f"id='schema-{name}'" in answer.text


PAGE = Path(__file__).resolve().parents[3] / "docs" / "reading.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page_sets_its_variables_and_its_commands_answer(stack: Running) -> None:
    commands = "".join(BLOCK.findall(PAGE.read_text("utf-8")))
    assert commands.count("curl") > 10
    for address, url in (
        ("http://127.0.0.1:8701", stack.read_url),
        ("http://127.0.0.1:8700", stack.write_url),
    ):
        assert address in commands
        commands = commands.replace(address, url)
    # An answer of an error fails the script.
    commands = commands.replace("curl -s", "curl -sS --fail-with-body -w '\\n'")
    done = subprocess.run(
        ["bash", "-euo", "pipefail"],
        input=commands
        + '\nfor id in "$CARD" "$NEWER" "$ARBITRATION"; do test ${#id} = 36; done; echo finished\n',
        capture_output=True,
        text=True,
        timeout=240,
        cwd=stack.data.parent,
        env=clean_environment()
        | {"PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("finished\n")
    assert '"from_card"' in done.stdout
