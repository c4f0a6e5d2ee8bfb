"""The ``cardlog`` command, as a process: signals, exit statuses, errors of one line."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

FAILED, USAGE, INTERRUPTED = 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status. Errors are one line on stderr, never a traceback.

    Raises :class:`SystemExit` with status 2 where the command line itself is wrong.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        # Imported here: a Ctrl-C while modules load ends the command as quietly as any other.
        from deploy.command_line import run  # noqa: PLC0415

        return run(words)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has heard enough (`cardlog log show | head`).
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if _interrupted(error):
            return INTERRUPTED
        if os.environ.get("CARDLOG_LOG_LEVEL", "").lower() == "debug":
            raise
        from deploy.usage import verb_of  # noqa: PLC0415 - only a failure needs it

        usage = type(error).__name__ in {"SettingsError", "NoInstanceError"}
        print(f"cardlog{'' if usage else verb_of(words)}: {_sentence(error)}", file=sys.stderr)
        return USAGE if usage else FAILED


def entry() -> NoReturn:
    """The process ``cardlog``: :func:`main`, and an end that a late Ctrl-C does not disturb."""
    try:
        status = main()
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            # From here on the interpreter only takes itself apart; an interruption there would be a traceback.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
    except KeyboardInterrupt:
        status = INTERRUPTED
    sys.exit(status)


def _interrupted(error: BaseException | None) -> bool:
    """Whether a Ctrl-C is behind ``error``: modules in C turn one that meets their loading into an ImportError."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split())
    known = isinstance(error, RuntimeError | ValueError | OSError) or type(error).__module__.startswith(
        ("deploy", "events", "ingest", "projectors", "retrieval")
    )
    return text if known and text else f"{type(error).__name__}: {text}"


if __name__ == "__main__":
    entry()
