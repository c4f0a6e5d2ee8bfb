"""``cardlog completion``: the completion script of a shell."""

from __future__ import annotations

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
    sys.stdout.write(command_line().generate_completion(shell=shell))
    return 0
