"""``cardlog completion``: the completion script of a shell."""

import sys
from typing import Annotated, Literal

from cyclopts import Parameter

from deploy.command_line import command_line


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(help="which shell")],
    /,
) -> int:
    """Print the script that lets a shell complete verbs and options.

    bash: cardlog completion bash > ~/.local/share/bash-completion/completions/cardlog. zsh: cardlog completion zsh
    > a folder of $fpath/_cardlog. fish: cardlog completion fish > ~/.config/fish/completions/cardlog.fish. The
    script holds the verbs and options of this version, and a completion starts no process.
    """
    sys.stdout.write(_mended(command_line().generate_completion(shell=shell), shell))
    return 0


def _mended(script: str, shell: str) -> str:
    """Returns the script of the library with what its shell needs.

    zsh runs the file at the first completion, so the file must call its function. fish must offer verbs behind
    ``--data DIR`` too; its own check takes the folder for a verb.
    """
    if shell == "zsh":
        return f'{script.rstrip()}\n\n_cyclopts_cardlog "$@"\n'
    return script.replace("-n __fish_use_subcommand", "-n __fish_cardlog_using_command")
