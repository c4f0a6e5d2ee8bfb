"""Turns errors of the database into problem documents."""

import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

import psycopg
from psycopg_pool import PoolTimeout

from events.http.errors import ProblemError
from events.platform.failures import in_a_line, is_away, retry_on_lost_connection
from events.platform.isolation import is_the_datas_fault

logger = logging.getLogger(__name__)

_OTHER_TABLES = (
    psycopg.errors.UndefinedTable,
    psycopg.errors.UndefinedColumn,
    psycopg.errors.UndefinedFunction,  # an operator for the type of another column
)

_P = ParamSpec("_P")
_T = TypeVar("_T")


def is_gone(error: BaseException) -> bool:
    """True when the server is away or did not answer in time. Another server may answer the same question now."""
    return isinstance(error, TimeoutError) or is_away(error)


def problem_of(error: BaseException, title: str) -> ProblemError:
    """Returns the problem document for an error of the database.

    503 with ``title``: the server is away, has no tables yet or has those of another version, so the same request may
    succeed later. A wrong statement of Cardlog looks like tables of another version, and the log shows the statement.
    422: the data of the request are at fault (SQLSTATE 22xxx, 54xxx), so the client should not send them
    again. 500: anything else.
    """
    message = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    reason = in_a_line(message or str(error)) or type(error).__name__
    if isinstance(error, PoolTimeout):
        reason = f"PostgreSQL is busy or does not answer: {reason}"
    if isinstance(error, _OTHER_TABLES):
        reason = (
            f"tables are missing or of another version of Cardlog ({reason}); see that the workers run, and run the "
            "rebuild that cardlog doctor names (cardlog rebuild PROJECTION); if cardlog doctor names none, Cardlog is "
            "at fault, and the log of the service shows the statement"
        )
        # Every request may miss a table before the first fold. The name of the table is enough then.
        place = None if isinstance(error, psycopg.errors.UndefinedTable) else error
        logger.error("a statement of one request does not fit the tables: %s", reason, exc_info=place)
    if is_gone(error) or isinstance(error, _OTHER_TABLES):
        return ProblemError(503, title, reason)
    if isinstance(error, psycopg.Error) and is_the_datas_fault(error):
        # A stored value, or a statement of Cardlog, may be at fault, too. The trace shows the statement.
        logger.warning(
            "the database refuses the data of one request (%s): %s", error.sqlstate, reason, exc_info=error
        )
        return ProblemError(
            422,
            "Refused by the database",
            f"the database refuses these data: {reason}; send other data, or less",
        )
    logger.error("a statement of one request failed: %s", reason, exc_info=error)
    return ProblemError(500, "Internal error", "something went wrong here; the service's log says what")


@contextmanager
def or_problem(title: str) -> Iterator[None]:
    """Raises the problem document with ``title`` for an error of the database in its block."""
    try:
        yield
    except (psycopg.Error, TimeoutError) as error:
        raise problem_of(error, title) from error


class Reading:
    """Awaits reads of the database for one kind of resource. Raises the problem document with ``title``."""

    def __init__(self, title: str) -> None:
        self._title = title

    async def __call__(self, ask: Callable[_P, Awaitable[_T]], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        with or_problem(self._title):
            return await retry_on_lost_connection(ask, *args, **kwargs)
