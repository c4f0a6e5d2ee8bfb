"""Records: dataclasses that nobody changes, for rows that are made by the million."""

from dataclasses import dataclass, field
from threading import Lock
from typing import TypeVar, dataclass_transform

import msgspec

_T = TypeVar("_T")
_LEARNING = Lock()


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def record(cls: type[_T]) -> type[_T]:
    """Makes a class a dataclass with slots and keywords, which is hashable and frozen for the type checker.

    A dataclass that is frozen at run time takes four times as long to make, because it sets each field by a call.
    """
    return dataclass(slots=True, kw_only=True, unsafe_hash=True)(cls)


def learned(cls: type[_T]) -> type[_T]:
    """Lets msgspec learn a class now, and returns the class.

    msgspec learns a class at its first use. A second thread that uses the class meanwhile ends the process with a
    segmentation fault (msgspec 0.22.0). A class that is learned at import is safe in every thread.
    """
    with _LEARNING:
        msgspec.json.Decoder(cls)
    return cls
