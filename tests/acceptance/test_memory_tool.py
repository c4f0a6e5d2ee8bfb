"""Anthropic's memory tool over a whole Cardlog gives what the SDK's own tool gives over a folder."""

import asyncio
import os
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import pytest
from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cardlog_client import AsyncClient, Client, RefusedError
from cardlog_client.memory_tool import KIND, AsyncCardlogMemoryTool, CardlogMemoryTool
from tests.support.ingest.messages_api import MessagesApi, Trouble, says
from tests.support.stack import Running
from tests.support.tables import examples_and

GUIDE = Path(__file__).parents[2] / "docs" / "assistants.md"


@pytest.fixture(scope="module")
def client(stack: Running) -> Iterator[Client]:
    with Client(stack.write_url, stack.read_url, api_key=stack.key) as opened:
        yield opened


@pytest.fixture
def user() -> str:
    return f"files-{uuid4().hex}"


@pytest.fixture
def tool(client: Client, user: str) -> CardlogMemoryTool:
    return CardlogMemoryTool(client, user)


def told(tool: Any, command: dict[str, Any]) -> str:
    """The answer, or the words of the refusal. What the folder itself refuses has words of its own."""
    try:
        return str(tool.call(command))
    except ToolError as error:
        return f"refused: {error}"
    except OSError:
        return "refused"


def without_sizes_of_directories(answer: str) -> str:
    return re.sub(r"(?m)^\S+\t(/memories(?:.*/)?)$|(?<=items:\n)\S+\t", r"\1", answer)


def prune(folder: Path) -> None:
    """Removes the empty directories. In Cardlog a directory exists while a file is in it."""
    for place, _, _ in os.walk(folder, topdown=False):
        if place != str(folder) and not os.listdir(place):
            os.rmdir(place)


PATHS = (
    "/memories", "/memories/", "/memories/a", "/memories/b.md", "/memories/a/b", "/memories/a/b/c/d", "/memories/.x",
    "/memories/a/.y", "/memories/日記/五月", "/memories/50% off", "/memories/b.md/", "/memories/a/../b.md",
    "/memories/./a//b", "/memories/..", "/memories/../memories2/x", "/elsewhere", "/memories/a/b/c", "/memories/%2F",
)  # fmt: skip
TEXTS = ("", "\n", "one", "one\ntwo\n", "aaa", "x\r\ny\r\n", "茶\n咖啡\n茶", "k" * 1500, "one\n\n", "two")


def commands() -> st.SearchStrategy[dict[str, Any]]:
    paths, texts, lines = st.sampled_from(PATHS), st.sampled_from(TEXTS), st.integers(-2, 4)
    of = st.fixed_dictionaries
    create = of({"command": st.just("create"), "path": paths, "file_text": texts})
    return st.one_of(
        create,
        create,
        of(
            {"command": st.just("view"), "path": paths},
            optional={"view_range": st.lists(lines, min_size=2, max_size=2)},
        ),
        of({"command": st.just("str_replace"), "path": paths, "old_str": texts, "new_str": texts}),
        of({"command": st.just("insert"), "path": paths, "insert_line": lines, "insert_text": texts}),
        of({"command": st.just("delete"), "path": paths}),
        of({"command": st.just("rename"), "old_path": paths, "new_path": paths}),
    )


@settings(max_examples=12)  # each asks the services dozens of times
@example([{"command": "create", "path": "/memories/a/.y", "file_text": ""}])
@given(st.lists(commands(), min_size=25, max_size=40))
def test_random_commands_give_what_they_give_in_a_folder(client: Client, asked: list[dict[str, Any]]) -> None:
    everything = {"command": "view", "path": "/memories"}
    tool = CardlogMemoryTool(client, f"files-{uuid4().hex}")
    with TemporaryDirectory() as place:
        folder = BetaLocalFilesystemMemoryTool(place)
        for each in (*asked, everything):
            wanted, found = told(folder, each), told(tool, each)
            prune(folder.memory_root)
            if wanted == "refused":
                assert found.startswith("refused: "), each
            else:
                assert without_sizes_of_directories(found) == without_sizes_of_directories(wanted), each


@examples_and(
    ("/memories/" + "long" * 60, "is too long; use 200 bytes at most"),
)
def test_a_path_that_cannot_be_is_refused_and_nothing_is_written(
    client: Client, user: str, tool: CardlogMemoryTool, path: str, words: str
) -> None:
    tool.call({"command": "create", "path": "/memories/there", "file_text": "kept"})
    moved = {"command": "rename", "old_path": "/memories/there", "new_path": "/memories/new"}
    for asked in ({"command": "create", "path": path, "file_text": "x"}, moved | {"new_path": path}):
        refusal = told(tool, asked)
        assert refusal.startswith("refused: ")
        assert words in refusal
    assert told(tool, moved | {"old_path": path}).startswith("refused: ")
    assert [each["key"] for each in client.references(user)["references"]] == ["there"]


def test_a_file_that_is_too_long_is_refused_in_words_about_a_file(tool: CardlogMemoryTool) -> None:
    refusal = told(tool, {"command": "create", "path": "/memories/long", "file_text": "x" * 70_000})
    assert refusal.endswith("are allowed: shorten, archive or remove a part of it")


