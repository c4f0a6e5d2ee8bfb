"""Types that the verbs of ``cardlog`` share: common options, limits of numbers, and values that no user gives."""

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, NamedTuple, TypeVar

from cyclopts import Parameter

from events.types.tenancy import DEFAULT_TENANT, checked_tenant, storage_id

T = TypeVar("T")


class OptionInvalidError(ValueError):
    """A value of the command line is invalid. The message names the option and the remedy. The exit status is 2."""


Given = Annotated[T, Parameter(parse=False)]
"""A value that the command gives a verb by name and no user can give.

- ``data``: the data folder that the user named; ``settings``: those of the environment.
- ``cardlog``: the settings with the addresses of the Cardlog that is meant; ``connection``: one to its database.
- ``client``: a client of its services, for ``options`` with the user and the tenant whose memory is meant.
"""

Flat = Annotated[T, Parameter(name="*")]
"""A dataclass whose fields are the options of a verb."""

NoAuth = Annotated[
    bool, Parameter(name="--insecure-no-auth", help="ask for no API key; only on loopback addresses")
]

Json = Annotated[bool, Parameter(name="--json", help="print JSON")]


Project = Annotated[
    str,
    Parameter(
        help="project of the turns, and with the project default of the questions; . is the repository in which the "
        "assistant works; * asks about all, and keeps turns in default"
    ),
]
"""The project of an assistant."""
REPOSITORY = (
    "d=$(git rev-parse --path-format=absolute --git-common-dir 2>/dev/null) d=${d%/.git} d=${d##*/}; "
    'printf %s "${d:-default}"'
)
"""Prints the name of the repository of a folder, the same in all its worktrees. Elsewhere it prints default."""


def projects_of(project: str) -> list[str]:
    """Returns the projects that an assistant asks about; it keeps turns in the first. What is in none counts in all."""
    return [project] if project in {"*", "default"} else [project, "default"]


def instant_of(option: str, text: str, example: str = "2026-05-08T00:00:00Z") -> datetime:
    """Returns the instant that an option gives. Raises OptionInvalidError with an example."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise OptionInvalidError(f"{option} {text!r} is not ISO 8601, such as {example}") from None


def between(minimum: float, maximum: float = math.inf) -> Callable[[object, float | None], None]:
    """Returns a validator: a number must be finite and from ``minimum`` to ``maximum``. None passes."""

    def check(_kind: object, value: float | None) -> None:
        if value is None:
            return
        if not math.isfinite(value):
            raise ValueError("must be a finite number")
        if value < minimum:
            raise ValueError(f"must be at least {minimum:g}")
        if value > maximum:
            raise ValueError(f"must be at most {maximum:g}")

    return check


at_least = between


def _is_tenant(_kind: object, value: str | None) -> None:
    if value is not None:
        checked_tenant(value)


Tenant = Annotated[str, Parameter(validator=_is_tenant, help="the tenant of the user")]
"""The tenant of a user whom a command names."""


def _is_zone(_kind: object, value: str | None) -> None:
    from events.types.turn_contract import known_zone, zone_hint  # noqa: PLC0415 - only when a zone is given

    if value is not None and known_zone(value) is None:
        raise ValueError(f"must be an IANA name; {zone_hint(value)}")


Zone = Annotated[
    str | None,
    Parameter(
        metavar="ZONE", validator=_is_zone, help="IANA time zone of the asker (default: the user's latest)"
    ),
]
"""The time zone of the questions of a user."""


@dataclass(frozen=True, kw_only=True)
class OfUser:
    """The options of a verb about the memory of one user."""

    user: Annotated[str, Parameter(help="whose memory is meant")]
    tenant: Tenant = DEFAULT_TENANT
    json: Json = False

    @property
    def place(self) -> dict[str, str | None]:
        """The fields of a request that say which part of the user's memory is meant."""
        return {}


OnlyTenant = Annotated[str | None, Parameter(metavar="TENANT", validator=_is_tenant, help="only this tenant")]
"""A filter of a list. With a user and without a tenant, the user is one of the default tenant."""


def wanted_user(user: str | None, tenant: str | None) -> str | None:
    """Returns the storage id of the user whom the options name, and None when they name no user."""
    return None if user is None else storage_id(tenant or DEFAULT_TENANT, user)


def _named(_kind: object, value: str | None) -> None:
    if value is not None and value.startswith("-") and value != "-":
        raise ValueError(f"must be a file or -, and there is no option {value}")


File = Annotated[str, Parameter(metavar="FILE", allow_leading_hyphen=True, validator=_named)]
"""A file name, or - for standard input or output."""

Count = Annotated[int | None, Parameter(metavar="N", validator=at_least(1))]
"""A limit of a number of items. None means no limit."""

Seconds = Annotated[float, Parameter(metavar="SECONDS", validator=at_least(0))]
"""A duration in seconds."""


class Answer(NamedTuple):
    """The answer of a verb: ``document`` is printed with --json, and ``lines`` without it.

    ``status`` is the exit status. ``by_line``: ``document`` is an iterable, and each of its items is printed as a line.
    """

    document: Any
    lines: Iterable[str]
    status: int = 0
    by_line: bool = False

    def show(self, *, as_json: bool) -> int:
        """Prints the answer. Returns the exit status."""
        documents = self.document if self.by_line else [self.document]
        dumped = (json.dumps(each, ensure_ascii=False, default=str) for each in documents)
        for line in dumped if as_json else self.lines:
            print(line)
        return self.status
