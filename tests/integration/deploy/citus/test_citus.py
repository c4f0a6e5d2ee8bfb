"""The distribution script distributes every table by user, or declares it local with a reason."""

import re
from pathlib import Path

import pytest

import deploy
from events.platform.database import Connection
from events.platform.settings import Settings
from projectors.generations.generations import ensure_live
from projectors.registry import projectors

SCRIPT = (Path(deploy.__file__).parent / "citus" / "citus.sql").read_text()
DISTRIBUTED = dict(re.findall(r"^SELECT create_distributed_table\('([\w.]+)', '(\w+)'", SCRIPT, re.MULTILINE))
LOCAL = {
    name: (column, reason)
    for name, column, reason in re.findall(r"^-- local ([\w.]+)(?: \((\w+)\))?: (.+)$", SCRIPT, re.MULTILINE)
}

_TABLES = """
    SELECT n.nspname || '.' || c.relname
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname IN ('log', 'cards', 'vectors', 'references', 'problems', 'people', 'core')
      AND c.relkind = 'r'
"""
_KEYS = """
    SELECT n.nspname || '.' || c.relname, i.indexrelid::regclass::text,
           ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = ANY (i.indkey))
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname IN ('log', 'cards', 'vectors', 'references', 'problems', 'people', 'core')
      AND i.indisunique
"""
_REFERENCES = """
    SELECT n.nspname || '.' || c.relname, m.nspname || '.' || d.relname
    FROM pg_constraint f
    JOIN pg_class c ON c.oid = f.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_class d ON d.oid = f.confrelid JOIN pg_namespace m ON m.oid = d.relnamespace
    WHERE f.contype = 'f' AND n.nspname IN ('log', 'cards', 'vectors', 'references', 'problems', 'people', 'core')
"""
_COLUMN = """
    SELECT a.attnotnull FROM pg_attribute a WHERE a.attrelid = %s::regclass AND a.attname = %s
"""


@pytest.fixture
def catalog(connection: Connection) -> Connection:
    """A database with every table."""
    for projector in projectors(Settings()):
        ensure_live(connection, projector)
    return connection


def faults(catalog: Connection) -> list[str]:
    """Returns the reasons why the tables cannot be distributed as the script says."""
    found = []
    tables = {row[0] for row in catalog.execute(_TABLES)}
    found += [f"{name} is not in the script" for name in tables - DISTRIBUTED.keys() - LOCAL.keys()]
    found += [f"{name} is not there" for name in (DISTRIBUTED.keys() | LOCAL.keys()) - tables]
    for name, index, columns in catalog.execute(_KEYS).fetchall():
        column = DISTRIBUTED.get(name) or LOCAL.get(name, ("", ""))[0]
        if column and column not in columns:
            found.append(f"{index} of {name} does not hold {column}")
    for name, column in DISTRIBUTED.items():
        if name in tables and catalog.execute(_COLUMN, (name, column)).fetchone() != (True,):
            found.append(f"{name}.{column} may be null, or is not there")
    for name, other in catalog.execute(_REFERENCES).fetchall():
        if DISTRIBUTED.get(name) != DISTRIBUTED.get(other):
            found.append(f"{name} refers to {other}, which is elsewhere")
    return found


def test_every_table_is_distributed_by_user_or_declared_to_stay(catalog: Connection) -> None:
    assert faults(catalog) == []
    assert set(DISTRIBUTED.values()) == {"user_id"}
    assert all(
        name.startswith(("cards.", "vectors.", "references.", "problems.", "people.", "core."))
        for name in DISTRIBUTED
    )
    assert all(
        (name.startswith("log.") or name in ("vectors.spaces", "vectors.blocked_slots")) and reason
        for name, (_, reason) in LOCAL.items()
    )
    # A table of users that stays local can be cut along the partitions, which are a function of the user.
    of_users = {
        row[0]
        for row in catalog.execute(_TABLES).fetchall()
        if catalog.execute(_COLUMN, (row[0], "user_id")).fetchone()
    }
    assert {name for name in of_users if not (DISTRIBUTED.get(name) or LOCAL[name][0])} == set()