def test_the_twin_does_the_same(stack: Running, user: str, tool: CardlogMemoryTool) -> None:
    asked: list[dict[str, Any]] = [
        {"command": "create", "path": "/memories/a/b", "file_text": "one\n"},
        {"command": "insert", "path": "/memories/a/b", "insert_line": 1, "insert_text": "two"},
        {"command": "str_replace", "path": "/memories/a/b", "old_str": "one", "new_str": "1"},
        {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/c"},
        {"command": "view", "path": "/memories"},
        {"command": "view", "path": "/memories/c/b"},
        {"command": "delete", "path": "/memories/a"},
        {"command": "delete", "path": "/memories/c"},
    ]

    async def answers() -> list[str]:
        async with AsyncClient(stack.write_url, stack.read_url, api_key=stack.key) as opened:
            twin = AsyncCardlogMemoryTool(opened, f"{user}-twin")
            found = []
            for each in asked:
                try:
                    found.append(str(await twin.call(each)))
                except ToolError as error:
                    found.append(f"refused: {error}")
            return [*found, str(await twin.clear_all_memory())]

    assert asyncio.run(answers()) == [*(told(tool, each) for each in asked), tool.clear_all_memory()]


def test_a_file_has_a_history_and_a_deleted_one_comes_back(
    client: Client, user: str, tool: CardlogMemoryTool
) -> None:
    tool.call({"command": "create", "path": "/memories/n", "file_text": "one"})
    tool.call({"command": "str_replace", "path": "/memories/n", "old_str": "one", "new_str": "two"})
    tool.call({"command": "delete", "path": "/memories/n"})
    assert told(tool, {"command": "view", "path": "/memories/n"}).startswith(
        "refused: The path /memories/n does"
    )
    client.restore_reference(user, KIND, "n", version=1)
    assert told(tool, {"command": "view", "path": "/memories/n"}).endswith("\tone")
    tool.call({"command": "delete", "path": "/memories/n"})
    tool.call({"command": "create", "path": "/memories/n", "file_text": "three"})
    assert client.reference(user, KIND, "n")["data"] == "three"
    assert client.reference(user, KIND, "n", version=2)["data"] == "two"


def test_files_of_a_project_and_of_another_user_are_others(client: Client, user: str) -> None:
    mine, theirs = CardlogMemoryTool(client, user), CardlogMemoryTool(client, f"{user}-other")
    of_project = CardlogMemoryTool(client, user, project_id="shop")
    for tool in (mine, theirs, of_project):
        tool.call({"command": "create", "path": "/memories/n", "file_text": "x"})
    mine.clear_all_memory()
    view = {"command": "view", "path": "/memories/n"}
    assert [told(tool, view).startswith("refused") for tool in (mine, theirs, of_project)] == [
        True,
        False,
        False,
    ]


def test_a_change_that_comes_between_is_kept(client: Client, user: str, tool: CardlogMemoryTool) -> None:
    tool.call({"command": "create", "path": "/memories/n", "file_text": "one two"})

    class Interrupted:
        """The client, with another writer just before the first change."""

        def __init__(self) -> None:
            self.interrupted = False

        def __getattr__(self, name: str) -> Any:
            if name == "change_reference" and not self.interrupted:
                self.interrupted = True
                client.change_reference(user, KIND, "n", "set", path="", value="one two three")
            return getattr(client, name)

    late = CardlogMemoryTool(Interrupted(), user)  # type: ignore[arg-type]
    late.call({"command": "str_replace", "path": "/memories/n", "old_str": "one", "new_str": "1"})
    assert client.reference(user, KIND, "n")["data"] == "1 two three"


def test_an_erased_user_has_no_files(
    stack: Running, client: Client, user: str, tool: CardlogMemoryTool
) -> None:
    tool.call({"command": "create", "path": "/memories/n", "file_text": "secret"})
    key = stack.administrator["Authorization"].removeprefix("Bearer ")
    with Client(stack.write_url, stack.read_url, api_key=key, timeout=60) as administrator:
        administrator.erase_user(user)
    with pytest.raises(RefusedError):
        client.reference(user, KIND, "n")


def test_an_error_of_the_service_reaches_the_model(tool: CardlogMemoryTool) -> None:
    refusal = told(tool, {"command": "create", "path": "/memories/n", "file_text": "x" * 20_000})
    assert "at most 16384 are allowed" in refusal


def test_the_snippet_of_the_guide_works(stack: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARDLOG_KEY_FILE", stack.key_file)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-test")
    section = GUIDE.read_text("utf-8").partition("## Anthropic's memory tool")[2]
    [snippet] = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    snippet = snippet.replace("http://127.0.0.1:8700", stack.write_url)
    snippet = snippet.replace("http://127.0.0.1:8701", stack.read_url)
    wish = {"command": "create", "path": "/memories/music.md", "file_text": "Likes fado."}
    call = {"type": "tool_use", "id": "toolu_1", "name": "memory", "input": wish}
    with MessagesApi() as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        api.next.extend([Trouble(content=(call,)), says("I wrote it down.")])
        api.usage = lambda *_: {"input_tokens": 1, "output_tokens": 1}  # type: ignore[method-assign]
        exec(compile(snippet, str(GUIDE), "exec"), {})
        first, second = api.requests
    assert first.body["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    assert "File created successfully at: /memories/music.md" in str(second.body["messages"])
