"""The role of the services can append to the log, and leads no operator astray."""

from pathlib import Path

import psycopg
import pytest
from psycopg import sql

import deploy.commands
from deploy.security.roles import LOG_OWNER
from events.platform.settings import Settings, variable_of
from events.store.anchors import heads_of
from projectors.generations.generations import ensure_live
from projectors.registry import projectors
from tests.support.events.guarded_log import EVENTS, PARTITION, Log
from tests.support.tables import rows, texts

FORBIDDEN = [each.format(owner=LOG_OWNER) for each in texts(__file__, "forbidden.txt")]


def test_the_role_of_the_services_can_do_nothing_to_the_log_but_append(guarded: Log) -> None:
    whole = "SELECT array_agg(e::text ORDER BY partition, position) FROM log.events e"
    before = guarded.owner.execute(whole).fetchone()
    for statement in FORBIDDEN:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            guarded.service.execute(statement.encode())
        assert guarded.owner.execute(whole).fetchone() == before, statement
    assert guarded.verify() == []


def test_what_the_role_puts_before_the_functions_it_calls_is_not_called(guarded: Log) -> None:
    """log.append runs with the owner's rights, so no function of the caller may run inside."""
    # Somebody gave the role a schema. Without USAGE the owner ignores its functions.
    guarded.owner.execute("CREATE SCHEMA mine; GRANT ALL ON SCHEMA mine TO PUBLIC")
    guarded.service.execute(
        "CREATE FUNCTION mine.sha256(bytea) RETURNS bytea LANGUAGE plpgsql AS "
        "'BEGIN DELETE FROM log.events; RETURN $1; END'"
    )
    guarded.service.execute(
        "CREATE FUNCTION mine.statement_timestamp() RETURNS timestamptz LANGUAGE plpgsql AS "
        "'BEGIN DELETE FROM log.events; RETURN now(); END'"
    )
    guarded.service.execute("CREATE TEMP TABLE heads (partition int, position int)")
    guarded.service.execute("SET search_path = mine, pg_temp, pg_catalog, log")
    guarded.append("one more")
    assert guarded.verify() == []
    assert heads_of(guarded.owner)[PARTITION][0] == EVENTS + 1


def test_doctor_warns_of_a_role_that_could_change_the_log_and_only_of_that(
    guarded: Log, monkeypatch: pytest.MonkeyPatch, database: str
) -> None:
    assert "ok    log: the role can only append" in guarded.run("doctor")[1]
    monkeypatch.setenv(variable_of("database_url"), database)
    assert (
        "warn  log: the role of CARDLOG_DATABASE_URL could change the log (it is a superuser)"
        in (guarded.run("doctor")[1])
    )


@pytest.mark.parametrize("grant", ["UPDATE ON log.heads", "DELETE ON log.events", "CREATE ON SCHEMA log"])
def test_doctor_sees_a_right_that_was_given_by_hand_and_grant_takes_it_back(guarded: Log, grant: str) -> None:
    role = guarded.service.info.user
    guarded.owner.execute(f"GRANT {grant} TO ".encode() + sql.Identifier(role).as_bytes())
    assert "may write to log.events or log.heads" in guarded.run("doctor")[1]
    assert guarded.run("grant", "--role", role)[0] == 0
    assert "may write" not in guarded.run("doctor")[1]


TRAP = (
    "CREATE FUNCTION {}.trap() RETURNS boolean LANGUAGE plpgsql AS "
    "'BEGIN PERFORM nextval(''public.sprung'') FROM pg_roles WHERE rolname = current_user AND rolsuper; "
    "RETURN true; END'"
)
SWAPS = texts(__file__, "swaps.txt")

VERBS = dict(rows(__file__, "verbs_of_operators.txt"))
ONLY_MIGRATES = {"work"}


def objects(owner: psycopg.Connection) -> list[tuple[str, str, str]]:
    """Every table and view of the database but the server's own: (schema, name, kind)."""
    rows = owner.execute(
        """SELECT n.nspname, c.relname, CASE c.relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END
           FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
           WHERE c.relkind IN ('r', 'p', 'v') AND n.nspname !~ '^pg_|^information_schema$'
           ORDER BY 1, 2"""
    ).fetchall()
    assert {schema for schema, _, _ in rows} >= {
        "log",
        "vector_cache",
        *(p.name for p in projectors(Settings())),
    }
    return rows


@pytest.fixture
def trapped(guarded: Log) -> Log:
    """A log with all its tables, and a sequence that the trap moves when it has an operator's rights."""
    for projector in projectors(Settings()):
        ensure_live(guarded.owner, projector)
    assert guarded.run("grant", "--role", guarded.service.info.user)[0] == 0
    guarded.owner.execute("CREATE SEQUENCE public.sprung")
    return guarded


