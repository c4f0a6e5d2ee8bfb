"""Hooks of assistants: as their JSON arrives, and as ``cardlog hooks`` puts them into settings files."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from starlette.testclient import TestClient

from events.platform.settings import Settings
from events.types.turn_contract import MAX_TEXT_BYTES
from retrieval.hooks import HookEvent
from retrieval.http.hook_routes import MAX_BODY_BYTES, PATHS
from retrieval.http.read_api import create_app
from tests.support.connections import serving
from tests.support.stack import Running, typed
from tests.support.tables import examples, examples_and, texts
from tests.support.waiting import eventually
from tests.support.web import WEB

CLAUDE, CODEX, GEMINI = PATHS


def event(name: str, **fields: Any) -> dict[str, Any]:
    """An event with the fields that every event has."""
    common = {
        "session_id": "5f0c",
        "transcript_path": "/home/dana/.claude/projects/x/5f0c.jsonl",
        "cwd": "/home/dana/x",
    }
    return {**common, "permission_mode": "default", "hook_event_name": name, **fields}


class Assistant:
    """One assistant of one user."""

    def __init__(self, stack: Running, path: str = CLAUDE, **asked: str) -> None:
        self.stack = stack
        self.user = f"hooked {uuid4()}"
        self.path = path
        self.asked = asked

    def send(self, name: str, **fields: Any) -> dict[str, Any]:
        answer = WEB.post(
            f"{self.stack.read_url}{self.path}",
            params={"user_id": self.user, **self.asked},
            json=event(name, **fields),
            headers=self.stack.headers,
            timeout=30,
        )
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json"), answer.text
        found: dict[str, Any] = answer.json()
        return found

    def context(self, name: str, **fields: Any) -> str:
        output = self.send(name, **fields)["hookSpecificOutput"]
        assert output.keys() == {"hookEventName", "additionalContext"}
        assert output["hookEventName"] == name
        text: str = output["additionalContext"]
        return text

    def said(self) -> list[tuple[str, str]]:
        """Role and words of the turns in the log, in order."""
        self.stack.wait()
        shown = self.stack.command("log", "show", "--user", self.user, "--type", "TurnRecorded", "--json")
        turns = [json.loads(line)["data"] for line in shown.stdout.splitlines()]
        return [(turn["role"], turn["text"]) for turn in turns]


def test_a_prompt_gets_what_an_earlier_session_said(stack: Running) -> None:
    dana = Assistant(stack)
    assert dana.send("SessionStart", source="startup") == {}
    assert dana.send("UserPromptSubmit", prompt="I live in Porto, and my dog is called Rex.") == {}
    assert dana.send("Stop", last_assistant_message="Noted!", stop_hook_active=False) == {}
    stack.wait()
    assert "Porto" in dana.context("UserPromptSubmit", session_id="other", prompt="Where do I live?")
    assert "Porto" in dana.context("SessionStart", session_id="third", source="resume")
    first = [("user", "I live in Porto, and my dog is called Rex."), ("assistant", "Noted!")]
    assert dana.said() == [*first, ("user", "Where do I live?")]


def test_an_event_that_comes_again_changes_nothing(stack: Running) -> None:
    dana = Assistant(stack)
    lines = list(map(json.loads, texts(__file__, "transcript.jsonl")))
    for _ in range(2):
        dana.send("UserPromptSubmit", prompt="I work at Acme.")
        dana.send("Stop", last_assistant_message="Good for you.")
        dana.send("PreCompact", trigger="auto", messages=lines)
        dana.send("SessionEnd", reason="other", messages=lines)
    assert dana.said() == [
        ("user", "I work at Acme."), ("assistant", "Good for you."), ("user", "Thanks."),
    ]  # fmt: skip


def test_codex_and_gemini_are_answered_in_their_own_words(stack: Running) -> None:
    codex = Assistant(stack, CODEX)
    codex.send("UserPromptSubmit", turn_id="1", model="gpt", prompt="I play the cello.")
    assert "cello" in codex.context("UserPromptSubmit", turn_id="2", prompt="Which instrument do I play?")
    gemini = Assistant(stack, GEMINI, project_id="shop", timezone="Asia/Taipei")
    told = {
        "prompt": "I sell lamps.",
        "prompt_response": "What kind?",
        "timestamp": "2026-03-05T10:00:00.000Z",
    }
    gemini.send("BeforeAgent", prompt="I sell lamps.", timestamp="2026-03-05T10:00:00.000Z")
    gemini.send("AfterAgent", **told)
    assert "lamps" in gemini.context("BeforeAgent", prompt="What do I sell?")
    assert gemini.said()[:2] == [("user", "I sell lamps."), ("assistant", "What kind?")]
    shown = stack.command("log", "show", "--user", gemini.user, "--type", "TurnRecorded", "--json").stdout
    turn = json.loads(shown.splitlines()[0])["data"]
    assert (turn["agent_id"], turn["project_id"], turn["timezone"]) == ("gemini-cli", "shop", "Asia/Taipei")


@examples_and(
    {"prompt": "x" * (MAX_TEXT_BYTES + 1)},
    {"prompt": "猫" * MAX_TEXT_BYTES},
)
def test_any_words_are_taken(stack: Running, fields: dict[str, Any]) -> None:
    dana = Assistant(stack)
    for name in ("UserPromptSubmit", "Stop", "PreToolUse", "no such event", ""):
        dana.send(name, **fields)


def test_a_turn_goes_on_without_a_time_that_cannot_be_read_and_the_log_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    answer = HookEvent.model_validate(event("Stop", last_assistant_message="Yes.", timestamp="soon"))
    [turn] = answer.turns("codex", user_id="dana", timezone="Mars")
    assert (turn["text"], turn.keys() & {"said_at", "timezone"}) == ("Yes.", set())
    assert "a hook of codex goes on without its said_at" in caplog.text
    assert "a hook of codex goes on without its timezone" in caplog.text
    assert answer.turns("codex", user_id="") == []
    assert "a hook of codex is left out: user_id" in caplog.text


def turns_of(name: str, project_id: str = "default", **fields: Any) -> list[dict[str, str]]:
    """The turns of an event of dana's."""
    return HookEvent.model_validate(event(name, **fields)).turns(
        "claude-code", user_id="dana", project_id=project_id
    )


