"""A change of the log by a superuser is found."""

import json
import os
import stat
from pathlib import Path

import psycopg
import pytest

from deploy.command import main
from events.platform.database import Connection, connect
from events.platform.settings import variable_of
from events.store import authentication
from events.types.envelope import partition_of
from tests.support.events.guarded_log import EVENTS, PARTITION, USER, Log
from tests.support.stack import Running
from tests.support.tables import examples

# --- what is forged, rewritten or cut

FORGED = (
    "SELECT log.append(json_build_array(json_build_object('partition', e.partition, 'event_id', gen_random_uuid(), "
    "'user_id', e.user_id, 'stream', e.stream, 'type', e.type, 'schema_version', e.schema_version, "
    "'occurred_at', e.occurred_at, 'actor', e.actor, 'data', e.data{}))) "
    "FROM log.events e WHERE partition = %s AND position = 5"
)


@examples
def test_an_event_appended_without_the_key_is_named(guarded: Log, more: str, why: str) -> None:
    guarded.service.execute(FORGED.format(more).encode(), (PARTITION,))
    guarded.append("later")
    assert guarded.verify() == [f"partition {PARTITION}, position {EVENTS + 1}: {why}"]


def test_a_genuine_event_appended_again_is_named(guarded: Log) -> None:
    again = FORGED.format(", 'mac', e.mac").replace("gen_random_uuid()", "e.event_id")
    guarded.service.execute(again.encode(), (PARTITION,))
    assert guarded.verify() == [
        f"partition {PARTITION}, position {EVENTS + 1}: is an earlier event appended again"
    ]


def rechain(owner: Connection) -> None:
    """Recomputes every digest of the partition and the head, so that the changed events form a whole chain."""
    rows = owner.execute(
        "SELECT e.position, log.canonical(e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, "
        "e.schema_version, e.dedupe_key, e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id, "
        "e.data) FROM log.events e WHERE partition = %s ORDER BY position",
        (PARTITION,),
    ).fetchall()
    row = owner.execute("SELECT sha256('')").fetchone()
    assert row is not None
    digest, position = row[0], 0
    for position, content in rows:
        row = owner.execute("SELECT log.chain_step(%s, %s, NULL)", (digest, content)).fetchone()
        assert row is not None
        digest = row[0]
        owner.execute(
            "UPDATE log.events SET digest = %s WHERE partition = %s AND position = %s",
            (digest, PARTITION, position),
        )
    owner.execute(
        "UPDATE log.heads SET position = %s, digest = %s WHERE partition = %s", (position, digest, PARTITION)
    )


def at_night(guarded: Log, statement: str) -> None:
    """Changes events as a superuser who knows the digests, and leaves a chain without a break."""
    guarded.owner.execute("SET session_replication_role = replica")
    guarded.owner.execute(statement.encode(), {"p": PARTITION})
    rechain(guarded.owner)
    guarded.owner.execute("RESET session_replication_role")


REWRITE = (
    "UPDATE log.events SET data = replace(data::text, 'turn 7', 'turn 9')::json "
    "WHERE partition = %(p)s AND position = 7"
)
REORDER = "UPDATE log.events SET recorded_at = recorded_at - interval '1 day' WHERE partition = %(p)s AND position = 7"
CUT = "DELETE FROM log.events WHERE partition = %(p)s AND position > 7"
OLD = "UPDATE log.events SET data = replace(data::text, 'old', 'new')::json WHERE partition = %(p)s AND position = 1"


def test_a_rewritten_event_is_named_by_the_key_though_every_digest_follows(guarded: Log) -> None:
    at_night(guarded, REWRITE)
    assert guarded.verify() == [
        f"partition {PARTITION}, position 7: its authentication does not fit: it was forged or changed"
    ]


def test_an_event_from_before_the_key_is_kept_by_the_key_file(guarded: Log) -> None:
    at_night(guarded, OLD)
    assert guarded.verify() == [
        f"partition {PARTITION}, position 1: was rewritten with its digests, the log key file saw another history"
    ]


def test_a_history_that_was_rewritten_with_its_digests_differs_from_its_anchors(guarded: Log) -> None:
    first = guarded.anchor("first.json")
    guarded.append("turn 11", "turn 12")
    second = guarded.anchor("second.json")
    guarded.append("turn 13")
    assert guarded.verify("--anchor", first, "--anchor", second) == []
    at_night(guarded, REORDER.replace("= 7", "= 12"))
    # Columns that the server sets carry no HMAC. Only anchors show a change of them.
    assert guarded.verify() == []
    assert guarded.verify("--anchor", first) == []
    [fault] = guarded.verify("--anchor", second, "--anchor", first)
    assert fault.startswith(
        f"partition {PARTITION}, position 11 to 12: was rewritten with its digests, anchor {second}"
    )