def set_traps(service: psycopg.Connection, found: list[tuple[str, str, str]]) -> list[str]:
    """Tries every swap of every object as the role of the services. Returns those that the server allowed."""
    allowed, home = [], "pg_temp"
    for schema in ("mine", "public"):
        try:
            if schema == "mine":
                service.execute("CREATE SCHEMA mine; GRANT USAGE ON SCHEMA mine TO PUBLIC")
            service.execute(TRAP.format(schema).encode())
        except psycopg.errors.InsufficientPrivilege:
            continue
        home = schema
        allowed.append(f"a function in {schema}")
    if home == "pg_temp":
        service.execute(TRAP.format(home).encode())
    for schema, name, kind in found:
        names = {
            "schema": sql.Identifier(schema),
            "it": sql.Identifier(schema, name),
            "name": sql.Identifier(f"away {name}"),
            "away": sql.Identifier(schema, f"away {name}"),
            "kind": sql.SQL(kind),
            "trap": sql.SQL(f"{home}.trap()"),
            "function": sql.SQL(f"{home}.trap()"),
        }
        for swap in SWAPS:
            try:
                service.execute(sql.SQL(swap).format(**names))
            except psycopg.Error:
                continue
            allowed.append(f"{schema}.{name}: {swap}")
            break
    return allowed


def sprung(owner: psycopg.Connection) -> bool:
    """True when the trap had an operator's rights once. A rollback does not move a sequence back."""
    return owner.execute("SELECT is_called FROM public.sprung").fetchone() == (True,)


def test_no_verb_of_an_operator_meets_an_object_that_the_services_swapped(
    trapped: Log, tmp_path: Path
) -> None:
    modules = {
        path.stem for path in Path(deploy.commands.__path__[0]).rglob("*.py") if "connect_owner" in path.read_text()
        or "admin_database_url" in path.read_text()
    }  # fmt: skip
    assert modules == VERBS.keys() | ONLY_MIGRATES
    files = {"archive": str(tmp_path / "log.jsonl"), "kek": str(tmp_path / "kek.key")}
    assert (
        trapped.run("log", "export", files["archive"])[0]
        == trapped.run("log", "kek", "new", files["kek"])[0]
        == 0
    )
    allowed = set_traps(trapped.service, objects(trapped.owner))
    for verb in map(str.split, VERBS.values()):
        words = [word.format(**files, role=trapped.service.info.user) for word in verb]
        status, text = trapped.run(*words)
        assert not sprung(trapped.owner), words
        assert status == 0, (words, text)
    assert allowed == []


def test_what_an_earlier_version_let_the_services_put_there_is_refused_and_then_removed(trapped: Log) -> None:
    role = sql.Identifier(trapped.service.info.user)
    for schema in ("vectors", "cards"):
        trapped.owner.execute(sql.SQL("ALTER SCHEMA {} OWNER TO {}").format(sql.Identifier(schema), role))
    for schema, name, kind in objects(trapped.owner):
        if schema in {"vectors", "cards"}:
            given = sql.SQL("ALTER {} {} OWNER TO {}").format(
                sql.SQL(kind), sql.Identifier(schema, name), role
            )
            trapped.owner.execute(given)
    service = trapped.service
    for change in (
        TRAP.format("vectors"),
        "ALTER TABLE vectors.spaces RENAME TO away",
        "CREATE VIEW vectors.spaces AS SELECT away.* FROM (SELECT vectors.trap() AS sprung OFFSET 0) trap "
        "LEFT JOIN vectors.away ON true WHERE sprung",
        "CREATE OR REPLACE VIEW cards.retractable_statements AS SELECT own.user_id, own.event_id AS card_id, "
        "own.partition, own.position, own.event_id FROM cards.statements own WHERE vectors.trap()",
        "CREATE RULE trap AS ON DELETE TO vectors.away DO ALSO SELECT vectors.trap()",
    ):
        service.execute(change.encode())
    for verb in (("reembed", "--dry-run"), ("rebuild", "cards"), ("keys", "list")):
        assert trapped.run(*verb)[0] == 1
    assert trapped.run("grant", "--role", service.info.user)[0] == 1, "its function is still there"
    trapped.owner.execute("DROP FUNCTION vectors.trap() CASCADE; ALTER TABLE vectors.away RENAME TO spaces")
    assert trapped.run("grant", "--role", service.info.user)[0] == 0
    assert trapped.run("reembed", "--dry-run")[0] == trapped.run("rebuild", "cards")[0] == 0
    assert not sprung(trapped.owner)
    views = trapped.owner.execute("SELECT viewname FROM pg_views WHERE schemaname = 'cards'").fetchall()
    assert len(views) == 6
    assert set_traps(service, objects(trapped.owner)) == []