def test_long_words_keep_their_beginning_and_their_end(stack: Running) -> None:
    dana = Assistant(stack)
    pasted = "猫" * MAX_TEXT_BYTES
    dana.send("UserPromptSubmit", prompt=f"A log: {pasted} Our deploy user is called svc-deployer.")
    [(_, kept)] = dana.said()
    assert kept.startswith("A log: 猫")
    assert "猫\n…\n猫" in kept
    assert kept.endswith("猫 Our deploy user is called svc-deployer.")
    assert MAX_TEXT_BYTES - 6 <= len(kept.encode()) <= MAX_TEXT_BYTES


def test_the_question_at_the_end_of_a_long_prompt_is_asked() -> None:
    long = HookEvent.model_validate(event("UserPromptSubmit", prompt="x" * MAX_TEXT_BYTES + " Who deploys?"))
    assert long.question.endswith("x Who deploys?")


@examples
def test_what_nobody_typed_is_no_turn(text: str) -> None:
    line = {"type": "user", "message": {"role": "user", "content": text}}
    assert turns_of("SessionEnd", messages=[line]) == turns_of("UserPromptSubmit", prompt=text) == []
    assert HookEvent.model_validate(event("UserPromptSubmit", prompt=text)).question == ""
    # An assistant may say these words.
    assert turns_of("Stop", last_assistant_message=text)


def test_a_summary_for_the_assistant_itself_is_no_turn() -> None:
    line = {"type": "user", "message": {"role": "user", "content": "The talk so far: dana asked."}}
    assert len(turns_of("PreCompact", messages=[line])) == 1
    assert turns_of("PreCompact", messages=[{**line, "isCompactSummary": True}]) == []


@examples
def test_words_beside_a_mark_are_a_turn(text: str) -> None:
    assert [turn["text"] for turn in turns_of("UserPromptSubmit", prompt=text)] == [text]


def test_many_marks_are_read_in_a_moment() -> None:
    text = "<a-b></a-b>" * 50_000
    assert turns_of("UserPromptSubmit", prompt=text) == []
    assert len(turns_of("UserPromptSubmit", prompt=text + "!")) == 1


def test_a_hook_of_all_projects_keeps_turns_in_the_default_project() -> None:
    [turn] = turns_of("UserPromptSubmit", "*", prompt="I keep bees.")
    assert turn.get("project_id", "default") == "default"
    [turn] = turns_of("UserPromptSubmit", "shop", prompt="I keep bees.")
    assert turn["project_id"] == "shop"