def test_a_cut_tail_with_a_moved_head_differs_from_its_anchor(guarded: Log) -> None:
    anchor = guarded.anchor("anchor.json")
    at_night(guarded, CUT)
    assert guarded.verify() == []
    [fault] = guarded.verify("--anchor", anchor)
    assert fault.startswith(f"partition {PARTITION}, position 8: is missing, anchor {anchor}")
    assert fault.endswith("saw the log reach 10")
    # Events of another user take the place of the cut events.
    guarded.append("turn 8", "turn 9", "turn 10", "turn 11")
    [fault] = guarded.verify("--anchor", anchor)
    assert fault.startswith(f"partition {PARTITION}, position 2 to 10: was rewritten with its digests")


@pytest.mark.parametrize("change", ["digest", "time", "another key", "text"])
def test_an_anchor_that_was_changed_or_made_by_another_proves_nothing(guarded: Log, change: str) -> None:
    path = Path(guarded.anchor("anchor.json"))
    document = json.loads(path.read_bytes())
    if change == "digest":
        document["heads"][PARTITION][2] = "00" * 32
    elif change == "time":
        document["at"] = "2020-01-01T00:00:00+00:00"
    elif change == "another key":
        other = authentication.create(guarded.key.with_name("other.key"), {})
        from events.store.anchors import make

        document = json.loads(make(guarded.owner, other.current))
    path.write_text(json.dumps(document)[: -1 if change == "text" else None])
    [fault] = guarded.verify("--anchor", str(path))
    said = {"text": "is no anchor", "another key": "was signed with another key"}
    assert said.get(change, "its signature does not fit") in fault


