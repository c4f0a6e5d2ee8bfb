"""``cardlog keys`` makes, lists, rotates and revokes keys; services without keys stay on this machine."""

import json
from pathlib import Path
from typing import Any

import pytest

from deploy.command import main
from deploy.commands.run.serve import require_loopback
from deploy.instance import authorization
from events.access import keys
from events.platform.database import Connection
from events.platform.settings import Settings, SettingsError, variable_of
from tests.support.roles import roles_for


@pytest.fixture(autouse=True)
def _here(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable_of("database_url"), database)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    status = main(["keys", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    status, out, err = run(capsys, *arguments, "--json")
    assert status == 0, err
    return [json.loads(line) for line in out.splitlines()]


def test_a_key_is_made_listed_rotated_and_revoked(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "create", "--name", "chat app", "--scope", "read", "--user", "ada")
    text = out.strip()
    key_id = keys.key_id_of(text)
    assert (status, key_id is not None, "not shown again" in err) == (0, True, True)
    [listed] = told(capsys, "list")
    assert (listed["key_id"], listed["scopes"], listed["users"], listed["status"]) == (
        key_id, ["read"], ["ada"], "valid",
    )  # fmt: skip
    assert text not in run(capsys, "list")[1]
    [rotated] = told(capsys, "rotate", str(key_id), "--overlap-hours", "1")
    assert (rotated["users"], rotated["replaces"]) == (["ada"], key_id)
    assert keys.key_id_of(rotated["key"]) == rotated["key_id"]
    [revoked] = told(capsys, "revoke", rotated["key_id"])
    assert revoked["status"] == "revoked"
    assert [each["status"] for each in told(capsys, "list")] == ["valid", "revoked"]


def test_rights_that_a_command_names_are_those_of_the_key(
    capsys: pytest.CaptureFixture[str], connection: Connection
) -> None:
    limits = ("--tenant", "acme", "--scope", "push", "--scope", "write", "--project", "p", "--project", "q")
    [made] = told(capsys, "create", "--name", "x", *limits, "--mode", "m", "--expires-days", "1")
    key = keys.find(connection, made["key_id"])
    assert (key.tenant, key.scopes, key.projects, key.modes) == ("acme", ["push", "write"], ["p", "q"], ["m"])
    assert key.expires_at is not None
    assert told(capsys, "list", "--tenant", "other") == []
    [usual] = told(capsys, "create", "--name", "y")
    assert usual["scopes"] == ["push", "read", "write"]


def test_a_role_that_may_not_make_keys_is_told_which_one_may(
    capsys: pytest.CaptureFixture[str], database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with roles_for(database, ("reader",)) as [url]:
        monkeypatch.setenv(variable_of("database_url"), url)
        status, _, err = run(capsys, "create", "--name", "a", "--scope", "read")
    assert (status, "permission denied" in err) == (1, True)
    assert "set CARDLOG_ADMIN_DATABASE_URL" in err


def test_an_unfit_command_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (
        (("revoke", "nothing"), "there is no API key 'nothing'"),
        (("create", "--name", "x", "--tenant", "No Tenant"), "tenant: 'No Tenant' is no name of a tenant"),
    ):
        status, _, err = run(capsys, *arguments)
        assert (status, said in err, len(err.strip().splitlines())) == (1, True, 1), err


def test_a_key_that_would_expire_at_once_is_not_made(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(capsys, "create", "--name", "x", "--expires-days", "0")
    assert (ended.value.code, "must be at least 1" in capsys.readouterr().err) == (2, True)
    assert told(capsys, "list") == []


def test_a_service_without_keys_listens_only_on_loopback() -> None:
    for host in ("127.0.0.1", "::1", "localhost"):
        require_loopback(Settings(auth="off"), host)
    for host in ("0.0.0.0", "::", "10.0.0.5", "cardlog.example"):
        with pytest.raises(SettingsError, match=f"CARDLOG_AUTH is off .*{host}"):
            require_loopback(Settings(auth="off"), host)
        require_loopback(Settings(), host)


def test_the_command_sends_the_last_word_of_its_key_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("Authorization: Bearer clk_of_the_file\n")
    assert authorization(Settings(key_file=str(file))) == {"Authorization": "Bearer clk_of_the_file"}
    given = Settings(key_file=str(file), api_key="clk_given")
    assert authorization(given) == {"Authorization": "Bearer clk_given"}
    assert authorization(Settings()) == {}
    for broken in (tmp_path / "missing", tmp_path):
        with pytest.raises(SettingsError, match="CARDLOG_KEY_FILE"):
            authorization(Settings(key_file=str(broken)))
