"""The programs in ``examples/`` run unchanged with a started Cardlog."""

import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest
from starlette.testclient import TestClient

from cardlog_client import Client
from tests.support.ingest.chat_completions import ChatCompletions
from tests.support.ingest.messages_api import MessagesApi, says
from tests.support.stack import Running, clean_environment
from tests.support.waiting import eventually

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(*command: str | Path, typed: str = "", **more: str) -> str:
    """Returns the output of a program. ``cardlog`` is on its PATH, and ``more`` is in its environment."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        command,
        input=typed,
        capture_output=True,
        text=True,
        timeout=240,
        env=clean_environment() | {"PATH": path} | more,
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


@pytest.mark.parametrize(
    ("program", "server", "settings"),
    [
        ("chat_anthropic.py", MessagesApi, {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "{url}"}),
        ("chat_openai.py", ChatCompletions, {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "{url}/v1"}),
    ],
)
def test_a_chat_with_a_model_remembers(
    stack: Running, program: str, server: type[MessagesApi], settings: dict[str, str]
) -> None:
    if program == "chat_openai.py":
        pytest.importorskip("openai", reason="openai is not installed")
    with server() as api:
        api.usage = lambda *_: {"input_tokens": 1, "output_tokens": 1}  # type: ignore[method-assign]
        api.next.extend([says("Noted."), says("In Porto.")])
        settings = {name: value.format(url=api.url) for name, value in settings.items()}
        said = run(
            sys.executable,
            EXAMPLES / program,
            stack.data / "ready.json",
            typed="I live in Porto.\nWhere do I live?\n",
            **settings,
        )
        asked = [json.dumps(each.body, ensure_ascii=False) for each in api.requests]
    assert said.splitlines() == ["Noted.", "In Porto."]
    assert "I live in Porto" in asked[1]


def test_a_graph_finds_its_notes(stack: Running) -> None:
    pytest.importorskip("langgraph.graph", reason="langgraph is not installed")
    said = run(sys.executable, EXAMPLES / "langgraph_agent.py", stack.data / "ready.json")
    assert said == "The ferry to Bergen leaves at seven.\n"


def test_a_client_of_mcp_lists_tools_and_recalls(stack: Running) -> None:
    tools, found = run(sys.executable, EXAMPLES / "mcp_client.py", stack.data / "ready.json").split("\n", 1)
    assert {"remember", "recall"} <= set(tools.split())
    assert "cello" in found


def test_a_web_app_pushes_and_asks(stack: Running) -> None:
    app = runpy.run_path(str(EXAMPLES / "web_app.py"))["app_of"]
    user = f"web-{uuid4().hex}"
    with (
        Client(stack.write_url, stack.read_url, api_key=stack.key) as memory,
        TestClient(app(memory)) as browser,
    ):
        for _ in range(2):
            kept = browser.post(
                "/messages", json={"user": user, "text": "I moved to Porto.", "message_id": "m1"}
            )
            assert (kept.status_code, kept.json()) == (202, {"kept": ["m1"]})
        found = browser.get("/about", params={"user": user, "question": "where do I live?"}).json()["found"]
    assert any("Porto" in each for each in found)


def test_the_cells_of_the_notebook_run(stack: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARDLOG_READY", str(stack.data / "ready.json"))
    names: dict[str, object] = {}
    for cell in json.loads((EXAMPLES / "first_look.ipynb").read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert not cell["outputs"], "a notebook is kept without its outputs"
            exec("".join(cell["source"]), names)
    assert (names["now"], names["then"]) == ("Porto", "Lisbon")
    assert names["words"] == "I moved to Porto"


def test_the_readme_names_every_example() -> None:
    readme = (EXAMPLES / "README.md").read_text("utf-8")
    for program in EXAMPLES.iterdir():
        assert program.name == "README.md" or readme.count(f"]({program.name})") == 1, program.name