def test_a_wrong_request_is_refused(stack: Running) -> None:
    def send(path: str = CLAUDE, **request: Any) -> int:
        headers = stack.headers | request.pop("headers", {})
        return WEB.post(f"{stack.read_url}{path}", headers=headers, **request).status_code

    asked = {"user_id": "dana"}
    json_type = {"content-type": "application/json"}
    assert send(json=event("Stop")) == 422
    assert send(params=asked, json={"session_id": "x"}) == 422
    assert send(params=asked, json=["Stop"]) == 422
    assert send(params=asked, json=event("Stop", prompt="\0")) == 422
    assert send(params=asked, content=b"{", headers=json_type) == 422
    assert send(params=asked, content=b"[" * 100_000, headers=json_type) == 422
    assert send(params=asked, content=b"x", headers={"content-type": "text/plain"}) == 415
    assert send(params=asked, content=b" " * (MAX_BODY_BYTES + 1), headers=json_type) == 413
    assert send(params=asked, json=event("Stop"), headers={"origin": "https://evil.example"}) == 403
    assert send(params=asked, json=event("Stop"), headers={"host": "evil.example"}) == 421
    assert send("/v1/hooks/other", params=asked, json=event("Stop")) == 404
    assert send(params=asked, json=event("Stop"), headers={"authorization": "Bearer clk_no"}) == 401
    assert send(params={**asked, "timezone": "Mars"}, json=event("SessionStart")) == 422


def test_a_key_that_may_not_push_gets_context_and_no_more(stack: Running) -> None:
    dana = Assistant(stack)
    dana.send("UserPromptSubmit", prompt="I live in Turin.")
    made = stack.command("keys", "create", "--name", "r", "--scope", "read", "--user", dana.user, "--json")
    headers = {"Authorization": f"Bearer {json.loads(made.stdout)['key']}"}

    def send(user: str, name: str, **fields: Any) -> Any:
        return WEB.post(
            f"{stack.read_url}{CLAUDE}", params={"user_id": user}, json=event(name, **fields), headers=headers
        )

    answer = send(dana.user, "UserPromptSubmit", prompt="Where do I live?")
    assert "Turin" in answer.json()["hookSpecificOutput"]["additionalContext"]
    assert send(dana.user, "Stop", last_assistant_message="In Turin.").status_code == 403
    assert send("somebody else", "UserPromptSubmit", prompt="Where?").status_code == 404
    assert dana.said() == [("user", "I live in Turin.")]


def test_a_dead_memory_costs_a_prompt_nothing(stack: Running) -> None:
    # Postgres does not answer this service, and nobody is where its write service should be.
    away = Settings(
        database_url="postgresql://nobody@127.0.0.1:1/nothing", redis_url="redis://127.0.0.1:1/0", auth="off",
        write_url="http://127.0.0.1:1", embed_model="hash",
    )  # fmt: skip
    for settings in (away, replace(away, auth="on"), replace(away, audit="strict")):
        with TestClient(create_app(settings), base_url="http://localhost") as client:
            for name in ("SessionStart", "UserPromptSubmit", "Stop"):
                answer = client.post(
                    CLAUDE,
                    params={"user_id": "dana"},
                    json=event(name, prompt="Where do I live?", last_assistant_message="Here."),
                    headers=stack.headers,
                )
                assert (answer.status_code, answer.content) == (200, b"{}")


def test_a_late_memory_is_not_awaited(stack: Running) -> None:
    slow = {"CARDLOG_FAULT_TAGS": "slow:60000", "CARDLOG_TAGS_DEADLINE_MS": "60000"}
    with serving("read", stack.redis_url, **stack.servers, **slow, CARDLOG_HOOK_DEADLINE_MS="3000",
                 CARDLOG_WRITE_URL=stack.write_url, CARDLOG_AUTH="on") as url:  # fmt: skip
        dana = Assistant(stack)
        answer = WEB.post(
            f"{url}{CLAUDE}",
            params={"user_id": dana.user},
            json=event("UserPromptSubmit", prompt="I live in Bern."),
            headers=stack.headers,
        )
        assert (answer.status_code, answer.content) == (200, b"{}")
        assert dana.said() == [("user", "I live in Bern.")]