def test_an_outsider_checks_an_anchor_with_the_public_key_alone(
    guarded: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    anchor = guarded.anchor("anchor.json")
    public = guarded.run("log", "key", "show")[1].split()[-1]
    monkeypatch.delenv(variable_of("log_key_file"))
    assert guarded.verify("--anchor", anchor, "--public-key", public) == []
    [fault] = guarded.verify("--anchor", anchor, "--public-key", "ab" * 32)
    assert "was signed with another key" in fault
    assert "note: the signatures of the anchors" in (guarded.run("log", "verify", "--anchor", anchor)[1])


CHANGED = "is not as the migrations made it"
CHAIN_STEP = "function chain_step(state bytea, content bytea, seed bytea)"
GUARDS = {
    f"trigger events_append_only on events: {CHANGED}": "ALTER TABLE log.events DISABLE TRIGGER ALL",
    "trigger events_append_only on events: is missing": "DROP TRIGGER events_append_only ON log.events",
    f"function refuse_change(): {CHANGED}": "CREATE OR REPLACE FUNCTION log.refuse_change() "
    "RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    f"{CHAIN_STEP}: {CHANGED}": "CREATE OR REPLACE FUNCTION log.chain_step(state bytea, content bytea, seed bytea) "
    "RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sha256(coalesce(content, seed))",
    f"function append(batch json): {CHANGED}": "ALTER FUNCTION log.append(json) SECURITY INVOKER",
    "trigger mine on events: was added": "CREATE TRIGGER mine BEFORE INSERT ON log.events FOR EACH ROW "
    "EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "rule mine on events: was added": "CREATE RULE mine AS ON DELETE TO log.events DO INSTEAD NOTHING",
}


def test_a_guard_that_was_replaced_is_named(guarded: Log) -> None:
    assert guarded.verify() == []
    for fault, change in GUARDS.items():
        guarded.owner.execute(change.encode())
        assert fault in guarded.verify()


# --- keys and files


def test_a_missing_log_key_is_told_from_a_changed_log(guarded: Log, tmp_path: Path) -> None:
    other = tmp_path / "other.key"
    authentication.create(other, authentication.load(guarded.key).since)
    with pytest.MonkeyPatch.context() as elsewhere:
        elsewhere.setenv(variable_of("log_key_file"), str(other))
        status, said = guarded.run("log", "verify")
        assert status == 1
        assert "2 faults; the original log.key of these events is missing" in said
        with guarded.owner.transaction():
            guarded.owner.execute("SET LOCAL session_replication_role = replica")
            guarded.owner.execute("UPDATE log.events SET occurred_at = now() WHERE position = 4")
        assert "faults; another program changed the log" in guarded.run("log", "verify")[1]


def test_after_a_rotation_old_and_new_events_are_both_confirmed(guarded: Log) -> None:
    assert guarded.run("log", "key", "rotate", str(guarded.key))[0] == 0
    guarded.append("with the new key")
    assert guarded.verify() == []
    keys = guarded.run("log", "key", "show", str(guarded.key))[1].splitlines()
    assert [line.split()[1] for line in keys] == ["in", "earlier"]
    macs = guarded.owner.execute(
        "SELECT DISTINCT encode(substr(mac, 1, 8), 'hex') FROM log.events WHERE mac IS NOT NULL"
    ).fetchall()
    assert {mac for (mac,) in macs} == {line.split()[0] for line in keys}


def test_an_archive_carries_the_authentication(guarded: Log, empty_database: str) -> None:
    archive = guarded.key.with_name("log.jsonl")
    assert guarded.run("log", "export", str(archive))[0] == 0
    with pytest.MonkeyPatch.context() as elsewhere:
        elsewhere.setenv(variable_of("database_url"), empty_database)
        elsewhere.setenv(variable_of("admin_database_url"), "")
        assert guarded.run("log", "import", str(archive))[0] == 0
        assert guarded.verify() == []
        with connect(empty_database, application="test") as other, other.transaction():
            other.execute("SET LOCAL session_replication_role = replica")
            other.execute("UPDATE log.events SET mac = NULL WHERE position = 3")
        assert guarded.verify() == [
            f"partition {PARTITION}, position 3: carries no authentication: somebody without the log key appended it",
            f"partition {partition_of('bea')}, position 3: carries no authentication: "
            "somebody without the log key appended it",
        ]


def test_exports_anchors_and_keys_are_for_their_owner_alone(guarded: Log) -> None:
    for umask in (0o000, 0o022, 0o777):
        exported, anchor, key = (
            guarded.key.with_name(f"{umask}.{name}") for name in ("jsonl", "json", "key")
        )
        exported.touch(0o644)  # an older one, open to all
        before = os.umask(umask)
        try:
            assert guarded.run("log", "export", str(exported))[0] == 0
            assert guarded.run("log", "anchor", str(anchor))[0] == 0
            assert guarded.run("log", "key", "new", str(key))[0] == 0
            assert guarded.run("log", "key", "rotate", str(key))[0] == 0
        finally:
            os.umask(before)
        for made in (exported, anchor, key):
            assert stat.S_IMODE(made.stat().st_mode) == 0o600, made


def test_a_key_is_never_written_over_and_one_that_is_broken_is_refused(
    guarded: Log, capsys: pytest.CaptureFixture[str]
) -> None:
    before = guarded.key.read_bytes()
    assert main(["log", "key", "new", f"{guarded.key}.new"]) == 0
    assert "restart every process that appends" in capsys.readouterr().err
    assert main(["log", "key", "new", str(guarded.key)]) == 1
    assert "exists already" in capsys.readouterr().err
    assert guarded.key.read_bytes() == before
    for text in (b"", b"{}", b"[1]", before[:-20], before.replace(b'"secret": "', b'"secret": "A')):
        guarded.key.write_bytes(text)
        assert main(["log", "verify"]) == 1
        assert "is no log key file of this build" in capsys.readouterr().err


# --- the embedded stack


def test_the_embedded_stack_works_as_a_role_that_can_only_append_and_with_a_key_of_its_own(
    stack: Running, tmp_path: Path
) -> None:
    stack.redis.xadd("turns", {"user_id": USER, "text": "I live in Oslo."})
    stack.wait()
    document = json.loads(stack.command("log", "verify", "--json").stdout)
    assert (document["ok"], document["before_key"]) == (True, 0)
    assert document["authenticated"] == document["events"] > 0
    assert "ok    log: the role can only append" in stack.command("doctor").stdout
    # An import needs the owner, and finds the owner.
    assert stack.command("log", "export", str(tmp_path / "log.jsonl")).returncode == 0
    assert stack.command("log", "import", str(tmp_path / "log.jsonl")).returncode == 0
    with psycopg.connect(stack.database_url, autocommit=True) as service:
        for statement in ("DELETE FROM log.events", "UPDATE log.heads SET position = 0", "CREATE ROLE mine"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                service.execute(statement.encode())
        service.execute("SELECT set_config('cardlog.tenant', '*', false)")
        forged = FORGED.format("").replace("= 5", "= 1").encode()
        assert service.execute(forged, (PARTITION,)).rowcount == 0, "it sees no event without the log key"
