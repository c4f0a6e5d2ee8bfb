"""The one shape of a verb about a user's memory: its words, the method of the client that it calls, and its lines."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from inspect import Parameter, Signature
from typing import Annotated, Any, TypeVar, cast
from uuid import UUID

import cyclopts
from cyclopts import App

from cardlog_client import Client
from deploy.options import Answer, Flat, Given, OfUser

T = TypeVar("T")
_PAGE = 500
_CLIENT = Parameter("client", Parameter.KEYWORD_ONLY, annotation=Given[Client])
_annotated, _flat = cast(Any, Annotated), cast(Any, Flat)


def argument(
    name: str,
    kind: Any,
    help: str | None = None,
    /,
    *,
    default: object = Parameter.empty,
    many: bool = False,
    **more: Any,
) -> Parameter:
    """Returns an argument of a verb, or the ``many`` last ones. ``more`` are fields of ``cyclopts.Parameter``."""
    shown = kind if help is None else _annotated[kind, cyclopts.Parameter(help=help, **more)]
    place = Parameter.VAR_POSITIONAL if many else Parameter.POSITIONAL_ONLY
    return Parameter(name, place, annotation=shown, default=default)


def option(name: str, kind: Any, help: str, default: object = None, /, **more: Any) -> Parameter:
    """Returns an option of a verb. The client leaves an option out that is None."""
    shown = _annotated[kind | None if default is None else kind, cyclopts.Parameter(help=help, **more)]
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=shown, default=default)


REASON = option("reason", str, "the reason, which is recorded", metavar="WHY")


class Verbs:
    """The verbs of ``app`` that only call the client. ``options`` are those of each, and tell whose memory is meant."""

    def __init__(self, app: App, options: type[OfUser] = OfUser) -> None:
        self._app = app
        self.options = Parameter("options", Parameter.KEYWORD_ONLY, annotation=_flat[options])

    def call(
        self,
        name: str,
        help: str,
        method: Callable[..., T],
        *words: Parameter,
        lines: str | Callable[[T], Iterable[str]] = "{answer}",
    ) -> None:
        """Adds the verb ``name``. It calls a method of the client with the user, the arguments and the options.

        ``lines`` makes the lines of the answer. A text is one line that may name the ``answer`` and the words. A
        function in the place of the method may return the whole Answer.
        """

        def answered(client: Client, options: OfUser, arguments: list[Any], chosen: dict[str, Any]) -> Answer:
            found = method(client, options.user, *arguments, **chosen, **options.place)
            if isinstance(found, Answer):
                return found
            if not isinstance(lines, str):
                return Answer(found, lines(found))
            named = dict(zip((word.name for word in words), arguments, strict=False))
            return Answer(found, [lines.format(answer=found, **named)])

        self._add(name, help, words, answered)

    def pages(
        self,
        name: str,
        help: str,
        method: Callable[..., Any],
        *words: Parameter,
        items: str,
        most: int | None = None,
        lines: Callable[[Any], Iterable[str]],
        none: str,
    ) -> None:
        """Adds the verb ``name``. It shows the ``items`` of all pages that a method of the client gives.

        ``lines`` makes the lines of an item. ``none`` is the line without items; it may name the ``user`` and the
        ``status``. The option ``limit`` is the most items, in the place of ``most``.
        """

        def answered(client: Client, options: OfUser, arguments: list[Any], chosen: dict[str, Any]) -> Answer:
            ask, limit = partial(method, client), chosen.pop("limit", most)
            found = every(ask, options.user, items, *arguments, most=limit, **chosen, **options.place)
            status = "" if (wanted := chosen.get("status", "all")) == "all" else f"{wanted} "
            nothing = none.format(user=options.user, status=status)
            return Answer(found, [line for each in found for line in lines(each)] or [nothing])

        self._add(name, help, words, answered)

    def _add(
        self, name: str, help: str, words: tuple[Parameter, ...], answered: Callable[..., Answer]
    ) -> None:
        signature = Signature(
            [*words, self.options, _CLIENT] if self.options not in words else [*words, _CLIENT]
        )

        def run(*given: object, **named: object) -> Answer:
            bound = signature.bind(*given, **named)
            bound.apply_defaults()
            chosen = {
                each: tuple(map(_plain, value)) if isinstance(value, tuple) else _plain(value)
                for each, value in bound.arguments.items()
            }
            arguments = [chosen.pop(word.name) for word in words if word.kind is not Parameter.KEYWORD_ONLY]
            return answered(chosen.pop("client"), chosen.pop("options"), arguments, chosen)

        run.__annotations__ = {}
        run.__signature__ = signature  # type: ignore[attr-defined]
        self._app.command(run, name=name, help=help)


def _plain(value: object) -> object:
    return str(value) if isinstance(value, UUID) else value


def every(
    ask: Callable[..., Mapping[str, Any]],
    user: str,
    items: str,
    *arguments: str,
    most: int | None = None,
    **filters: Any,
) -> list[Any]:
    """Returns the ``items`` of all pages that ``ask`` gives about a user, at most ``most``."""
    found: list[Any] = []
    cursor = None
    while most is None or len(found) < most:
        limit = None if most is None else min(most - len(found), _PAGE)
        place = {"cursor": cursor, "limit": limit}
        page = ask(user, *arguments, **{name: value for name, value in place.items() if value}, **filters)
        found += page[items]
        cursor = page.get("next_cursor")
        if cursor is None:
            break
    return found
