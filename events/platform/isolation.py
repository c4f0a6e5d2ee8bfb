"""Finding the culprit: work on several items at once, where one bad item must harm nobody but itself."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import psycopg

from events.platform.failures import is_away
from events.platform.settings import SettingsError

T = TypeVar("T")

# The server, its schema or its files are not as they should be: every statement would fail the same way.
_SETTING_CLASSES = ("0A", "25", "26", "28", "34", "3D", "3F", "42", "58", "F0", "HV")
_SETTING_STATES = frozenset(("XX001", "XX002"))  # corrupted data, corrupted index
# Among the errors of class 42 these depend on the values that were sent.
_VALUE_STATES = frozenset(("42804", "42846", "42P18"))
# What the operating system says of a value; anything else it says is about the machine.
_VALUE_ERRNOS = frozenset((errno.ENAMETOOLONG, errno.EOVERFLOW, errno.EINVAL, errno.EILSEQ, errno.ERANGE))


@dataclass(frozen=True, slots=True)
class Culprit(Generic[T]):
    """An item that fails also when it is tried alone, and why."""

    item: T
    error: Exception


def is_the_datas_fault(error: BaseException) -> bool:
    """Whether these very data are to blame: the same work on other data would succeed.

    False while the server is away (:func:`events.platform.failures.is_away`), for a server whose schema, rights or
    files are not as they should be, for a setting or a log key file that cannot be used, and for a machine without
    memory, files or network.
    True for everything else, known or not: an error nobody thought of harms its culprit, and nobody else.
    """
    if isinstance(error, psycopg.Error):
        if is_away(error):
            return False
        state = error.sqlstate
        if state is None or state in _VALUE_STATES:
            return True
        return not state.startswith(_SETTING_CLASSES) and state not in _SETTING_STATES
    if isinstance(error, OSError):
        return error.errno in _VALUE_ERRNOS
    return isinstance(error, Exception) and not isinstance(error, MemoryError | ImportError | SettingsError)


def isolate(
    items: Sequence[T],
    attempt: Callable[[Sequence[T]], object],
    *,
    blames: Callable[[Exception], bool] = is_the_datas_fault,
) -> list[Culprit[T]]:
    """Attempt ``items`` together; where that fails, halve them until each culprit is alone, and return those.

    Guarantees that every item that is not returned was part of exactly one attempt that succeeded, and that attempts
    are made in the order of ``items``. ``attempt`` must undo what it did before it raises (a savepoint does). One
    culprit among n items costs about 2·log2(n) attempts. Raises what ``attempt`` raises where ``blames`` says that the
    items are not to blame; attempts that succeeded before it stand.
    """
    if not items:
        return []
    try:
        attempt(items)
    except Exception as error:
        if not blames(error):
            raise
        if len(items) == 1:
            return [Culprit(items[0], error)]
        half = len(items) // 2
        return [
            *isolate(items[:half], attempt, blames=blames),
            *isolate(items[half:], attempt, blames=blames),
        ]
    return []
