"""The addresses of a running Cardlog, for a shell, a person and an app; and the pushes that use them."""

import json
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.stack import Running, clean_environment, typed
from tests.support.web import WEB

ENV = '"$0" -m deploy.command env --data "$1"'


def in_shell(running: Running, script: str) -> subprocess.CompletedProcess[str]:
    """Runs a script in a shell that has evaluated ``cardlog env``."""
    return subprocess.run(
        ["/bin/sh", "-c", f'set -e; lines=$({ENV}); eval "$lines"; {script}', sys.executable, str(running.data)],
        capture_output=True, text=True, timeout=240, env=clean_environment(),
    )  # fmt: skip


def test_the_lines_of_env_make_a_shell_use_this_cardlog(stack: Running) -> None:
    shown = in_shell(stack, "env")
    assert shown.returncode == 0, shown.stderr
    values = dict(line.partition("=")[::2] for line in shown.stdout.splitlines())
    assert values["CARDLOG_REDIS_URL"] == stack.redis_url
    assert values["CARDLOG_DATABASE_URL"] == stack.database_url
    assert (values["CARDLOG_WRITE_URL"], values["CARDLOG_READ_URL"]) == (stack.write_url, stack.read_url)
    # Every name is a setting or known beside them, the keys of the log come along, and nothing is reported.
    asked = in_shell(stack, '"$0" -m deploy.command log stats')
    assert (asked.returncode, asked.stderr) == (0, "")
    assert Path(values["CARDLOG_LOG_KEY_FILE"]).is_file()


def test_operators_work_in_such_a_shell_as_in_any_other(stack: Running) -> None:
    made = in_shell(stack, '"$0" -m deploy.command keys create --name shell --scope read')
    assert made.returncode == 0, made.stderr
    assert "CARDLOG_ADMIN_DATABASE_URL" not in in_shell(stack, "env").stdout


def test_pushes_from_such_a_shell_become_cards(stack: Running) -> None:
    own = (
        "import os, redis; queue = redis.Redis.from_url(os.environ['CARDLOG_REDIS_URL']); "
        "queue.xadd('turns', {'user_id': 'app', 'text': 'I live in Porto.'})"
    )
    said = '{"user_id": "shell", "text": "I live in Porto."}'
    for pushing in (f'"$0" -c "{own}"', f"echo '{said}' | \"$0\" -m deploy.command push -"):
        pushed = in_shell(stack, pushing)
        assert pushed.returncode == 0, pushed.stderr
    stack.wait()
    for user in ("app", "shell"):
        assert stack.recall(user, "where do I live?")["cards"][0]["value"] == "Porto"


def test_status_and_doctor_print_the_addresses_without_passwords(stack: Running) -> None:
    redis, postgres = urlsplit(stack.redis_url), urlsplit(stack.database_url)
    checked = stack.command("doctor")
    assert checked.returncode == 0, checked.stdout
    seen = stack.command("status", "--json").stdout
    addresses = json.loads(seen)["addresses"]
    assert addresses == {
        "write": stack.write_url, "read": stack.read_url,
        "redis": f"{redis.hostname}:{redis.port}", "postgres": f"{postgres.hostname}:{postgres.port}/cardlog",
    }  # fmt: skip
    for address in addresses.values():
        assert address in checked.stdout
    for secret in (redis.password, postgres.password):
        assert str(secret) not in seen + checked.stdout


def test_status_has_the_stages_of_the_write_service_when_the_read_service_sees_one_tenant_at_a_time(
    stack: Running,
) -> None:
    done = stack.command("status", "--json")
    # Dead letters of other tests make the exit status 1.
    assert done.returncode in (0, 1), done.stderr
    asked = WEB.get(f"{stack.read_url}/v1/status", headers=stack.headers).json()
    assert (asked["whole"], asked["parked"]) == (False, None)
    asked_writer = WEB.get(f"{stack.write_url}/v1/status", headers=stack.headers).json()
    assert (asked_writer["whole"], asked_writer["parked"]) == (True, 0)
    said = json.loads(done.stdout)
    assert "whole" not in said
    assert said["parked"] == 0
    assert said["channels"].keys() == asked["channels"].keys()
    assert said["stages"].keys() == asked["stages"].keys()
    assert {name: said["addresses"][name] for name in ("redis", "postgres")} == asked["servers"]


def test_status_looks_for_itself_when_the_read_service_is_down(stack: Running, tmp_path: Path) -> None:
    ready = json.loads((stack.data / "ready.json").read_text())
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nothing listens there
        away = ready | {"read_url": f"http://127.0.0.1:{taken.getsockname()[1]}"}
        (tmp_path / "ready.json").write_text(json.dumps(away))
        done = typed("status", "--json", "--data", str(tmp_path))
    said = json.loads(done.stdout)
    assert done.returncode in (0, 1)  # 1: dead letters of other tests
    assert (done.stderr, said["channels"]) == ("", None)
    usual = json.loads(stack.command("status", "--json").stdout)
    assert said["stages"].keys() == usual["stages"].keys()
    assert said["embedder"]["model"] == usual["embedder"]["model"]
    assert {name: said["addresses"][name] for name in ("redis", "postgres")} == {
        name: usual["addresses"][name] for name in ("redis", "postgres")
    }


