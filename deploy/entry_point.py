"""The start of the process ``cardlog``. A Ctrl-C while the command is being loaded ends the process in silence."""

import _signal  # type: ignore[import-not-found, unused-ignore]

# Python's own handler would raise KeyboardInterrupt inside an import and print a traceback. The module `signal` itself
# takes several milliseconds to load. A shell makes its background processes ignore Ctrl-C, and that stays so.
if _signal.getsignal(_signal.SIGINT) != _signal.SIG_IGN:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def entry() -> None:
    """Runs the command. Its exit status is the one of the process."""
    from deploy.command import entry as command  # noqa: PLC0415 - only from here on a Ctrl-C may end an import

    command()
