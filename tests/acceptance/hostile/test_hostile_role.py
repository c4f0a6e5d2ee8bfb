"""The role of the services can append to the log and do nothing else to it."""

import psycopg
import pytest
from psycopg import sql

from deploy.security.roles import LOG_OWNER
from events.platform.settings import variable_of
from events.store.anchors import heads_of
from tests.support.events.guarded_log import EVENTS, PARTITION, Log
from tests.support.tables import texts

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
