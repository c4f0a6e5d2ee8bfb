"""The process of the ``cardlog`` command: signals, exit statuses, and errors of one line."""

import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

FAILED, USAGE, INTERRUPTED = 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status. An error is one line on stderr, never a traceback.

    Raises :class:`SystemExit` with status 2 when the command line itself is wrong.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if words in (["--help"], ["-h"], ["--version"]):
            from deploy.commands.overview import overview, version_line  # noqa: PLC0415 - as below

            print(version_line() if words == ["--version"] else overview())
            return 0
        # The import is here, so that a Ctrl-C while modules load also ends the command quietly.
        from deploy.command_line import run  # noqa: PLC0415

        return run(words)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has closed the pipe (`cardlog log show | head`).
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if _interrupted(error):
            return INTERRUPTED
        if os.environ.get("CARDLOG_LOG_LEVEL", "").lower() == "debug":
            raise
        from deploy.commands.usage import verb_of  # noqa: PLC0415 - only a failure needs it

        # The cause names the missing module. The first error names only the module of the verb.
        while isinstance(error, ImportError) and isinstance(error.__cause__, ImportError):
            error = error.__cause__
        kind = type(error).__name__
        of_everybody = kind in {"SettingsError", "NoInstanceError"}
        print(f"cardlog{'' if of_everybody else verb_of(words)}: {_sentence(error)}", file=sys.stderr)
        return USAGE if kind in {"SettingsError", "OptionInvalidError"} else FAILED


def entry() -> NoReturn:
    """Runs :func:`main` as the process ``cardlog``. A late Ctrl-C does not disturb the end of the process."""
    try:
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # as the entry point left it
            signal.signal(signal.SIGINT, signal.default_int_handler)
        status = main()
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            # The interpreter now only shuts down. A KeyboardInterrupt there would print a traceback.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
    except KeyboardInterrupt:
        status = INTERRUPTED
    sys.exit(status)


def _interrupted(error: BaseException | None) -> bool:
    """True when a Ctrl-C caused ``error``. C modules turn a Ctrl-C during their import into an ImportError."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _sentence(error: Exception) -> str:
    kind = type(error).__name__
    # PostgreSQL's own sentence comes without the SQL of the statement.
    said = getattr(getattr(error, "diag", None), "message_primary", None) or str(error)
    # A part that did not start shows its last lines as it wrote them.
    text = said.rstrip() if kind in {"ServerError", "StackError"} else " ".join(said.split())
    known = isinstance(error, RuntimeError | ValueError | OSError) or type(error).__module__.startswith(
        ("deploy", "events", "ingest", "projectors", "retrieval", "cardlog_client")
    )
    if type(error).__module__ == "redis.exceptions":
        if kind in {"TimeoutError", "ConnectionError"}:
            return f"Redis does not answer: {text}; see that its server runs, then try again"
        if kind == "AuthenticationError":
            return f"redis refuses the login in CARDLOG_REDIS_URL: {text}"
    if kind == "InsufficientPrivilege":
        return f"{text}; set CARDLOG_ADMIN_DATABASE_URL to the URL of the role that owns the database"
    return text if known and text else f"{kind}: {text}"


if __name__ == "__main__":
    entry()
