"""The programs in ``examples/`` run unchanged with a started Cardlog."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.stack import Running, clean_environment
from tests.support.waiting import eventually

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(*command: str | Path, typed: str = "") -> str:
    """Returns the output of a program. ``cardlog`` is on its PATH."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        command,
        input=typed,
        capture_output=True,
        text=True,
        timeout=120,
        env=clean_environment() | {"PATH": path},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_python_pushes_both_ways_and_asks(stack: Running) -> None:
    # A question waits for cards for 5 s at most; a busy machine may need the next question.
    expected = ["Where do I live? Porto (I moved to Porto)", "Where did I live? Lisbon (I live in Lisbon)"]
    program = EXAMPLES / "push_and_recall.py"
    eventually(
        lambda: run(sys.executable, program, stack.data / "ready.json").splitlines() == expected, within=100
    )


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_node_pushes_and_asks(stack: Running) -> None:
    program = EXAMPLES / "push_and_recall.mjs"
    eventually(
        lambda: run("node", program, stack.data / "ready.json") == "我住在哪裡? 台南 (搬到台南)\n", within=100
    )


def test_a_chat_remembers_what_was_typed(stack: Running) -> None:
    # The messages of the first run are cards in the second one, however busy the machine is.
    program, ready = EXAMPLES / "chat.py", stack.data / "ready.json"
    said = run(sys.executable, program, ready, typed="I have a dog called Rex.\n\nI work at Acme.\n")
    assert len(said.splitlines()) == 2
    stack.wait()
    eventually(
        lambda: "Has a dog named Rex" in run(sys.executable, program, ready, typed="What is my dog's name?\n")
    )


def test_an_operator_rebuilds_and_verifies(stack: Running, tmp_path: Path) -> None:
    stack.redis.xadd("turns", {"user_id": "operator", "text": "I live in Bern."})
    stack.wait()
    archive = tmp_path / "archive.jsonl"
    printed = run(EXAMPLES / "rebuild_and_verify.sh", stack.data, archive)
    assert "events verified" in printed
    assert "cards: equal to the live tables" in printed
    exported = archive.read_text("utf-8")
    assert '"type":"TurnRecorded"' in exported
    assert "I live in Bern." not in exported, "the payloads are sealed"


def test_the_readme_names_every_example() -> None:
    readme = (EXAMPLES / "README.md").read_text("utf-8")
    for program in EXAMPLES.iterdir():
        assert program.name == "README.md" or readme.count(f"]({program.name})") == 1, program.name
