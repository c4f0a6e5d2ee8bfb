"""The completion scripts, in the shells that read them."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
from pathlib import Path

import pytest

from deploy.command import main
from deploy.commands import COMMANDS
from tests.support.stack import clean_environment
from tests.support.waiting import eventually


def completed(script: Path, *words: str) -> list[str]:
    """Returns the completions that bash offers after ``words``."""
    quoted = " ".join(f"'{word}'" for word in ("cardlog", *words))
    asks = (
        f"source '{script}'; COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _cardlog; echo ${{COMPREPLY[@]}}"
    )
    # No PATH: a completion that started a process would fail.
    done = subprocess.run(
        ["/bin/bash", "-c", asks], capture_output=True, text=True, timeout=30, env={"PATH": "/nowhere"}
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


COMPLETED = [
    ("cardlog rec", "recall"),
    ("cardlog dead ret", "retry"),
    ("cardlog recall --known", "--known-at"),
    ("cardlog --data here stat", "status"),
    ("cardlog recall --data here --known", "--known-at"),
]


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(("typed", "word"), COMPLETED)
def test_fish_completes(typed: str, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "fish"]) == 0
    script = tmp_path / "cardlog.fish"
    script.write_text(capsys.readouterr().out)
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"source '{script}'; complete -C'{typed}'"],
        capture_output=True, text=True, timeout=60, cwd=tmp_path,
        env=clean_environment() | {"HOME": str(tmp_path)},
    )  # fmt: skip
    assert [line.partition("\t")[0] for line in done.stdout.splitlines()] == [word], done.stderr


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
@pytest.mark.parametrize(("typed", "word"), COMPLETED[1:4])
def test_zsh_completes(typed: str, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "zsh"]) == 0
    (tmp_path / "_cardlog").write_text(capsys.readouterr().out)
    terminal, inner = pty.openpty()
    process = subprocess.Popen(
        ["zsh", "-f", "-i"], stdin=inner, stdout=inner, stderr=inner, cwd=tmp_path, start_new_session=True,
        env=clean_environment() | {"HOME": str(tmp_path), "TERM": "dumb"},
    )  # fmt: skip
    os.close(inner)
    said = ""

    def shows(what: str) -> bool:
        nonlocal said
        while select.select([terminal], [], [], 0)[0]:
            said += os.read(terminal, 65536).decode("utf-8", "replace")
        return what in said

    try:
        # A completed line is shown by a command, so that no escape sequence stands between its letters.
        setup = (
            f"fpath=('{tmp_path}' $fpath); autoload -U compinit; compinit -u -D; cardlog() {{ print -r \"<$*>\" }}; "
            "print 're''ady'\n"
        )
        os.write(terminal, setup.encode())
        eventually(lambda: shows("ready\r\n"), within=30)
        # The first Tab shows an option with its help, and the second Tab takes it.
        tabs = "\t\t" if word.startswith("--") else "\t"
        os.write(terminal, f"{typed}{tabs}\n".encode())
        whole = f"<{typed.removeprefix('cardlog ').rpartition(' ')[0]} {word}>".replace("< ", "<")
        eventually(lambda: shows(whole), within=30)
    finally:
        process.kill()
        process.wait(10)
        os.close(terminal)
