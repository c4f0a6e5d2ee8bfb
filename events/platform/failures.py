"""What a failure means: the server is away, or these very data cannot be taken; and how to say it in a line."""

from __future__ import annotations

import psycopg

_AWAY_CLASSES = ("08", "53", "57P", "40")
_AWAY_STATES = frozenset(
    (
        "25006",  # read-only transaction: the server has just become a standby
        "25P03",  # idle in transaction for too long: a stopped process woke up
        "55P03",  # a lock was not to be had in time
        "57014",  # cancelled: by an operator, or by a time limit
        "58000", "58030",  # the server's own files cannot be read or written
    )
)  # fmt: skip


_LONGEST = 500
_UNWRITABLE = {0: "\ufffd"} | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def in_a_line(text: str, longest: int = _LONGEST) -> str:
    """``text`` as one line of at most ``longest`` characters that any table takes: what was wrong with the data
    (NUL, lone surrogates) often stands in the error that tells of it."""
    return " ".join(text[: 4 * longest].translate(_UNWRITABLE).split())[:longest]


def is_away(error: BaseException) -> bool:
    """Whether the same statement may succeed later, unchanged: nobody's data are to blame.

    True for a lost connection, a shutdown, exhausted resources and a lost race (SQLSTATE classes 08, 57P, 53
    and 40), and for a connection that is closed. False for everything else, also for ``54000``
    (``program_limit_exceeded``), which psycopg files under operational errors: a value that is too large for an
    index is data, and stays too large.
    """
    if not isinstance(error, psycopg.Error):
        return False
    state = error.sqlstate
    if state is None:
        # The driver itself noticed: a dead socket, a closed connection, a time limit of a pool.
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return state.startswith(_AWAY_CLASSES) or state in _AWAY_STATES
