"""The verbs about a user's memory call the services, with the key of this Cardlog or as the operator of a tenant."""

import json
from pathlib import Path

from tests.support.stack import Running


def test_a_reference_is_kept_by_the_verbs(stack: Running) -> None:
    mine = ("--user", "vera", "--project", "shop")
    assert stack.told("ref", "create", "todo_list", "errands", *mine)["version"] == 1
    assert stack.told("ref", "apply", "todo_list", "errands", "add", "text=nails", *mine)["version"] == 2
    [listed] = stack.told("ref", "list", *mine)
    assert listed["rendering"] == "errands: [ ] nails"
    assert stack.command("ref", "list", "--user", "vera").stdout.startswith(
        "todo_list/errands (project shop)  v2 "
    )
    stack.told("ref", "tier", "todo_list", "errands", "pinned", *mine)
    stack.told("ref", "archive", "todo_list", "errands", *mine)
    assert stack.command("ref", "list", *mine).stdout == "vera has no references\n"
    assert stack.told("ref", "restore", "todo_list", "errands", "--version", "1", *mine)["data"] == {
        "items": []
    }
    history = stack.command("ref", "history", "todo_list", "errands", "--limit", "4", *mine, "--json").stdout
    assert [json.loads(line)["version"] for line in history.splitlines()] == [5, 4, 3, 2]
    refused = stack.command("ref", "apply", "todo_list", "errands", "sew", *mine)
    assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1)
    assert refused.stderr.startswith("cardlog ref: OP is 'sew'; ")


def test_the_argument_of_an_op_never_names_another_user(stack: Running) -> None:
    stack.told("ref", "create", "variable", "desk", "--user", "vera", "--value", "{}")
    words = ("ref", "apply", "variable", "desk", "set", "path=/x", "value=1", "user_id=eve")
    assert stack.told(*words, "--user", "vera")["data"] == {"x": 1}


def test_an_operator_reaches_another_tenant_and_only_that_one(stack: Running) -> None:
    stack.told("ref", "create", "variable", "lamp", "--user", "ivo", "--tenant", "acme", "--value", "3")
    problem = stack.told("problems", "open", "a cold room", "--user", "ivo", "--tenant", "acme")
    assert [each["key"] for each in stack.told("ref", "list", "--user", "ivo", "--tenant", "acme")] == [
        "lamp"
    ]
    assert stack.told("ref", "list", "--user", "ivo") == []
    assert stack.told("problems", "list", "--user", "ivo") == []
    unknown = stack.command("problems", "close", problem["problem_id"], "--user", "ivo")
    assert (unknown.returncode, unknown.stderr) == (1, "cardlog problems: this user has no such problem\n")
    asked = stack.command("recall", "is the lamp on?", "--user", "ivo", "--tenant", "acme")
    assert asked.returncode == 0, asked.stderr


def test_turns_are_shown_and_several_questions_are_asked_by_the_verbs(stack: Running, tmp_path: Path) -> None:
    turns = [
        {"user_id": "lea", "text": text, "session_id": "s1"}
        for text in ("I live in Oslo.", "I work at Acme.")
    ]
    [turn, _] = stack.push(*turns)["turn_ids"]
    stack.wait()
    mine = ("--user", "lea")
    assert [(each["session_id"], each["turns"]) for each in stack.told("sessions", "list", *mine)] == [
        ("s1", 2)
    ]
    shown = stack.told("sessions", "show", "s1", *mine)
    assert [each["text"] for each in shown] == ["I live in Oslo.", "I work at Acme."]
    assert stack.command("sessions", "turn", turn, *mine).stdout.endswith("  user: I live in Oslo.\n")
    (tmp_path / "questions.txt").write_text("where do I live?\n\nwhere do I work?\n")
    home, job = stack.told("recall", "--file", str(tmp_path / "questions.txt"), *mine)
    assert [each["answer"]["cards"][0]["value"] for each in (home, job)] == ["Oslo", "Acme"]
    history = stack.command(
        "cards", "history", home["answer"]["cards"][0]["card_id"], *mine
    ).stdout.splitlines()
    assert "Lives in Oslo" in history[0]
    assert history[1].startswith("    user_stated: “")
    assert f"Oslo” in {turn}, said 20" in history[1]
    unasked = stack.command("recall", *mine)
    missing = "cardlog recall: QUESTION is missing; see: cardlog recall --help\n"
    assert (unasked.returncode, unasked.stderr) == (2, missing)
