"""The shapes that the verbs of ``cardlog`` share: options of all, limits of numbers, and what no user gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from cyclopts import Parameter

T = TypeVar("T")

Given = Annotated[T, Parameter(parse=False)]
"""What the command gives a verb by name, and no user can: ``settings`` and ``data``."""

Flat = Annotated[T, Parameter(name="*")]
"""A dataclass whose fields are the options of a verb."""

Json = Annotated[bool, Parameter(name="--json", help="print JSON")]


def at_least(minimum: float) -> Callable[[object, Any], None]:
    """A validator: a number, or each of several, is finite and not below ``minimum``; nothing given is fine."""

    def check(_kind: object, value: Any) -> None:
        if value is None:
            return
        if not math.isfinite(value):
            raise ValueError("must be a finite number")
        if value < minimum:
            raise ValueError(f"must be at least {minimum:g}")

    return check


def between(minimum: int, maximum: int) -> Callable[[object, Any], None]:
    """A validator: a number is neither below ``minimum`` nor above ``maximum``; nothing given is fine."""

    def check(_kind: object, value: Any) -> None:
        if value is not None and value < minimum:
            raise ValueError(f"must be at least {minimum}")
        if value is not None and value > maximum:
            raise ValueError(f"must be at most {maximum}")

    return check


def _named(_kind: object, value: str | None) -> None:
    if value is not None and value.startswith("-") and value != "-":
        raise ValueError(f"must be a file or -, and there is no option {value}")


File = Annotated[str, Parameter(metavar="FILE", allow_leading_hyphen=True, validator=_named)]
"""A file by its name, or - for standard input or output."""

Count = Annotated[int | None, Parameter(metavar="N", validator=at_least(1))]
"""How many at most; None where no limit is wanted."""

Seconds = Annotated[float, Parameter(metavar="SECONDS", validator=at_least(0))]
"""A stretch of time in seconds."""
