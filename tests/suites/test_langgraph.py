"""LangGraph's own tests of a store, over Cardlog."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

pytest.importorskip("langgraph.store.base", reason="langgraph-checkpoint is not installed")

from cardlog_client import Client
from cardlog_client.langgraph_store import KIND, CardlogStore
from tests.suites.foreign import Anything, swapped_tests
from tests.support.stack import Running

pytestmark = pytest.mark.filterwarnings("default")
GUIDE = Path(__file__).parents[2] / "docs" / "assistants.md"
_TTL_MINUTES = 0.1
_OPEN: list[Client] = []


class Opened(CardlogStore):
    """A store of a user of its own, opened in any of the ways in which the tests open theirs."""

    def __init__(self, *_: object, **more: Any) -> None:
        super().__init__(_OPEN[0], f"suite-{uuid4().hex}", ttl=more.get("ttl"))

    @classmethod
    def from_conn_string(cls, *_: object, **more: Any) -> Opened:
        return cls(**more)

    def setup(self) -> None:
        """Does nothing: there is nothing to set up."""

    async def start_ttl_sweeper(self) -> None:
        """Does nothing, for the same reason."""

    def stop_ttl_sweeper(self) -> None:
        """Does nothing: an expired item is absent without a sweep."""

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class OpenedAsync(Opened):
    """The same for ``async with``."""

    async def setup(self) -> None:  # type: ignore[override]
        """Does nothing."""

    async def __aenter__(self) -> OpenedAsync:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def _open(client: Client) -> None:
    _OPEN[:] = [client]


@pytest.fixture
def fake_embeddings() -> SimpleNamespace:
    """Stands for embeddings of the tests. Cardlog has its own."""
    return SimpleNamespace(dims=500)


@pytest.fixture
def conn_string() -> str:
    return ""


@pytest.fixture
def store() -> Opened:
    return Opened(ttl={"default_ttl": _TTL_MINUTES, "refresh_on_read": True})


@pytest.fixture
def vector_store() -> Opened:
    return Opened(ttl={"default_ttl": 2, "refresh_on_read": True})


def test_the_snippet_of_the_guide_works(stack: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARDLOG_KEY_FILE", stack.key_file)
    section = GUIDE.read_text("utf-8").partition("## LangGraph and LangChain")[2]
    snippet = section.partition("```python\n")[2].partition("```")[0]
    names: dict[str, Any] = {}
    exec(snippet.replace("Client()", f"Client({stack.write_url!r}, {stack.read_url!r})"), names)
    assert names["best"].value == {"text": "The ferry leaves at seven."}
    names["memory"].close()


def test_an_item_has_a_history_and_a_deleted_one_comes_back(client: Client, user: str) -> None:
    store = CardlogStore(client, lambda namespace: f"{user}-{namespace[0]}")
    for text in ("one", "two"):
        store.put(("ada", "notes"), "n", {"text": text})
    store.put(("bo",), "n", {"text": "of another user"})
    assert client.reference(f"{user}-ada", KIND, "ada.notes:n", version=1)["data"] == {
        "value": {"text": "one"}
    }
    store.delete(("ada", "notes"), "n")
    assert store.search(("ada",)) == []
    client.restore_reference(f"{user}-ada", KIND, "ada.notes:n", version=1)
    [item] = store.search(("ada",))
    assert (item.namespace, item.key, item.value) == (("ada", "notes"), "n", {"text": "one"})


def test_odd_and_long_names_are_names_of_their_own(client: Client, user: str) -> None:
    store = CardlogStore(client, user)
    names = [
        (("a:b", "c/d"), "k"),
        (("a", "b"), "c:d"),
        (("%3A",), "%2F"),
        (("日記",), "k" * 300),
        (("日記",), "k" * 301),
    ]
    for place, (namespace, key) in enumerate(names):
        store.put(namespace, key, {"place": place})
    assert [item.value["place"] for namespace, key in names if (item := store.get(namespace, key))] == [
        0,
        1,
        2,
        3,
        4,
    ]
    assert store.list_namespaces() == sorted({namespace for namespace, _ in names})


def test_an_expired_item_is_absent_and_a_sweep_archives_it(client: Client, user: str) -> None:
    store = CardlogStore(client, user)
    store.put(("a",), "gone", {}, ttl=0)
    store.put(("a",), "there", {}, ttl=10)
    assert (store.get(("a",), "gone"), [item.key for item in store.search(("a",))]) == (None, ["there"])
    assert (store.sweep_ttl(), store.sweep_ttl()) == (1, 0)
    assert [each["key"] for each in client.references(user)["references"]] == ["a:there"]


_MODULES = {
    name: Anything(name)
    for name in (
        "langgraph.checkpoint.postgres",
        "langgraph.store.postgres",
        "langgraph.store.postgres.base",
        "langgraph.store.sqlite",
        "langgraph.store.sqlite.base",
        "tests.conftest",
        "tests.embed_test_utils",
        "tests.test_store",
        "psycopg",
    )
}
_MODULES["tests.conftest"].__dict__["VECTOR_TYPES"] = ["vector"]
for _file, _class in (
    ("checkpoint/test_store.py", Opened),
    ("checkpoint-sqlite/test_store.py", Opened),
    ("checkpoint-sqlite/test_async_store.py", OpenedAsync),
    ("checkpoint-postgres/test_store.py", Opened),
    ("checkpoint-postgres/test_async_store.py", OpenedAsync),
):
    _swapped = dict.fromkeys(
        (
            "InMemoryStore",
            "SqliteStore",
            "AsyncSqliteStore",
            "PostgresStore",
            "create_vector_store",
            "_create_vector_store",
        ),
        _class,
    )
    globals().update(swapped_tests(f"langgraph/{_file}", _MODULES, _swapped))
