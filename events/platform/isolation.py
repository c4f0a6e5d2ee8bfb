"""Isolates bad items in a batch. One bad item must not fail the other items of its batch."""

import errno
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import psycopg

from events.platform.failures import is_away
from events.platform.settings import SettingsError

T = TypeVar("T")

# The server, its schema or its files are wrong. Every statement would fail in the same way.
_SETTING_CLASSES = ("0A", "25", "26", "28", "34", "3D", "3F", "42", "58", "F0", "HV")
_SETTING_STATES = frozenset(("XX001", "XX002"))  # corrupted data, corrupted index
# These errors of class 42 depend on the values of the statement.
_VALUE_STATES = frozenset(("42804", "42846", "42P18"))
# Errors of the operating system about a value. Its other errors are about the machine.
_VALUE_ERRNOS = frozenset((errno.ENAMETOOLONG, errno.EOVERFLOW, errno.EINVAL, errno.EILSEQ, errno.ERANGE))


@dataclass(frozen=True, slots=True)
class Culprit(Generic[T]):
    """An item that fails even alone, with its error."""

    item: T
    error: Exception


def is_the_datas_fault(error: BaseException) -> bool:
    """True when the data are at fault. The same work on other data would then succeed.

    False while the server is away (:func:`events.platform.failures.is_away`), for a server with a wrong schema, wrong
    rights or damaged files, for an unusable setting or log key file, and for a machine without memory, files or
    network. True for every other error, also for an unforeseen one: such an error then stops only its own item.
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
    """Attempts ``items`` together, halves them after a failure, and returns the items that fail alone.

    Guarantees that every other item was part of exactly one successful attempt. The attempts follow the order of
    ``items``. ``attempt`` must undo its work before it raises, for instance with a savepoint. One culprit among n items
    costs about 2·log2(n) attempts. Raises the error of ``attempt`` when ``blames(error)`` is False. Attempts that
    succeeded before the error stay done.
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
