"""What an error of the database means for the request that met it."""

from __future__ import annotations

import logging

import psycopg

from events.http.problem import ProblemError
from events.platform.failures import in_a_line, is_away
from events.platform.isolation import is_the_datas_fault

logger = logging.getLogger(__name__)


def is_gone(error: BaseException) -> bool:
    """Whether the server is away, or did not answer in time: another server may answer the same question now."""
    return isinstance(error, TimeoutError) or is_away(error)


def problem_of(error: BaseException, title: str) -> ProblemError:
    """503 and ``title`` where the same request may succeed later: the server is away, or has no tables yet. 422 where
    these very data are to blame (SQLSTATE 22xxx, 54xxx), so that nobody sends them for ever. 500 for anything else."""
    said = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    reason = in_a_line(said or str(error)) or type(error).__name__
    if is_gone(error) or isinstance(error, psycopg.errors.UndefinedTable):
        return ProblemError(503, title, reason)
    if isinstance(error, psycopg.Error) and is_the_datas_fault(error):
        logger.warning("the database refuses the data of one request (%s): %s", error.sqlstate, reason)
        return ProblemError(
            422,
            "Refused by the database",
            f"the database cannot work on these data: {reason}; send others, or less",
        )
    logger.error("the database cannot do what one request wants: %s", reason, exc_info=error)
    return ProblemError(500, "Internal error", "something went wrong here; the service's log says what")
