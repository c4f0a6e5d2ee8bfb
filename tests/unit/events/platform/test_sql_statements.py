"""Named statements: what a file may hold, and that code and files name the same statements."""

import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from events.platform.database import statement, statements
from events.store.log import EVENT_COLUMNS
from tests.support.deployed import ROOT
from tests.support.tables import examples

PACKAGES = ("events", "ingest", "projectors", "retrieval", "deploy")
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path.read_text("utf-8")
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
}
ROOMS = sorted(
    ".".join(path.parent.relative_to(ROOT).parts)
    for package in PACKAGES
    for path in (ROOT / package).rglob("queries.sql")
)
_NUMBER = count()


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty package with a name of its own, because statements are cached by package."""
    folder = tmp_path / f"room_{next(_NUMBER)}"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_a_statement_ends_where_the_next_name_begins(room: Path) -> None:
    (room / "queries.sql").write_text(
        "-- name: one\n-- Why.\nSELECT 1;\n\n-- name: two\nSELECT '-- name: x';\n"
    )
    (room / "tables.sql").write_text("-- name: tables\nCREATE TABLE t ();\n")
    assert {name: statement(room.name, name).as_string(None).strip() for name in statements(room.name)} == {
        "one": "SELECT 1;",
        "two": "SELECT '-- name: x';",
        "tables": "CREATE TABLE t ();",
    }


def test_an_event_stands_for_the_columns_that_make_it(room: Path) -> None:
    (room / "queries.sql").write_text("-- name: one\nSELECT {event told} FROM log.events told;\n")
    *columns, data = (f"told.{name}" for name in EVENT_COLUMNS)
    assert data == "told.data"
    made = statement(room.name, "one").as_string(None).strip()
    assert made.startswith(f"SELECT {','.join(columns)},CASE WHEN substr(told.data::text,2,10)=")
    assert made.endswith(
        "WHERE keyed.user_id=told.user_id)) ELSE told.data::text END AS data FROM log.events told;"
    )


def test_a_statement_reads_the_tables_of_the_search_path_or_the_live_ones(room: Path) -> None:
    (room / "queries.sql").write_text("-- name: one\nSELECT FROM {live}keys;\n")
    assert {name: statement(room.name, name).as_string(None).strip() for name in statements(room.name)} == {
        "one": "SELECT FROM keys;",
        "live_one": f"SELECT FROM {room.name}.keys;",
    }


@examples
def test_a_file_that_leaves_a_name_open_is_refused(room: Path, queries: str, tables: str, named: str) -> None:
    (room / "queries.sql").write_text(queries)
    (room / "tables.sql").write_text(tables)
    with pytest.raises(ValueError, match=named):
        statements(room.name)


def test_an_unknown_name_is_refused_with_the_names_that_exist(room: Path) -> None:
    (room / "queries.sql").write_text("-- name: one\nSELECT 1;\n")
    with pytest.raises(LookupError, match=rf"{room.name} has no statement 'three'.* one"):
        statement(room.name, "three")


@pytest.mark.parametrize("package", ROOMS)
def test_every_statement_of_a_room_can_be_sent(package: str) -> None:
    assert all(statement(package, name).as_string(None).strip() for name in statements(package))


def test_every_statement_that_code_names_exists() -> None:
    named = [call for text in MODULES.values() for call in _literal_calls(text)]
    assert named, "the code names statements"
    assert [(package, name) for package, name in named if name not in statements(package)] == []


def _literal_calls(text: str) -> Iterator[tuple[str, str]]:
    """The calls of ``statement`` with a name in quotes, and a package in quotes or in ``_PACKAGE``."""
    for package, name in re.findall(r"\bstatement\(\s*(_PACKAGE|\"[\w.]+\"),\s*\"(\w+)\"", text):
        found = re.search(r"^_PACKAGE = (\".+\")", text, re.MULTILINE) if package == "_PACKAGE" else None
        yield (found[1] if found else package).strip('"'), name