def test_the_ready_file_has_every_field_that_the_page_names(stack: Running) -> None:
    page = (Path(__file__).resolve().parents[3] / "docs/operating/running.md").read_text("utf-8")
    section = page.partition("## The ready file")[2].partition("\n## ")[0]
    fields = set(json.loads((stack.data / "ready.json").read_text()))
    assert {field for field in fields if f"`{field}`" not in section} == set()


# --- what is asked for and is not there


def test_an_unknown_user_and_an_answer_without_cards_differ(stack: Running) -> None:
    said = stack.command("recall", "where do I live?", "--user", "nobody-at-all").stdout
    assert "nothing is known about the user 'nobody-at-all' yet" in said
    said = stack.command("context", "where do I live?", "--user", "nobody-at-all").stderr
    assert "nothing is known about the user 'nobody-at-all' yet" in said
    stack.push({"user_id": "known", "text": "I live in Oslo."})
    stack.wait()
    said = stack.command("recall", "where do I live?", "--user", "known", "--project", "another").stdout
    assert said == "nothing is known about that\n"


def test_a_value_that_the_service_refuses_names_its_option(stack: Running) -> None:
    asked, name = ("recall", "where do I live?"), ("todo_list", "shed", "--user", "u")
    stack.command("ref", "create", *name)
    for words, said in (
        ((*asked, "--user", "u", "--as-of", "rubbish"), "--as-of is 'rubbish'; use ISO 8601"),
        (
            (*asked, "--user", "u", "--timezone", "Foo/Lisbon"),
            "--timezone must be an IANA name; did you mean Europe/Lisbon?",
        ),
        ((*asked, "--user", ""), "--user must not be empty"),
        (("recall", "", "--user", "u"), "QUESTION must not be empty"),
        (("log", "show", "--since", "rubbish"), "--since 'rubbish' is not ISO 8601"),
        (("ref", "show", *name, "--version", "0"), "--version must be 1 or more"),
        (("ref", "apply", *name, "add", "text=glue", "--expect", "9"), "--expect "),
    ):
        done = stack.command(*words)
        assert done.returncode == 1 + ("--expect" not in words)
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_log_show_says_that_a_user_or_a_type_does_not_exist(stack: Running) -> None:
    stack.push({"user_id": "shown", "text": "I live in Oslo."})
    stack.wait()
    for words, status, said in (
        (["--user", "nobody-at-all"], 1, "the log has no event of the user 'nobody-at-all'"),
        (["--type", "TurnRecordd"], 1, "there is no event type 'TurnRecordd'; did you mean TurnRecorded?"),
        (["--type", "Zzz"], 1, "`cardlog log stats` lists the types of the log"),
        (["--user", "shown", "--since", "2150-01-01T00:00:00Z"], 0, "no event meets the filter"),
    ):
        done = stack.command("log", "show", *words)
        assert (done.returncode, done.stdout) == (status, "")
        assert said in done.stderr
    found = stack.command("log", "show", "--user", "shown", "--type", "TurnRecorded")
    assert (found.returncode, found.stderr) == (0, "")


def test_said_at_of_the_day_after_tomorrow_is_refused_on_both_ways(stack: Running) -> None:
    turn = {"user_id": "ahead", "text": "I live in Oslo.", "said_at": "2199-01-01T00:00:00Z"}
    refused = WEB.post(f"{stack.write_url}/v1/turns", headers=stack.headers, json=turn)
    assert (refused.status_code, refused.json()["field"]) == (422, "said_at")
    remedy = "send the instant of the words, or leave said_at out"
    assert remedy in refused.json()["detail"]
    stack.redis.xadd("turns", turn)  # type: ignore[arg-type]
    stack.wait()
    listed = stack.command("dead", "list", "--json")
    [letter] = [each for each in json.loads(listed.stdout) if each["fields"].get("user_id") == "ahead"]
    assert letter["field"] == "said_at"
    assert remedy in letter["reason"]
    # A dead letter needs somebody, and the exit status of status says so until it is settled.
    status = stack.command("status")
    assert status.returncode == 1
    assert "dead letters need you" in status.stdout
    assert stack.command("dead", "drop", letter["id"]).returncode == 0


def test_wait_keeps_its_timeout_with_servers_that_stay_silent() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        place = f"127.0.0.1:{silent.getsockname()[1]}"
        urls = {
            "CARDLOG_DATABASE_URL": f"postgresql://nobody@{place}/nothing", "CARDLOG_REDIS_URL": f"redis://{place}/0",
        }  # fmt: skip
        done = typed("wait", "--timeout", "1", given=urls)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "cardlog wait: after 1 s, a server does not answer\n"
