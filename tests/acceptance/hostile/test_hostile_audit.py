"""A superuser who changes the audit log is found, and operators' own reads are in it."""

import json

import psycopg
import pytest

from events.access import audit
from events.platform.settings import variable_of
from tests.support.events.guarded_log import Log
from tests.support.tables import examples

RECHAIN = """
DO $$
DECLARE it audit.entries; before bytea := sha256('');
BEGIN
    FOR it IN SELECT * FROM audit.entries ORDER BY position LOOP
        before := sha256(before || sha256(audit.canonical(it)));
        UPDATE audit.entries SET digest = before WHERE position = it.position;
    END LOOP;
    UPDATE audit.head SET digest = before, position = (SELECT max(position) FROM audit.entries);
END $$
"""


def ask(guarded: Log, *operations: str) -> None:
    entries = [
        audit.Entry(service="read", operation=name, outcome="denied", users=("ada",)) for name in operations
    ]
    assert audit.record(guarded.service, entries) == len(entries)


def as_superuser(guarded: Log, *changes: str, rechained: bool = False) -> None:
    guarded.owner.execute("ALTER TABLE audit.entries DISABLE TRIGGER entries_append_only")
    for change in (*changes, *([RECHAIN] if rechained else [])):
        guarded.owner.execute(change.encode())
    guarded.owner.execute("ALTER TABLE audit.entries ENABLE TRIGGER entries_append_only")


@examples
def test_a_changed_audit_log_is_found(guarded: Log, change: str, fault: str) -> None:
    ask(guarded, *"abcde")
    assert guarded.verify() == []
    as_superuser(guarded, change)
    [found] = guarded.verify()
    assert found.startswith(f"audit log, position {fault}")
    status, text = guarded.run("audit", "verify", "--json")
    assert (status, json.loads(text)["faults"]) == (1, [found])


@examples
def test_an_audit_log_rewritten_with_its_digests_differs_from_its_anchors(
    guarded: Log, change: str, fault: str
) -> None:
    ask(guarded, "a", "b")
    first = guarded.anchor("first.json")
    ask(guarded, "c", "d")
    second = guarded.anchor("second.json")
    ask(guarded, "e")
    anchors = ("--anchor", first, "--anchor", second)
    assert guarded.verify(*anchors) == []
    as_superuser(guarded, change, rechained=True)
    assert guarded.verify() == guarded.verify("--anchor", first) == []
    [found] = guarded.verify(*anchors)
    assert found.startswith(f"audit log, position {fault}{second}")
    status, text = guarded.run("audit", "verify", *anchors)
    assert (status, text.strip()) == (1, found)


def test_the_role_of_services_cannot_change_the_audit_log(guarded: Log) -> None:
    ask(guarded, "a")
    for change in (
        "UPDATE audit.entries SET outcome = 'allowed'",
        "DELETE FROM audit.entries",
        "INSERT INTO audit.entries SELECT * FROM audit.entries",
        "UPDATE audit.head SET position = 0",
        "ALTER TABLE audit.entries DISABLE TRIGGER ALL",
        "UPDATE audit.subject_key SET key = key",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            guarded.service.execute(change.encode())


def test_a_guard_of_the_audit_log_that_was_replaced_is_named(guarded: Log) -> None:
    guarded.owner.execute("ALTER TABLE audit.entries DISABLE TRIGGER entries_append_only")
    assert guarded.verify() == [
        "audit: trigger entries_append_only on entries: is not as the migrations made it"
    ]


def test_operators_own_reads_are_recorded(guarded: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    assert guarded.run("log", "show", "--user", "alex")[0] == 0
    assert guarded.run("dead", "list")[0] == 0
    assert guarded.run("dead", "show", "0-0")[0] == 1
    assert guarded.run("log", "export", "-")[0] == 0
    monkeypatch.setenv(variable_of("audit"), "strict")
    assert guarded.run("log", "show", "--limit", "1")[0] == 0
    status, text = guarded.run("audit", "list", "--json")
    assert status == 0
    found = [json.loads(line) for line in text.splitlines()][::-1]
    assert [(each["operation"], each["outcome"]) for each in found] == [
        ("log-show", "allowed"), ("dead-list", "allowed"), ("dead-show", "failed"), ("log-export", "allowed"),
        ("log-show", "begun"), ("log-show", "allowed"),
    ]  # fmt: skip
    assert {(each["service"], each["key_id"].split()[0]) for each in found} == {("command", "account")}
    of_alex = guarded.run("audit", "list", "--user", "alex")[1].splitlines()
    assert len(of_alex) == 1
    assert "log-show" in of_alex[0]
    exported = guarded.run("audit", "export", "-")[1].splitlines()
    assert [json.loads(line)["position"] for line in exported] == list(range(1, 8))


def test_strict_refuses_a_command_that_cannot_be_recorded(
    guarded: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    guarded.owner.execute("ALTER TABLE audit.entries RENAME TO elsewhere")
    assert guarded.run("log", "show")[0] == 0
    monkeypatch.setenv(variable_of("audit"), "strict")
    assert guarded.run("log", "show") == (1, "")
