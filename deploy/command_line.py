"""Parses the command line of ``cardlog`` and calls the verb. Errors are one line."""

import gc
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from inspect import BoundArguments, cleandoc
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NoReturn

from cyclopts import App, CycloptsError, Parameter

import events
from deploy.commands import COMMANDS
from deploy.commands.overview import DESCRIPTION, version_line
from deploy.commands.usage import explain, refused, verb_of
from deploy.options import Answer

USAGE = 2
_HELP = {"--help", "-h"}
_QUIET: dict[str, Any] = {"exit_on_error": False, "print_error": False}

Data = Annotated[
    Path | None,
    Parameter(metavar="DIR", help="data folder of the Cardlog to talk to; before or after the verb"),
]


class ParsedCommand(NamedTuple):
    """A verb's function, its arguments, the values it needs from the command by name, the data folder, and its app."""

    verb: Callable[..., Any]
    bound: BoundArguments
    wanted: frozenset[str]
    data: Path | None
    app: App


def command_line(words: Sequence[str] = ()) -> App:
    """Returns the whole command line. The verb in ``words`` gets its full help, the other verbs get one line."""
    app = App(
        name="cardlog",
        help=DESCRIPTION,
        help_format="plaintext",
        version=version_line,
        version_flags=["--version"],
        default_parameter=Parameter(negative=(), show_default=False),
    )
    verb = verb_of(words)
    for number, (name, place, line) in enumerate(COMMANDS):
        named = f" {name}" == verb
        app.command(f"deploy.commands.{place}", name=name, help=None if named else line, sort_key=number)
        if named and _HELP & set(words):
            _reflow(app[name])

    def launch(
        *tokens: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)], data: Data = None
    ) -> ParsedCommand:
        verb, bound, wanted = app.parse_args(tokens, **_QUIET)
        # cyclopts takes an option --version that follows the verb at once for a further command.
        apps = app.parse_commands(tokens)[1]
        chosen = next((each for each in apps if each.default_command == verb), app)
        return ParsedCommand(verb, bound, frozenset(wanted), data, chosen)

    app.meta.default(launch)
    return app


def _reflow(app: App) -> None:
    """Removes the line breaks of the source from the help of ``app`` and of its verbs. Paragraphs stay."""
    paragraphs = cleandoc(app.help or "").split("\n\n")
    app.help = "\n\n".join(" ".join(each.split()) for each in paragraphs)
    for name in app:
        if not name.startswith("-"):
            _reflow(app[name])


def parse(words: Sequence[str]) -> ParsedCommand:
    """Returns the parsed ``words``.

    Raises ``cyclopts.CycloptsError``; :func:`deploy.commands.usage.explain` explains it.
    """
    app = command_line(words)
    command, bound, _ = app.meta.parse_args(_data_first(words), **_QUIET)
    if command is not app.meta.default_command:  # cyclopts answers --help and --version itself
        return ParsedCommand(command, bound, frozenset(), None, app)
    asked: ParsedCommand = command(*bound.args, **bound.kwargs)
    return asked


def _data_first(words: Sequence[str]) -> list[str]:
    """Returns ``words`` with ``--data`` in front, because a verb would take it for its file."""
    rest = list(words)
    given = (place for place, word in enumerate(rest) if word.partition("=")[0] in ("--data", "--"))
    at = next(given, None)
    if at is None or rest[at] == "--":
        return rest
    end = at + (1 if "=" in rest[at] else 2)
    return rest[at:end] + rest[:at] + rest[end:]


def run(words: Sequence[str]) -> int:
    """Runs the verb that ``words`` name and returns the exit status.

    Raises SystemExit with status 2 when the words cannot be parsed.
    """
    gc.disable()  # collecting takes a tenth of the start, and the objects made before the verb runs stay anyway
    _check_packages()
    try:
        command, bound, wanted, data, app = parse(words)
    except CycloptsError as error:
        _refuse(words, explain(error, words))
    finally:
        gc.enable()
    if command.__name__ == "help_print" and not _HELP & set(words):
        _refuse(words, f"the verb is missing; see: cardlog{verb_of(words)} --help")
    with ExitStack() as opened:
        given = _given(words, bound, data, wanted, opened)
        try:
            done = command(*bound.args, **bound.kwargs, **{name: given[name] for name in wanted})
        except Exception as error:
            if (told := refused(error, app)) is error:
                raise
            raise told from None
        return done.show(as_json=_wants_json(bound)) if isinstance(done, Answer) else int(done or 0)


def _wants_json(bound: BoundArguments) -> bool:
    given = bound.arguments
    return bool(given.get("as_json") or getattr(given.get("options"), "json", False))


def _given(
    words: Sequence[str], bound: BoundArguments, data: Path | None, wanted: frozenset[str], opened: ExitStack
) -> dict[str, object]:
    """Returns the values that the verb gets by name. ``deploy.options.Given`` describes them."""
    given: dict[str, Any] = {"data": data}
    if not wanted - given.keys():
        return given
    from deploy import logs  # noqa: PLC0415 - --help and --version need none of these modules
    from deploy.environment import load_settings  # noqa: PLC0415
    from events.sealing import sealer  # noqa: PLC0415
    from events.store import authentication  # noqa: PLC0415

    verb = verb_of(words).strip()
    settings = given["settings"] = load_settings(data=data)
    authentication.use_file(settings.log_key_file)
    sealer.use_settings(settings)
    # The log calls a process as `cardlog up` does: recorder, serve write.
    alone = {"work": bound.arguments.get("worker"), "serve": f"serve {bound.arguments.get('service')}"}
    logs.configure_logging(settings, os.environ.get("CARDLOG_PROCESS") or alone.get(verb) or verb, data=data)
    if wanted & {"cardlog", "connection"}:
        from deploy.instance import find  # noqa: PLC0415 - as above

        given["cardlog"], _ = find(settings, data)
    if "connection" in wanted:
        from events.platform.database import connect  # noqa: PLC0415 - as above

        url = given["cardlog"].database_url
        given["connection"] = opened.enter_context(connect(url, application=verb))
    if "client" in wanted:
        from deploy.services import client_of  # noqa: PLC0415 - as above

        tenant = bound.arguments["options"].tenant
        given["client"] = opened.enter_context(client_of(settings, data, tenant))
    return given


def _refuse(words: Sequence[str], why: str) -> NoReturn:
    print(f"cardlog{verb_of(words)}: {why}", file=sys.stderr)
    raise SystemExit(USAGE)


def _check_packages() -> None:
    """Exits with status 2 when the package ``events`` is another one, or when another one left its files incomplete."""
    ours = Path(__file__).resolve().parents[1] / "events"
    found = Path(events.__path__[0]).resolve()
    if found != ours or getattr(events, "OWNER", None) != "cardlog":
        changed = "another package changed Cardlog's package `events`"
        other = f"the package `events` comes from {found}, not from Cardlog ({ours})"
        print(
            f"cardlog: {changed if found == ours else other}: "
            "uninstall PyPI's `Events` and install Cardlog again, or run Cardlog in a separate environment",
            file=sys.stderr,
        )
        raise SystemExit(USAGE)
