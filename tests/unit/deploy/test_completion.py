"""The completion scripts, in the shells that read them."""

import subprocess
from pathlib import Path

import pytest

from deploy.command import main
from deploy.commands import COMMANDS


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
