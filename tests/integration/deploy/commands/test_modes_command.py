"""``cardlog modes`` declares, lists, renames and deletes modes, and refuses as the routes do."""

import json

import pytest

from deploy.command import main
from events.platform.settings import variable_of


def test_modes_are_declared_listed_renamed_and_deleted(
    database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable_of("database_url"), database)

    def run(*words: str) -> tuple[int, str, str]:
        status = main(["modes", *words, "--user", "ada"])
        told = capsys.readouterr()
        return status, told.out.strip(), told.err

    declared = run(
        "declare", "code", "--embedder", "hash-768", "--decay", "slow", "--hint", "units=keep signatures"
    )
    assert declared[:2] == (0, "code is declared")
    assert run("default", "shop", "code")[1] == "the default mode of shop is code"
    assert run("rename", "code", "programming")[1] == "code is called programming now"
    assert run("list")[1].splitlines() == [
        "programming: hash-768, slow decay",
        "project shop: default mode programming",
    ]
    [mode] = json.loads(run("list", "--json")[1])
    assert mode["prompt_overrides"] == {"units": "keep signatures"}
    status, _, err = run("declare", "diary", "--embedder", "nobody/has-this")
    assert (status, "nobody/has-this is not on the server" in err) == (2, True)
    for words in ((), ("--dry-run",)):
        assert (
            run("reembed", "code", *words)[1] == "nothing to do: all 0 vectors of programming are of hash-768"
        )
    assert json.loads(run("reembed", "general", "--json")[1])["state"] == "unneeded"
    assert run("reembed", "kode")[0] == 1
    assert run("delete", "programming")[1] == "programming is deleted; its cards belong to the general mode"
    assert run("list")[1] == "ada has no modes; everything is general"