def hooks(stack: Running, *words: str, file: Path) -> str:
    done = stack.command("hooks", *words, "--file", str(file))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_settings_are_edited_without_harm(stack: Running, tmp_path: Path) -> None:
    real = tmp_path / "versioned.json"
    mine = {"type": "command", "command": "make format"}
    before = {
        "$schema": "https://json.schemastore.org/claude-code-settings.json",
        "hooks": {"Stop": [{"matcher": "", "hooks": [mine]}], "PreToolUse": []},
        "env": {"NAME": "Zoë"},
    }
    real.write_text(json.dumps(before, ensure_ascii=False))
    real.chmod(0o640)
    file = tmp_path / "settings.json"
    file.symlink_to(real)
    hooks(stack, "install", "--user", "ada & bea", file=file)
    once = real.read_bytes()
    hooks(stack, "install", "--user", "ada & bea", file=file)
    assert real.read_bytes() == once
    after = json.loads(once)
    assert list(after) == list(before)
    assert after["hooks"]["Stop"][0] == before["hooks"]["Stop"][0]  # type: ignore[index]
    [http] = after["hooks"]["UserPromptSubmit"][0]["hooks"]
    assert http["url"] == f"{stack.read_url}{CLAUDE}?user_id=ada+%26+bea&project_id=*"
    assert http["headers"] == {"Authorization": "Bearer $CARDLOG_API_KEY"}
    assert stack.key not in once.decode()
    shown = json.loads(hooks(stack, "show", "--json", file=file))[str(file)]
    assert shown.keys() == {"SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"}
    assert "PreCompact, SessionEnd are removed from" in hooks(stack, "uninstall", file=file)
    assert "there were no hooks of Cardlog" in hooks(stack, "uninstall", file=file)
    assert json.loads(real.read_bytes()) == before
    assert file.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_the_hooks_of_every_assistant_are_shown(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "CARDLOG_READ_URL": "http://127.0.0.1:8701"}
    assert typed("hooks", "install", "codex", "--user", "ada", given=home).returncode == 0
    with_hooks = [
        line.split(":")[0]
        for line in typed("hooks", "show", given=home, cwd=tmp_path).stdout.splitlines()
        if line.startswith("/") and "no hooks" not in line
    ]
    assert [Path(each).parent.name for each in with_hooks] == [".codex"]


def test_a_time_zone_that_no_prompt_could_have_is_refused_at_once(stack: Running, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    for zone in ("Mars/X", "localtime"):
        done = stack.command("hooks", "install", "--user", "ada", "--timezone", zone, "--file", str(file))
        assert (done.returncode, "--timezone must be an IANA name" in done.stderr) == (2, True), done.stderr
    assert not file.exists()


@pytest.mark.parametrize("text", ["// mine\n{}", "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}', '{"a": 1'])
def test_settings_of_an_unknown_form_are_left_as_they_are(stack: Running, tmp_path: Path, text: str) -> None:
    file = tmp_path / "settings.json"
    file.write_text(text)
    done = stack.command("hooks", "install", "--user", "ada", "--file", str(file))
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert file.read_text() == text


def test_the_installed_command_answers_and_fails_quietly(stack: Running, tmp_path: Path) -> None:
    ada = Assistant(stack, CODEX)
    ada.send("UserPromptSubmit", prompt="I keep bees.")
    file = tmp_path / "hooks.json"

    def run(code: int = 0) -> str:
        hook = json.loads(file.read_bytes())["hooks"]["UserPromptSubmit"][0]["hooks"][0]
        assert hook["type"] == "command"
        words = json.dumps(event("UserPromptSubmit", prompt="What do I keep?"))
        done = subprocess.run(["sh", "-c", hook["command"]], input=words, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        assert ("Cardlog refuses the hook" in done.stderr) == bool(code)
        return done.stdout

    hooks(stack, "install", "codex", "--user", ada.user, file=file)
    eventually(lambda: "bees" in json.loads(run())["hookSpecificOutput"]["additionalContext"])
    file.write_text(file.read_text().replace(stack.read_url, "http://127.0.0.1:1"))
    assert json.loads(run()) == {}
    file.write_text(file.read_text().replace("http://127.0.0.1:1", stack.write_url))
    assert "bees" in run()  # each service passes on what belongs to the other
    file.write_text(file.read_text().replace("/v1/hooks/", "/v1/nothing/"))
    assert run(1) == ""
