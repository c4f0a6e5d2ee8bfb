"""The ``cardlog`` command."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import events
from deploy import journal
from deploy.commands import COMMANDS
from deploy.instance import NoInstanceError
from events.settings import Settings, SettingsError

FAILED, USAGE, INTERRUPTED = 1, 2, 130


class CommandError(RuntimeError):
    """The command failed; the message is all the user needs to see."""


def command_line() -> argparse.ArgumentParser:
    """What may follow ``cardlog``."""
    parser = argparse.ArgumentParser(
        prog="cardlog",
        description="Long-term memory for assistants. Settings are environment variables: cardlog settings",
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.register(subparsers)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status. Errors are one line on stderr, never a traceback."""
    options = command_line().parse_args(arguments)
    try:
        _check_packages()
        settings = Settings.from_environment(data=getattr(options, "data", None))
        journal.keep(settings, os.environ.get("CARDLOG_PROCESS", options.command))
        return int(options.run(options, settings) or 0)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has heard enough (`cardlog log show | head`).
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (SettingsError, NoInstanceError) as error:
        print(f"cardlog: {error}", file=sys.stderr)
        return USAGE
    except Exception as error:
        if os.environ.get("CARDLOG_LOG_LEVEL", "").lower() == "debug":
            raise
        print(f"cardlog {options.command}: {_sentence(error)}", file=sys.stderr)
        return FAILED


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split())
    known = isinstance(error, RuntimeError | ValueError | OSError) or type(error).__module__.startswith(
        ("deploy", "events", "ingest", "projectors", "retrieval")
    )
    return text if known and text else f"{type(error).__name__}: {text}"


def _check_packages() -> None:
    """Another package called ``events`` may shadow ours; then nothing here can be trusted."""
    ours = Path(__file__).resolve().parents[1] / "events" / "__init__.py"
    found = Path(events.__file__ or "").resolve()
    if found != ours:
        raise SettingsError(
            f"the package `events` comes from {found.parent}, not from Cardlog ({ours.parent}): "
            "uninstall PyPI's `Events`, or run Cardlog in an environment of its own"
        )


if __name__ == "__main__":
    sys.exit(main())
