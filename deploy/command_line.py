"""What may follow ``cardlog``, and how it becomes a call: the verbs, their common options, and their errors."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from inspect import BoundArguments, cleandoc
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NoReturn

from cyclopts import App, CycloptsError, Parameter

import events
from deploy.commands import COMMANDS
from deploy.usage import explain, verb_of

USAGE = 2
_HELP = {"--help", "-h"}
_QUIET: dict[str, Any] = {"exit_on_error": False, "print_error": False}
DESCRIPTION = "Long-term memory for assistants. Settings are environment variables: cardlog settings"

Data = Annotated[
    Path | None, Parameter(metavar="DIR", help="data folder of the Cardlog meant; before or after the verb")
]


class Asked(NamedTuple):
    """A verb's function, its arguments, the names it wants besides them, and the data folder that was named."""

    verb: Callable[..., Any]
    bound: BoundArguments
    wanted: frozenset[str]
    data: Path | None


def command_line(words: Sequence[str] = ()) -> App:
    """The whole command line. The verb that ``words`` name tells about itself at length, the others in a line."""
    app = App(
        name="cardlog",
        help=DESCRIPTION,
        help_format="plaintext",
        version=_version,
        version_flags=["--version"],
        default_parameter=Parameter(negative=(), show_default=False),
    )
    verb = verb_of(words)
    for number, (name, place, line) in enumerate(COMMANDS):
        told = f" {name}" == verb
        app.command(f"deploy.commands.{place}", name=name, help=None if told else line, sort_key=number)
        if told and _HELP & set(words):
            _reflow(app[name])

    def launch(
        *tokens: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)], data: Data = None
    ) -> Asked:
        verb, bound, wanted = app.parse_args(tokens, **_QUIET)
        return Asked(verb, bound, frozenset(wanted), data)

    app.meta.default(launch)
    return app


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - it takes 30 ms, and only --version needs it

    return f"cardlog {version('cardlog')}"


def _reflow(app: App) -> None:
    """Take the line breaks of the source out of the texts of ``app`` and of its verbs; paragraphs stay."""
    paragraphs = cleandoc(app.help or "").split("\n\n")
    app.help = "\n\n".join(" ".join(each.split()) for each in paragraphs)
    for name in app:
        if not name.startswith("-"):
            _reflow(app[name])


def parse(words: Sequence[str]) -> Asked:
    """What ``words`` ask for. Raises ``cyclopts.CycloptsError``, which :func:`deploy.usage.explain` says in a line."""
    app = command_line(words)
    command, bound, _ = app.meta.parse_args(list(words), **_QUIET)
    if command is not app.meta.default_command:  # --help and --version are answered by the library
        return Asked(command, bound, frozenset(), None)
    asked: Asked = command(*bound.args, **bound.kwargs)
    return asked


def run(words: Sequence[str]) -> int:
    """Do what ``words`` say; returns the exit status. Raises SystemExit (2) where they cannot be understood."""
    gc.disable()  # a tenth of the time: what is made until the verb runs stays, and is not worth looking through
    _check_packages()
    try:
        command, bound, wanted, data = parse(words)
    except CycloptsError as error:
        _refuse(words, explain(error, words))
    finally:
        gc.enable()
    if command.__name__ == "help_print" and not _HELP & set(words):
        _refuse(words, f"the verb is missing; see: cardlog{verb_of(words)} --help")
    given: dict[str, Any] = {}
    if "data" in wanted:
        given["data"] = data
    if "settings" in wanted:
        from deploy import logs  # noqa: PLC0415 - help and --version need none of these
        from events.platform.environment import load_settings  # noqa: PLC0415
        from events.store import authentication  # noqa: PLC0415

        settings = load_settings(data=data)
        authentication.use_file(settings.log_key_file)
        logs.configure_logging(settings, os.environ.get("CARDLOG_PROCESS", verb_of(words).strip()), data=data)
        given["settings"] = settings
    return int(command(*bound.args, **bound.kwargs, **given) or 0)


def _refuse(words: Sequence[str], why: str) -> NoReturn:
    print(f"cardlog{verb_of(words)}: {why}", file=sys.stderr)
    raise SystemExit(USAGE)


def _check_packages() -> None:
    """Another package called ``events`` may shadow ours; then nothing here can be trusted."""
    ours = Path(__file__).resolve().parents[1] / "events" / "__init__.py"
    found = Path(events.__file__ or "").resolve()
    if found != ours:
        print(
            f"cardlog: the package `events` comes from {found.parent}, not from Cardlog ({ours.parent}): "
            "uninstall PyPI's `Events`, or run Cardlog in an environment of its own",
            file=sys.stderr,
        )
        raise SystemExit(USAGE)
