"""The command line and its completion."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import psutil
import pytest

from deploy.command import main
from deploy.command_line import parse
from deploy.commands import COMMANDS
from deploy.instance import Instance, announce, withdraw
from events.platform.projections import PROJECTIONS
from events.platform.settings import Settings
from projectors.registry import projectors
from tests.support.stack import COMMAND, clean_environment, typed
from tests.support.tables import examples, examples_and

_DRIVERS = "psycopg redis httpx2 pydantic fastapi numpy jieba3 anthropic psutil"
HEAVY = frozenset(_DRIVERS.split())


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Returns the one line that the command prints about words it cannot parse. The exit status is 2."""
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(main(words))
    assert ended.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    [line] = captured.err.splitlines()
    return line


def test_help_lists_every_verb_with_its_line() -> None:
    done = typed("--help", given={"COLUMNS": "200"})
    assert (done.returncode, done.stderr) == (0, "")
    for name, _, line in COMMANDS:
        assert name in done.stdout
        assert line in done.stdout


@pytest.mark.parametrize("name", [name for name, _, _ in COMMANDS])
def test_every_verb_has_its_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith(f"Usage: cardlog {name}")
    assert "--data" in captured.out
    assert captured.err == ""


def test_the_version_is_that_of_the_package() -> None:
    done = typed("--version")
    assert (done.returncode, done.stdout) == (0, f"cardlog {version('cardlog')}\n")


def loaded(*words: str) -> tuple[subprocess.CompletedProcess[str], set[str]]:
    """Runs the command. Returns the process, and every module that it imported."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *COMMAND[1:], *words],
        capture_output=True, text=True, timeout=240, env=clean_environment(),
    )  # fmt: skip
    lines = [line for line in done.stderr.splitlines() if "import time:" in line]
    return done, {line.rpartition("|")[2].strip() for line in lines}


@examples_and(
    (["when", "yesterday"], "deploy.command_line", set()),
    (["recal"], "deploy.command_line", set()),
)
def test_what_needs_no_server_loads_no_driver_and_help_no_parser(
    words: list[str], module: str, others: set[str]
) -> None:
    _, modules = loaded(*words)
    assert module in modules
    assert not modules & {*HEAVY, *others}


def test_status_of_a_cardlog_that_does_not_run_loads_no_driver(tmp_path: Path) -> None:
    done, modules = loaded("status", "--data", str(tmp_path))
    assert done.returncode == 1
    assert not modules & (HEAVY - {"psutil"})


def test_the_addresses_of_a_running_cardlog_are_printed_without_a_driver(tmp_path: Path) -> None:
    address, login = "redis://127.0.0.1:1/0", "postgresql://u@127.0.0.1:1/x"
    this = psutil.Process()
    running = Instance("", "", address, login, this.pid, this.create_time(), str(tmp_path))
    announce(running)
    try:
        done, modules = loaded("env", "--data", str(tmp_path))
    finally:
        withdraw(running)
    assert (done.returncode, address in done.stdout) == (0, True)
    assert not modules & (HEAVY - {"psutil"} | {"events.types.cards"})


def test_the_names_of_projections_are_those_of_the_projectors() -> None:
    assert tuple(projector.name for projector in projectors(Settings())) == PROJECTIONS


@examples
def test_the_data_folder_may_be_given_before_or_after_the_verb(words: list[str]) -> None:
    asked = parse(words)
    assert (asked.verb.__name__, asked.data) == ("status", Path("here"))
    assert asked.bound.arguments["as_json"] is True


@pytest.mark.parametrize("given", [["--data", "here"], ["--data=here"]])
def test_the_data_folder_may_be_given_before_a_file(given: list[str]) -> None:
    asked = parse(["push", *given, "-"])
    assert (asked.data, asked.bound.arguments["file"]) == (Path("here"), "-")


@examples
def test_what_cannot_be_understood_names_the_option_and_the_remedy(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, *words) == said


def test_a_text_may_begin_with_a_hyphen_behind_two(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["when", "--", "-yesterday"]) == 0
    assert capsys.readouterr().out.startswith("yesterday")


# --- Ctrl-C

INTERRUPTED_AT = """
import atexit, os, signal, sys

class Interrupter:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)

where = sys.argv[1]
if where == "exit":
    atexit.register(os.kill, os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupter())
from deploy.entry_point import entry
sys.argv[:] = ["cardlog", "when", "yesterday"]
Interrupter.find_spec.__globals__["sys"] = type("argv", (), {"argv": ["", where]})
entry()
"""


@examples
def test_an_interruption_at_any_moment_prints_no_traceback(where: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_AT, where],
        capture_output=True, text=True, timeout=240, env=clean_environment(),
    )  # fmt: skip
    assert done.returncode in (130, -2), done.stderr
    assert done.stderr == ""


def test_an_interruption_that_became_another_error_is_an_interruption(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """C modules turn a Ctrl-C during their import into an ImportError."""

    def load(*_: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise ImportError("numpy cannot be loaded") from error

    monkeypatch.setattr("deploy.command_line.run", load)
    assert main(["when", "yesterday"]) == 130
    assert capsys.readouterr().err == ""


def test_nobody_needs_a_home(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "HOME"}
    done = subprocess.run(
        [*COMMAND, "--version"], capture_output=True, text=True, timeout=240, cwd=tmp_path, env=environment
    )
    assert done.returncode == 0


def completed(script: Path, *words: str) -> list[str]:
    """Returns the completions that bash offers after ``words``."""
    quoted = " ".join(f"'{word}'" for word in ("cardlog", *words))
    asks = (
        f"source '{script}'; COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _cardlog; echo ${{COMPREPLY[@]}}"
    )
    # No PATH: a completion that started a process would fail.
    done = subprocess.run(
        ["/bin/bash", "-c", asks], capture_output=True, text=True, timeout=240, env={"PATH": "/nowhere"}
    )
    assert (done.returncode, done.stderr) == (0, "")
    return sorted(done.stdout.split())


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="there is no bash")
def test_bash_completes_verbs_and_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "cardlog.bash"
    script.write_text(capsys.readouterr().out)
    assert completed(script, "re") == ["rebuild", "recall", "reembed", "reextract", "ref", "retention"]
    assert completed(script, "dead", "r") == ["retry"]
    assert completed(script, "recall", "--as") == ["--as-of"]
    assert completed(script, "recall", "--da") == ["--data"]
    assert completed(script, "--ver") == ["--version"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_a_script_with_every_verb(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert all(name in captured.out for name, _, _ in COMMANDS)
    # A file of zsh that only defines its function completes nothing.
    assert shell != "zsh" or captured.out.endswith('\n_cyclopts_cardlog "$@"\n')
