"""``cardlog --help`` and ``cardlog --version``. They need no parser, whose import takes most of a start."""

import shutil
import textwrap

from deploy.commands import COMMANDS

DESCRIPTION = "Long-term memory for assistants. Settings are environment variables: cardlog settings"
OPTIONS = (
    ("--data DIR", "data folder of the Cardlog to talk to; before or after the verb"),
    ("--help, -h", "print this, or with a verb its options"),
    ("--version", "print the version"),
)


def overview(width: int | None = None) -> str:
    """Returns the list of verbs with one line for each, as wide as the terminal."""
    width = max(40, min(width or shutil.get_terminal_size().columns, 120))
    first = max(len(name) for name, *_ in (*COMMANDS, *OPTIONS)) + 4

    def line(name: str, meaning: str) -> str:
        indent = " " * first
        wrapped = textwrap.wrap(meaning, width - first, break_on_hyphens=False)
        return f"  {name:<{first - 2}}" + f"\n{indent}".join(wrapped)

    return "\n".join(
        [
            "Usage: cardlog COMMAND [OPTIONS]",
            "",
            *textwrap.wrap(DESCRIPTION, width),
            "",
            "Commands:",
            *(line(name, meaning) for name, _, meaning in COMMANDS),
            "",
            "Options:",
            *(line(name, meaning) for name, meaning in OPTIONS),
        ]
    )


def version_line() -> str:
    """Returns the name and version of this program."""
    from importlib.metadata import version  # noqa: PLC0415 - the import takes 30 ms, and only --version needs it

    return f"cardlog {version('cardlog')}"
