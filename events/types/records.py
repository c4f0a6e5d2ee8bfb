"""Records: dataclasses that nobody changes, for rows that are made by the million."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def record(cls: type[_T]) -> type[_T]:
    """Makes a class a dataclass with slots and keywords, which is hashable and frozen for the type checker.

    A dataclass that is frozen at run time takes four times as long to make, because it sets each field by a call.
    """
    return dataclass(slots=True, kw_only=True, unsafe_hash=True)(cls)
