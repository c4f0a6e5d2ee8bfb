"""Explains a wrong command line in one sentence that names the option and the remedy."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Literal, get_args, get_origin
from uuid import UUID

from cyclopts import (
    App,
    CoercionError,
    CycloptsError,
    MissingArgumentError,
    RepeatArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
    ValidationError,
)

from deploy.commands import COMMANDS
from deploy.options import OptionInvalidError

_KINDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    UUID: "an id such as 0198c2f4-7a3e-7cc1-b1d0-3f9f0a4c8e21",
}


def verb_of(words: Sequence[str]) -> str:
    """Returns the verb in ``words`` with a space in front, or an empty string when there is none."""
    known = {name for name, _, _ in COMMANDS}
    pairs = zip(("", *words), words, strict=False)
    return next((f" {word}" for before, word in pairs if word in known and before != "--data"), "")


def explain(error: CycloptsError, words: Sequence[str]) -> str:
    """Returns ``error``, which ``words`` caused, as one sentence."""
    if isinstance(error, ValidationError):
        return _invalid(error)
    if isinstance(error, CoercionError) and error.msg is None:
        return _unreadable(error)
    if isinstance(error, MissingArgumentError):
        return _missing(error)
    if isinstance(error, UnknownOptionError):
        name = error.token.keyword or error.token.value
        return f"there is no option {name}{_suggestion(error)}; see: {_called(error)} --help"
    if isinstance(error, UnknownCommandError):
        word = (error.unused_tokens or ["?"])[0]
        # cyclopts' own sentence imports every verb to make a guess.
        names = [name for name in error.app or () if not name.startswith("-")]
        guess = "".join(f"; did you mean {name}?" for name in get_close_matches(word, names, n=1))
        return f"there is no command {word!r}{guess}; see: {_called(error)} --help"
    if isinstance(error, UnusedCliTokensError):
        words = " ".join(error.unused_tokens or [])
        return f"{words!r} is one argument too many; put quotes around a text with spaces"
    if isinstance(error, RepeatArgumentError):
        return _repeated(str(error.token.keyword), words)
    return " ".join(str(error).split())


def refused(error: Exception, app: App) -> Exception:
    """Returns ``error``, with the option or the argument of the verb ``app`` in the place of the service's field."""
    problem = getattr(error, "problem", {})
    field, _, reason = str(error).partition(": ")
    for each in app.assemble_argument_collection() if problem.get("field") == field else ():
        if field in (each.field_info.name, f"{each.field_info.name}_id"):
            kind = OptionInvalidError if problem["status"] == 422 else RuntimeError
            return kind(f"{each.name} {reason}")
    return error


def _invalid(error: ValidationError) -> str:
    why = error.exception_message
    if error.argument is None:
        return why or " ".join(str(error).split())
    typed = [token.value for token in error.argument.tokens if token.value]
    value = typed[-1] if typed else str(error.argument.value)
    return f"{_name(error)} {why}" + (f"; it is {value}" if value not in (why or "") else "")


def _unreadable(error: CoercionError) -> str:
    kind = error.target_type
    if get_origin(kind) is Literal:
        allowed = f"one of {', '.join(map(str, get_args(kind)))}"
    else:
        allowed = _KINDS.get(kind, getattr(kind, "__name__", str(kind)))
    value = "" if error.token is None else f"; it is {error.token.value!r}"
    return f"{_name(error)} must be {allowed}{value}"


def _missing(error: MissingArgumentError) -> str:
    name = _name(error)
    if error.keyword is not None or (error.argument is not None and error.argument.tokens):
        return f"{error.keyword or name} needs a value, such as {error.keyword or name} {_placeholder(error)}"
    if not name.startswith("-"):
        return f"{name} is missing; see: {_called(error)} --help"
    return f"{name} is missing; add {name} {_placeholder(error)}"


def _repeated(name: str, words: Sequence[str]) -> str:
    if sum(word.partition("=")[0] == name for word in words) == 1:
        return f"{name} contradicts an option before it; give one of them"
    return f"{name} is given twice; give it once"


def _name(error: ValidationError | CoercionError | MissingArgumentError) -> str:
    """Returns the option as the user wrote it, or its name. The name of an argument is in capitals."""
    argument = error.argument
    token = getattr(error, "token", None) or next(iter(argument.tokens if argument else ()), None)
    if token is not None and token.keyword:
        return str(token.keyword)
    if argument is None:
        return "the command line"
    return str(argument.name if argument.field_info.is_keyword else argument.name.lstrip("-").upper())


def _placeholder(error: MissingArgumentError) -> str:
    argument = error.argument
    if argument is None:
        return "VALUE"
    if argument.parameter.metavar:
        return argument.parameter.metavar
    return argument.name.lstrip("-").upper()


def _suggestion(error: CycloptsError) -> str:
    """Returns cyclopts' guess at the intended name, or an empty string."""
    _, found, rest = str(error).partition("Did you mean ")
    return f"; did you mean {rest.partition('?')[0]}?" if found else ""


def _called(error: CycloptsError) -> str:
    return " ".join(("cardlog", *(error.command_chain or ())))
